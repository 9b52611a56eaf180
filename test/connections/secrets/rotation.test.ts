import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rotateUnderLoad } from './support/rotation.js';

test('OpenSSH: key and password change three times under load, and no request fails', async () => {
  assert.deepEqual(await rotateUnderLoad(80, 3), []);
});
