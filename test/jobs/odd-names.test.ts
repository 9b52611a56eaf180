/**
 * Entries that a job cannot process are each reported and counted, never ignored: names that no path can have, dead
 * links, paths that are too long.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { PROTOCOLS, startServers, type ProtocolName } from '../faults/rig.js';
import { startProftpd, type FtpServer } from '../servers/ftp.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { type JobView, ended, filesOf, run } from './support.js';

const ODD = 'tab\there.txt';

describe('entries that a job cannot process', () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let folding: FtpServer;
  let gateway: TestAccount;

  before(async () => {
    servers = await startServers();
    folding = await startProftpd({ ignoresCase: true });
    const { port, username, password } = folding;
    gateway = await openAccount({
      connections: [
        ...PROTOCOLS.map((id) => ({ id, name: id, ...servers[id].connection })),
        { id: 'folding', name: 'F', type: 'ftp', host: '127.0.0.1', port, username, password, tls: 'none' },
      ],
    });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all([...Object.values(servers ?? {}).map((server) => server.stop()), folding?.stop()]);
  });

  const order = (type: string, from: ProtocolName, to: string, path: string, more: object = {}): object => ({
    type,
    source: { connectionId: from, path },
    ...(type === 'delete' ? {} : { destination: { connectionId: to, path: `${path}-to` } }),
    ...more,
  });
  const next = (protocol: ProtocolName): ProtocolName => PROTOCOLS[(PROTOCOLS.indexOf(protocol) + 1) % 3] ?? 'sftp';
  const retry = async (id: string): Promise<JobView> => {
    const answer = await gateway.api.post(`/api/jobs/${id}/retry`, {});
    assert.equal(answer.status, 202, answer.text);
    return ended(gateway.api, (answer.json['job'] as JobView).id);
  };

  for (const protocol of PROTOCOLS) {
    for (const type of ['copy', 'sync', 'move', 'delete']) {
      test(`a name with a control character, in a ${type} on ${protocol}, and again`, async () => {
        const root = `/odd-${type}`;
        const { disk } = servers[protocol];
        for (const name of ['plain.txt', ODD, `sub/${ODD}`]) await disk.write(`${root}/${name}`, name);
        const job = await run(gateway.api, order(type, protocol, next(protocol), root));
        const files = await filesOf(gateway.api, job.id, 'failed');
        assert.deepEqual(
          [job.state, job.counts.found, job.counts.done + job.counts.deleted, job.counts.failed],
          ['partly_failed', 3, 1, 2],
          JSON.stringify([job, files]),
        );
        assert.deepEqual(files.map(({ path }) => path).sort(), [`sub/${ODD}`, ODD].sort());
        for (const { error } of files) assert.match(error ?? '', /control characters/);
        const again = await retry(job.id);
        assert.deepEqual([again.state, again.counts.found, again.counts.failed], ['failed', 2, 2]);
        const left = await disk.files(root);
        assert.equal(left.filter((file) => file.endsWith(ODD)).length, 2, 'they stay');
      });
    }
  }

  test('a filter that leaves them out is obeyed', async () => {
    await servers.sftp.disk.write(`/left-out/${ODD}`, 'x');
    await servers.sftp.disk.write('/left-out/a.csv', 'x');
    const job = await run(gateway.api, order('copy', 'sftp', 's3', '/left-out', { include: ['*.csv'] }));
    assert.deepEqual([job.state, job.counts.found], ['succeeded', 1], JSON.stringify(job));
  });

  test('keys of a store that are no path: a folder without a name', async () => {
    await servers.s3.disk.write('/no-path/a.txt', 'x');
    await servers.s3.disk.write('/no-path/in//b.txt', 'x');
    const job = await run(gateway.api, order('copy', 's3', 'sftp', '/no-path'));
    const files = await filesOf(gateway.api, job.id, 'failed');
    assert.deepEqual([job.state, job.counts.found, job.counts.failed], ['partly_failed', 2, 1], JSON.stringify(files));
    assert.deepEqual([files[0]?.action, files[0]?.path], ['list', 'in/']);
  });

  test('one that only the destination has cannot be deleted, and the others are', async () => {
    await servers.sftp.disk.write('/extra/a.txt', 'x');
    for (const name of ['goes.txt', ODD]) await servers.s3.disk.write(`/extra-to/${name}`, 'x');
    const job = await run(gateway.api, order('sync', 'sftp', 's3', '/extra', { deleteExtra: true }));
    const files = await filesOf(gateway.api, job.id, 'failed');
    assert.deepEqual(
      [job.state, job.counts.deleted, files.map(({ path, action }) => `${action} ${path}`)],
      ['partly_failed', 1, [`delete ${ODD}`]],
      JSON.stringify(job),
    );
  });

  for (const protocol of ['sftp', 'ftp'] as const) {
    test(`a link that leads nowhere, on ${protocol}`, async () => {
      const { disk } = servers[protocol];
      await disk.write('/dead/a.txt', 'x');
      await disk.link?.('gone.txt', '/dead/link.txt');
      for (const type of ['copy', 'sync']) {
        const job = await run(gateway.api, order(type, protocol, 's3', '/dead'));
        const files = await filesOf(gateway.api, job.id);
        assert.equal(job.counts.found, 2, JSON.stringify([job, files]));
        assert.ok(files.some(({ path, state, error }) => path === 'link.txt' && state !== 'done' && error !== null));
      }
    });
  }

  test('a path that is longer than a job can store', async () => {
    const names = Array.from({ length: 11 }, () => randomBytes(120).toString('hex'));
    const { disk } = servers.sftp;
    await disk.write(`/long/${names.slice(0, 5).join('/')}/kept.txt`, 'x');
    await disk.write(`/long/${names.slice(0, 10).join('/')}/${'f'.repeat(200)}.txt`, 'x');
    const job = await run(gateway.api, order('copy', 'sftp', 'sftp', '/long'));
    const files = await filesOf(gateway.api, job.id, 'failed');
    assert.deepEqual([job.state, job.counts.done, files.length], ['partly_failed', 1, 1], JSON.stringify([job, files]));
    assert.match(files[0]?.error ?? '', /more than 2500 bytes/);
  });

  test('the second of two names that the destination treats as equal fails again in a retry', async () => {
    for (const name of ['A.txt', 'a.txt', 'Dir/x', 'dir/y']) await servers.sftp.disk.write(`/clash/${name}`, name);
    const job = await run(gateway.api, order('copy', 'sftp', 'folding', '/clash'));
    const before = (await filesOf(gateway.api, job.id, 'failed')).map(({ path }) => path.toLowerCase()).sort();
    assert.deepEqual(before, ['a.txt', 'dir'], JSON.stringify(job));
    const list = async (): Promise<string> => {
      const query = { path: '/clash-to', recursive: 'true' };
      return JSON.stringify((await gateway.api.get('/api/list/folding', { query })).json['files']);
    };
    const standing = await list();
    const again = await retry(job.id);
    assert.deepEqual([again.state, again.counts.found, again.counts.failed], ['failed', 2, 2], JSON.stringify(again));
    assert.equal(await list(), standing, 'nothing is written over another one');
  });
});
