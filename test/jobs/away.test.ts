/** The servers of a job go away during it, and return: errors that pass are tried again, and no file counts twice. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { overRemotes, startRemotes } from '../faults/rig.js';
import type { TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { begin, ended, history, look } from './support.js';

const FILES = 60;
const SIZE = 20_000;

describe('jobs whose servers go away', () => {
  let remotes: Awaited<ReturnType<typeof startRemotes>>;
  let gateway: TestGateway;

  before(async () => {
    remotes = await startRemotes();
    for (let number = 0; number < FILES; number++) {
      await remotes.sftp.server.disk.write(`/away/${number % 4}/${number}`, Buffer.alloc(SIZE, number));
    }
    gateway = await overRemotes(remotes);
  });
  after(async () => {
    await gateway?.stop();
    await remotes?.stop();
  });

  for (const [target, lost] of [
    ['ftp', 'sftp'],
    ['ftp', 'ftp'],
    ['s3', 's3'],
  ] as const) {
    test(`${lost} is away for a while during a copy to ${target}`, async () => {
      const root = `/from-${lost}`;
      const { proxy } = remotes[lost];
      proxy.after(lost === 'sftp' ? 'down' : 'up', (FILES * SIZE) / 3, (self) => {
        self.isDown = true;
        self.fail('reset');
      });
      const { id } = await begin(gateway.api, {
        type: 'copy',
        bytesPerSecond: (FILES * SIZE) / 3,
        source: { connectionId: 'sftp', path: '/away' },
        destination: { connectionId: target, path: root },
      });
      await eventually(() => proxy.isDown, 'a third of the bytes have passed');
      const before = (await look(gateway.api, id)).counts.done;
      await new Promise((over) => setTimeout(over, 1_500));
      proxy.isDown = false;
      const job = await ended(gateway.api, id);
      assert.ok(before < FILES, 'it was away on the way');
      assert.deepEqual([job.state, job.counts.done, job.counts.failed], ['succeeded', FILES, 0], JSON.stringify(job));
      assert.equal(job.counts.bytes, FILES * SIZE);
      const items = (await history(gateway.api, { type: 'copy' })).filter(({ path }) => path.startsWith(`${root}/`));
      assert.equal(items.length, FILES);
      assert.ok(items.every(({ status }) => status === 'success'));
    });
  }
});
