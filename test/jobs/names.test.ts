/** Names that the destination treats as equal, or may: none overwrites another. */
import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { NamesOfFolder, type Folding } from '../../src/jobs/name-clashes.js';
import { SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startProftpd, type FtpServer } from '../servers/ftp.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { heldByBuffers } from '../support/memory.js';
import { filesOf, run } from './support.js';
import { startTogether } from '../support/together.js';

describe('a destination that ignores case', () => {
  let source: TestServer;
  let target: FtpServer;
  let gateway: TestAccount;

  before(async () => {
    [source, target] = await startTogether([
      (SFTP_SERVERS[1] ?? assert.fail()).start(),
      startProftpd({ ignoresCase: true }),
    ]);
    const { port, username, password } = target;
    const ftp = { type: 'ftp', host: '127.0.0.1', port, username, password, tls: 'none' };
    gateway = await openAccount({
      connections: [
        { id: 'from', name: 'From', ...source.connection },
        { id: 'to', name: 'To', ...ftp },
        // Its listings and its other requests take turns on its sessions.
        { id: 'narrow', name: 'Narrow', ...ftp, pool: { maxSessions: 2 } },
      ],
    });
    for (const name of ['A.txt', 'a.txt', 'B.txt', 'Dir/x', 'dir/x', 'dir/y', 'ä', 'Ä']) {
      await source.disk.write(`/tree/${name}`, name);
    }
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all([source?.stop(), target?.stop()]);
  });

  const at = (path: string): string => `${target.folder}/${path}`;
  const failed = async (id: string): Promise<string[]> =>
    (await filesOf(gateway.api, id, 'failed')).map(({ path, error }) => {
      assert.match(error ?? '', /differ only in case/);
      return path.toLowerCase();
    });

  for (const type of ['copy', 'sync', 'move'] as const) {
    test(`a ${type}: the second of two names fails, and the first is kept`, async () => {
      const from = `/for-${type}`;
      for (const name of ['A.txt', 'a.txt', 'B.txt', 'Dir/x', 'dir/x', 'dir/y']) {
        await source.disk.write(`${from}/${name}`, name);
      }
      const job = await run(gateway.api, {
        type,
        source: { connectionId: 'from', path: from },
        destination: { connectionId: 'to', path: from },
      });
      assert.equal(job.state, 'partly_failed', JSON.stringify(job));
      assert.deepEqual((await failed(job.id)).sort(), ['a.txt', 'dir']);
      const files = await readdir(at(from));
      assert.equal(files.length, 3, files.join(' '));
      for (const file of ['A.txt', 'a.txt'].filter((name) => files.includes(name))) {
        assert.equal(await readFile(at(`${from}/${file}`), 'utf8'), file);
      }
      if (type !== 'move') return;
      const left = await source.disk.files(from);
      assert.equal(left.filter((name) => /a\.txt$/i.test(name)).length, 1, 'what failed stays');
    });
  }

  test('within one connection of few sessions', async () => {
    await mkdir(at('own'), { recursive: true });
    for (const name of ['A.txt', 'a.txt', 'b.txt']) await writeFile(at(`own/${name}`), name);
    const job = await run(gateway.api, {
      type: 'copy',
      source: { connectionId: 'narrow', path: '/own' },
      destination: { connectionId: 'narrow', path: '/own-copy' },
    });
    assert.deepEqual(await failed(job.id), ['a.txt'], JSON.stringify(job));
    assert.equal((await readdir(at('own-copy'))).length, 2);
  });

  test('an entry that only seems extra, because its spelling differs, is not deleted', async () => {
    await source.disk.write('/renamed/report.txt', 'new');
    await mkdir(at('renamed'), { recursive: true });
    await chmod(at('renamed'), 0o777);
    await writeFile(at('renamed/REPORT.txt'), 'old', { mode: 0o666 });
    await writeFile(at('renamed/other.txt'), 'goes');
    const job = await run(gateway.api, {
      type: 'sync',
      deleteExtra: true,
      source: { connectionId: 'from', path: '/renamed' },
      destination: { connectionId: 'to', path: '/renamed' },
    });
    assert.equal(job.state, 'succeeded', JSON.stringify([job, await filesOf(gateway.api, job.id)]));
    assert.equal(job.counts.deleted, 1);
    const [file, ...others] = await readdir(at('renamed'));
    assert.deepEqual(others, []);
    assert.equal(await readFile(at(`renamed/${file}`), 'utf8'), 'new');
  });

  test('if case counts, all of them are copied', async () => {
    const job = await run(gateway.api, {
      type: 'copy',
      source: { connectionId: 'from', path: '/tree' },
      destination: { connectionId: 'from', path: '/same' },
    });
    assert.equal(job.state, 'succeeded', JSON.stringify(job));
    assert.deepEqual(
      (await source.disk.files('/same')).map((name) => name.slice(6)),
      (await source.disk.files('/tree')).map((name) => name.slice(6)),
    );
  });
});

describe('names of a folder', () => {
  const clashesOf = async (
    folding: Partial<Folding>,
    names: readonly string[],
    askEarly?: number,
  ): Promise<string[]> => {
    const all = { ignoresCase: false, ignoresComposition: false, ...folding };
    const seen = new NamesOfFolder(() => Promise.resolve(all), askEarly);
    const clashes: string[] = [];
    for (const name of names) {
      seen.add(Buffer.from(name));
      if (seen.mustAsk) await seen.learn();
      if (seen.isClash) clashes.push(name);
    }
    return clashes;
  };
  const [composed, taken] = ['é', 'é'.normalize('NFD')];
  const names = ['a', 'A', composed, taken, 'É', 'straße', 'STRASSE', 'ΟΔΟΣ', 'οδος', 'b'];

  test('clash as the destination folds them', async () => {
    const byCase = ['A', 'É', 'STRASSE', 'οδος'];
    assert.deepEqual(await clashesOf({}, names), []);
    assert.deepEqual(await clashesOf({ ignoresCase: true }, names), byCase);
    assert.deepEqual(await clashesOf({ ignoresComposition: true }, names), [taken]);
    const all = await clashesOf({ ignoresCase: true, ignoresComposition: true }, names);
    assert.deepEqual(all, ['A', taken, 'É', 'STRASSE', 'οδος']);
  });

  test('many of them cost little if the destination distinguishes them', async () => {
    const many = Array.from({ length: 1000 }, (_, number) => `name ${number}`);
    assert.deepEqual(await clashesOf({}, [...many, 'NAME 1'], 100), []);
    assert.deepEqual(await clashesOf({ ignoresCase: true }, [...many, 'NAME 1'], 100), ['NAME 1']);
  });

  test('a million names: a clash is found, and memory is bounded', async (t) => {
    const seen = new NamesOfFolder(() => Promise.resolve({ ignoresCase: true, ignoresComposition: true }));
    const before = heldByBuffers();
    for (let number = 0; number < 1_000_000; number++) {
      seen.add(Buffer.from(`File ${number}.csv`));
      if (seen.mustAsk) await seen.learn();
      assert.equal(seen.isClash, false);
    }
    const mebibytes = (heldByBuffers() - before) / 2 ** 20;
    t.diagnostic(JSON.stringify({ mebibytes }));
    assert.ok(mebibytes < 40, `${mebibytes} MiB`);
    seen.add(Buffer.from('FILE 500000.csv'));
    assert.equal(seen.isClash, true);
  });
});
