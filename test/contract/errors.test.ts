/** The catalogue of errors agrees with itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errors as german } from '../../src/contract/de/errors.js';
import type { FtgErrorCode } from '../../src/client/index.js';
import { ERROR_CODES, type ErrorCode, errorCodes, ERRORS, textsOfError } from '../../src/contract/errors.js';

const OF_CLIENTS: Readonly<Record<Exclude<FtgErrorCode, ErrorCode>, true>> = {
  network_error: true,
  invalid_answer: true,
  invalid_body: true,
  file_changed: true,
};

test('texts are plain sentences, in both languages', () => {
  const english = [...ERROR_CODES, ...Object.keys(OF_CLIENTS)].map((code) => textsOfError(code) ?? assert.fail(code));
  for (const { meaning, remedy } of [...english, ...Object.values(german)]) {
    for (const text of [meaning, remedy]) assert.match(text, /^\p{Lu}[^`|]+\.$/u);
    assert.ok(meaning.length > 15, meaning);
  }
});

test('a remote or the gateway is at fault in every 5xx but for a client that is too slow, and else in two', () => {
  const odd = errorCodes(({ status, fault }) => status >= 500 === (fault === 'client'));
  assert.deepEqual(odd, ['permission_denied', 'outcome_unknown', 'too_slow']);
});

test('waiting helps against what is busy, unless it was done; against what is wrong with a request it does not', () => {
  for (const code of ERROR_CODES) {
    const { status, retry } = ERRORS[code];
    if (status === 400 || status === 401) assert.equal(retry, 'no', code);
    // It was done: to repeat it would do it twice.
    if (status === 429 || status === 503)
      assert.equal(retry, code === 'outcome_unrecorded' ? 'no' : 'retry_after', code);
  }
});

test('what clients repeat by themselves may pass, or asks first where to go on', () => {
  assert.deepEqual(
    errorCodes(({ repeat, retry }) => repeat !== undefined && retry === 'no'),
    ['offset_mismatch'],
  );
});
