/** How errors are converted that no part of the gateway expected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toGatewayError } from '../../src/base/errors.js';

test('without a free file descriptor the gateway is overloaded, wherever one was missing', () => {
  for (const code of ['EMFILE', 'ENFILE']) {
    const error = toGatewayError(Object.assign(new Error('open'), { code }));
    assert.deepEqual([error.code, error.retryAfterMs], ['overloaded', 1_000]);
    assert.match(error.message, /descriptors/);
  }
});

test('any other error is internal', () => {
  assert.equal(toGatewayError(Object.assign(new Error('open'), { code: 'ENOENT' })).code, 'internal');
});
