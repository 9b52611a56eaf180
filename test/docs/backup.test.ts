/**
 * A gateway is lost and restored with the commands of the page about backups: connections, keys and history are there,
 * transfers that ran are failed, and events without a successful delivery arrive.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { rm } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { findPrograms, startPostgres } from '../servers/postgres.js';
import { makeTempFolder, withSql } from '../storage/databases.js';
import { KEY, startGateway, type GatewayOptions, type TestGateway } from '../support/gateway.js';
import { startReceiver, type Receiver } from '../watch/support/receiver.js';
import { snippetsBelow } from './snippets.js';
import { eventually } from '../support/eventually.js';

const PAGE = 'docs/operate/backup.md';
const ADMIN_KEY = 'ftg_admin-key-of-the-backup-0123';
const MASTER_KEY = { GATEWAY_MASTER_KEY: 'ab'.repeat(32) };
const OTHER_KEY = { GATEWAY_MASTER_KEY: 'cd'.repeat(32) };
const CONFIG = {
  watcher: { settleMs: 100 },
  webhooks: { retryMs: Array.from({ length: 9 }, () => 3000) },
  network: { webhooks: { allow: ['127.0.0.1/32'] } },
};
const ACCOUNTS = [
  {
    email: 'ops@example.com',
    plan: 'pro',
    apiKeys: [
      { name: 'plain', key: KEY },
      { name: 'admin', key: ADMIN_KEY, scopes: ['admin'] },
    ],
  },
];

const run = promisify(execFile);
let server: TestServer;
let folder: string;

before(async () => {
  server = await SFTP_SERVERS[0]!.start();
  folder = await makeTempFolder();
});
after(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The page's commands below this heading; asserts their number. */
function commandsBelow(heading: string, count: number): string[] {
  const snippets = snippetsBelow(PAGE, heading);
  assert.equal(snippets.length, count);
  return snippets.map(({ code }) => code);
}

async function execute(code: string, env: Readonly<Record<string, string>>): Promise<void> {
  const PATH = `${await findPrograms()}:${process.env['PATH'] ?? ''}`;
  await run('bash', ['-euo', 'pipefail', '-c', code], { cwd: folder, env: { ...process.env, ...env, PATH } });
}

interface Busy {
  readonly gateway: TestGateway;
  /** Answers 503 until the test changes it. */
  readonly receiver: Receiver;
  /** The body of the running upload. */
  readonly body: PassThrough;
}

/**
 * A gateway with a connection in the database, a finished transfer, a running one, and an event that was not delivered.
 */
async function startBusy(options: GatewayOptions, base: string): Promise<Busy> {
  const receiver = await startReceiver();
  receiver.respond = (_, response) => response.writeHead(503).end();
  const gateway = await startGateway({ env: MASTER_KEY, ...options });
  const { api } = gateway;
  const connection = { id: 'vault', name: 'Vault', ...server.connection };
  const created = await api.post('/manage/connections', connection, { key: ADMIN_KEY });
  assert.equal(created.status, 201, created.text);
  const written = await api.post('/api/write/vault', { path: `${base}/in/kept.txt`, content: 'kept' });
  assert.equal(written.status, 200, written.text);

  const body = new PassThrough();
  const running = api.open(`/api/upload/vault?path=${base}&filename=running.bin`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream' },
    body,
  });
  running.catch(() => undefined);
  body.on('error', () => undefined).write('the first bytes');
  const folderInput = { connectionId: 'vault', path: `${base}/in`, webhookUrl: receiver.url, initial: 'report' };
  const watched = await api.post('/api/watched-folders', folderInput);
  assert.equal(watched.status, 201, watched.text);
  await eventually(() => receiver.received.length > 0, 'a try to deliver');
  await eventually(async () => (await statusOf(gateway, 'running.bin')) === 'pending', 'the upload is in the history');
  return { gateway, receiver, body };
}

async function statusOf({ api }: TestGateway, name: string): Promise<string | undefined> {
  const { json } = await api.get('/api/transfers?type=upload');
  return (json['transfers'] as { filename: string; status: string }[]).find(({ filename }) => filename === name)
    ?.status;
}

