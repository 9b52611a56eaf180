/** Answers to a resumable upload that are not the gateway's, as those of a proxy or a login page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendByTus, type TusLine } from '../../src/client/tus.js';

const notOurs = (): Error => new Error('not ours');
const AT = { location: '/uploads/1', 'upload-offset': '0' };

function upload(answers: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<unknown> {
  let sent = 0;
  const line: TusLine<string> = {
    send: async ({ method }) => {
      assert.ok(++sent < 10, 'it is sent without an end');
      return (name) => answers[method]?.[name.toLowerCase()] ?? null;
    },
    notOurs,
    delayAfter: () => undefined,
  };
  return sendByTus(line, {
    path: '/uploads',
    size: 1,
    metadata: {},
    url: undefined,
    onUrl: undefined,
    piece: () => ({ body: 'x', size: 1 }),
    onBytes: () => undefined,
    signal: undefined,
  });
}

test('a success without the fields of an upload is an error, at each request', async () => {
  await assert.rejects(upload({ POST: {} }), /not ours/);
  await assert.rejects(upload({ POST: { 'upload-offset': '0' } }), /not ours/);
  await assert.rejects(upload({ POST: AT, PATCH: {} }), /not ours/);
  await upload({ POST: AT, PATCH: { 'upload-offset': '1', 'x-transfer-id': '1' } });
});
