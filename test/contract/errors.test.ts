/** The catalogue of errors is consistent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { advice } from '../../src/contract/advice.js';
import { advice as germanAdvice } from '../../src/contract/de/advice.js';
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

test('advice is plain sentences, in both languages', () => {
  for (const text of [...Object.values(advice), ...Object.values(germanAdvice)])
    assert.match(text, /^\p{Lu}[^`|]+\.$/u);
});

test('a remote or the gateway is at fault in every 5xx except a client that is too slow, and otherwise in two', () => {
  const odd = errorCodes(({ status, fault }) => status >= 500 === (fault === 'client'));
  assert.deepEqual(odd, ['permission_denied', 'outcome_unknown', 'too_slow']);
});

test('waiting helps while the gateway is busy, unless the operation was done; it does not help a wrong request', () => {
  for (const code of ERROR_CODES) {
    const { status, retry } = ERRORS[code];
    if (status === 400 || status === 401) assert.equal(retry, 'no', code);
    // The operation was done: a repeat would do it twice.
    if (status === 429 || status === 503)
      assert.equal(retry, code === 'outcome_unrecorded' ? 'no' : 'retry_after', code);
  }
});

test('errors that clients retry themselves may pass, or the client first asks for the offset', () => {
  assert.deepEqual(
    errorCodes(({ repeat, retry }) => repeat !== undefined && retry === 'no'),
    ['offset_mismatch'],
  );
});