/** Another master key is refused with one line; with the right one everything is there. */
async function assertRestored(options: GatewayOptions, { receiver }: Busy, base: string): Promise<void> {
  await assert.rejects(startGateway({ ...options, env: OTHER_KEY }), ({ message }: Error) => {
    const reported = message.split('\n').filter((line) => !line.startsWith('{'));
    assert.deepEqual(reported.slice(0, 1), ['the gateway ended:']);
    assert.match(reported.slice(1).join('\n'), /^cannot start: the master key .* is not the one .*$/);
    return true;
  });
  receiver.respond = (_, response) => response.writeHead(204).end();
  const tries = receiver.received.length;
  const gateway = await startGateway({ ...options, env: MASTER_KEY });
  try {
    const { api } = gateway;
    assert.equal((await api.get('/api/me')).json['email'], 'ops@example.com');
    const { connections } = (await api.get('/manage/connections', { key: ADMIN_KEY })).json;
    assert.deepEqual(
      (connections as { id: string }[]).map(({ id }) => id),
      ['vault'],
    );
    const read = await api.get(`/api/read/vault?path=${base}/in/kept.txt`);
    assert.equal(read.json['content'], 'kept', read.text);
    const writes = (await api.get('/api/transfers?type=write')).json;
    assert.equal(writes['total'], 1);
    await eventually(async () => (await statusOf(gateway, 'running.bin')) === 'failed', 'what ran is failed');
    await eventually(() => receiver.received.length > tries, 'the event arrives');
    assert.equal(receiver.received[tries]?.body.data.files[0]?.name, 'kept.txt');
    assert.equal(receiver.received[tries]?.headers['webhook-id'], receiver.received[0]?.headers['webhook-id']);
    await eventually(
      async () => (await server.disk.files(base)).join() === `${base}/in/kept.txt`,
      'the hidden file of what ran is gone',
    );
  } finally {
    await gateway.stop();
  }
}

// The first one mostly waits until a node counts as dead.
suite('restored', { concurrency: true }, () => {
  test('a dump of a PostgreSQL server, taken while the gateway runs', async () => {
    const [dump = '', restore = ''] = commandsBelow('## On a PostgreSQL server', 2);
    const postgres = await startPostgres();
    const urlOf = (name: string): string => Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href;
    const env = { DATABASE_URL: urlOf('gateway'), RESTORED_URL: urlOf('gateway_restored') };
    let busy: Busy | undefined;
    try {
      await withSql(postgres.url, (sql) => sql.unsafe('create database gateway'));
      const config = { ...CONFIG, accounts: ACCOUNTS, database: { url: env.DATABASE_URL } };
      busy = await startBusy({ config }, '/server');
      await execute(dump, env);
      await busy.gateway.kill();
      await busy.gateway.stop();
      await execute(restore, env);
      // Nothing comes from the configuration.
      await assertRestored(
        { config: { ...CONFIG, accounts: [], database: { url: env.RESTORED_URL } } },
        busy,
        '/server',
      );
    } finally {
      await release(busy);
      await postgres.stop();
    }
  });

  test('a copy of the embedded database of a stopped gateway', async () => {
    const [copy = '', restore = ''] = commandsBelow('## The embedded database', 2);
    const env = { GATEWAY_DATA_DIR: path.join(folder, 'data'), RESTORED_DATA_DIR: path.join(folder, 'restored') };
    let busy: Busy | undefined;
    try {
      const config = { ...CONFIG, accounts: ACCOUNTS, server: { drainSeconds: 1 } };
      busy = await startBusy({ config, dataDir: env.GATEWAY_DATA_DIR }, '/embedded');
      assert.equal(await busy.gateway.stop(), 0);
      await execute(copy, env);
      await rm(env.GATEWAY_DATA_DIR, { recursive: true });
      await execute(restore, env);
      const restored = { config: { ...CONFIG, accounts: [] }, dataDir: env.RESTORED_DATA_DIR };
      await assertRestored(restored, busy, '/embedded');
    } finally {
      await release(busy);
    }
  });
});

async function release(busy: Busy | undefined): Promise<void> {
  if (busy === undefined) return;
  busy.body.destroy();
  await busy.gateway.stop();
  await busy.receiver.close();
}
