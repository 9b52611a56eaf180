/** A long listing whose reader does much work for each entry: other work runs in between. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { RemotePath } from '../../../src/remotes/path.js';
import { startProftpd, startVsftpd } from '../../servers/ftp.js';
import { connectionOf, openSeam, entriesOf } from '../../support/seam.js';

const FILES = 5_000;
/** Milliseconds for one entry. */
const WORK_MS = 0.1;

for (const start of [startVsftpd, startProftpd]) {
  test(`${start.name}: the event loop turns every few entries`, async (t) => {
    const server = await start();
    t.after(() => server.stop());
    const { port, username, password, folder } = server;
    mkdirSync(`${folder}/many`);
    for (let number = 0; number < FILES; number++) writeFileSync(`${folder}/many/file-${number}.txt`, '');
    const client = openSeam(connectionOf({ type: 'ftp', host: '127.0.0.1', port, username, password, tls: 'none' }));
    t.after(() => client.close());
    let isOver = false;
    let sinceTurn = 0;
    let most = 0;
    const turned = (): void => {
      sinceTurn = 0;
      if (!isOver) setImmediate(turned);
    };
    turned();
    let entries = 0;
    await client.use(async (remote) => {
      for await (const { name } of entriesOf(remote.list('/many' as RemotePath))) {
        for (const until = performance.now() + WORK_MS; performance.now() < until;);
        assert.match(name, /^file-/);
        entries += 1;
        most = Math.max(most, ++sinceTurn);
      }
    });
    isOver = true;
    assert.equal(entries, FILES);
    t.diagnostic(`${most} entries in one turn`);
    // The entries of 10 ms, and those that were passed on together.
    assert.ok(most <= 250, `${most} entries in one turn`);
  });
}
