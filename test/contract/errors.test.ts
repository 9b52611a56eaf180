/** The catalogue of errors agrees with itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errors as german } from '../../src/contract/de/errors.js';
import { CLIENT_ERRORS, ERROR_CODES, errorCodes, ERRORS } from '../../src/contract/errors.js';

test('texts are plain sentences, in both languages', () => {
  const texts = [...Object.values(ERRORS), ...Object.values(CLIENT_ERRORS), ...Object.values(german)];
  for (const { meaning, remedy } of texts) {
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
