import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rotateUnderLoad } from './support/rotation.js';

test('OpenSSH: key and password change nine times within a thousand requests, and none fails', async () => {
  assert.deepEqual(await rotateUnderLoad(1_000, 9), []);
});
