/** Jobs that cannot continue: each ends soon, with a code for programs, in the API, the commands and the history. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Terminal } from '../cli/support.js';
import { PROTOCOLS, startServers } from '../faults/rig.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY, type ApiClient } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { begin, ended, filesOf, history, type JobView, look, run } from './support.js';

const ADMIN = 'ftg_admin-key-0123456789-abcdefgh';
type Coded = JobView & { readonly errorCode: string | null };

describe('jobs that cannot continue', () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let gateway: TestAccount;
  let admin: ApiClient;
  let terminal: Terminal;

  before(async () => {
    servers = await startServers();
    const own = PROTOCOLS.map((id) => ({ id, name: id, ...servers[id].connection }));
    gateway = await openAccount({
      apiKeys: [
        { name: 'test', key: KEY },
        { name: 'admin', key: ADMIN, scopes: ['read', 'write', 'admin'] },
      ],
      connections: [...own, { id: 'wrong', name: 'wrong', ...servers.ftp.connection, username: 'nobody-here' }],
    });
    admin = gateway.client(ADMIN);
    terminal = new Terminal({ FTG_URL: gateway.url, FTG_KEY: gateway.keyOf(KEY) });
  });
  after(async () => {
    terminal?.close();
    await gateway?.stop();
    await Promise.all(Object.values(servers ?? {}).map((server) => server.stop()));
  });

  const order = (type: string, connectionId: string, path: string, to = 'sftp'): object => ({
    type,
    source: { connectionId, path },
    ...(type === 'delete' ? {} : { destination: { connectionId: to, path: '/nowhere' } }),
  });
  const failsOf = async (body: object): Promise<string | null> => {
    const job = (await run(gateway.api, body)) as Coded;
    assert.equal(job.state, 'failed', JSON.stringify(job));
    assert.ok(job.error !== null && job.error !== '', JSON.stringify(job));
    assert.deepEqual([job.counts.found, job.counts.done], [0, 0]);
    return job.errorCode;
  };

  for (const protocol of PROTOCOLS) {
    test(`a missing source, on ${protocol}`, async () => {
      for (const type of ['copy', 'move', 'sync', 'delete']) {
        assert.equal(await failsOf(order(type, protocol, '/not/there')), 'not_found', type);
      }
    });
  }

  test('a source without permission, and one below a file', async () => {
    const { chmod } = servers.ftp.disk;
    assert.ok(chmod !== undefined);
    await servers.ftp.disk.write('/closed/inner/a.txt', 'x');
    await chmod('/closed/inner', 0o000);
    try {
      assert.equal(await failsOf(order('copy', 'ftp', '/closed/inner')), 'permission_denied');
      const job = (await run(gateway.api, order('copy', 'ftp', '/closed'))) as Coded;
      const [file] = (await filesOf(gateway.api, job.id, 'failed')) as { readonly errorCode?: string }[];
      assert.deepEqual([job.state, job.errorCode, file?.errorCode], ['failed', null, 'permission_denied']);
    } finally {
      await chmod('/closed/inner', 0o755);
    }
  });

  test('a login that is refused, at either end', async () => {
    await servers.sftp.disk.write('/source/a.txt', 'x');
    assert.equal(await failsOf(order('copy', 'wrong', '/x')), 'login_refused');
    const job = (await run(gateway.api, order('copy', 'sftp', '/source', 'wrong'))) as Coded;
    assert.deepEqual([job.state, job.errorCode, job.counts.done], ['failed', 'login_refused', 0], JSON.stringify(job));
  });

  test('a destination that is switched off, or deleted, during the job', async () => {
    for (let number = 0; number < 20; number++) {
      await servers.sftp.disk.write(`/slow/${number}`, Buffer.alloc(100_000, number));
    }
    for (const [change, code] of [
      ['deactivate', 'connection_inactive'],
      ['delete', 'unknown_connection'],
    ] as const) {
      const id = `gone-${change}`;
      const made = await admin.post('/manage/connections', { id, name: id, ...servers.ftp.connection });
      assert.ok(made.status < 300, made.text);
      const job = await begin(gateway.api, { ...order('copy', 'sftp', '/slow', id), bytesPerSecond: 30_000 });
      await eventually(async () => (await look(gateway.api, job.id)).counts.done > 0, 'a file is done');
      const path = `/manage/connections/${id}`;
      const answer =
        change === 'delete'
          ? await admin.send(path, { method: 'DELETE', query: { confirm: 'true' } })
          : await admin.post(`${path}/deactivate`, {});
      assert.ok(answer.status < 300, answer.text);
      const last = (await ended(gateway.api, job.id)) as Coded;
      assert.deepEqual([last.state, last.errorCode], ['partly_failed', code], JSON.stringify(last));
      assert.ok(last.counts.done < 20, 'on the way');
    }
  });

  test('each file has its code, in the job and in the history', async () => {
    await servers.sftp.disk.write('/taken/a.txt', 'x');
    await servers.ftp.disk.write('/nowhere/a.txt', 'stays');
    const job = await run(gateway.api, { ...order('copy', 'sftp', '/taken', 'ftp'), onConflict: 'fail' });
    const [file] = (await filesOf(gateway.api, job.id)) as { readonly errorCode?: string }[];
    assert.equal(file?.errorCode, 'already_exists');
    const item = (await history(gateway.api, { status: 'failed' })).find(({ path }) => path === '/nowhere/a.txt');
    const { json } = await gateway.api.get(`/api/transfers/${item?.id}`);
    assert.equal((json['transfer'] as Record<string, unknown>)['errorCode'], 'already_exists');
  });

  test('ftg ends with the exit code of the error that ended the job', async () => {
    await terminal.fails(3, /does not exist|not there|no such/i, ['cp', '-r', 'sftp:/not/there', 'ftp:/x']);
    await terminal.fails(6, /530|login/i, ['sync', 'wrong:/x', 'sftp:/x']);
    const { stderr } = await terminal.fails(3, /./, ['--json', 'rm', '-r', 'sftp:/not/there']);
    assert.match(stderr, /"code":\s*"not_found"/);
  });
});
