import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortRequest } from '../../src/base/short-request.js';
import { ended, startUpgrading } from '../servers/upgrading.js';

test('an answer that changes the protocol ends the request', async (t) => {
  const server = await startUpgrading(t);
  const limit = new AbortController().signal;
  const asked = shortRequest(server.url, { method: 'GET', headers: {}, maxAnswerBytes: 100, limit });
  await assert.rejects(ended(asked, server), /changes the protocol \(101\)/);
});
