/**
 * A database that accepts no further connection: open ones are kept, and a node without its connection for locks is not
 * ready.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { startScripted, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { withSql } from '../storage/databases.js';
import { startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { held } from '../support/reliability.js';
import { answerText } from './rig.js';

const APPENDS = 48;

describe('a database that accepts no further connection', () => {
  let server: ScriptedFtp;
  let postgres: PostgresServer;
  let gateway: TestGateway;
  before(async () => {
    [server, postgres] = await Promise.all([startScripted(), startPostgres()]);
    // Limits do not apply to the superuser that the cluster was made with.
    await withSql(postgres.url, async (sql) => {
      await sql.unsafe(`create role app login password 'test-password'`);
      await sql.unsafe('create database app owner app');
    });
    const url = new URL(postgres.url);
    [url.username, url.pathname] = ['app', '/app'];
    const { port, username, password } = server;
    gateway = await startGateway({
      connections: [{ id: 'c1', name: 'c1', type: 'ftp', host: '127.0.0.1', port, username, password }],
      config: { database: { url: url.href } },
    });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all([server?.stop(), postgres?.stop()]);
  });

  const limit = (connections: number): Promise<unknown> =>
    withSql(postgres.url, (sql) => sql.unsafe(`alter role app connection limit ${connections}`));
  const append = (name: string): Promise<ApiAnswer> =>
    gateway.api.post('/api/append/c1', { path: `/${name}`, content: '+' });
  const writeTo = (name: string): Promise<ApiAnswer> =>
    gateway.api.post('/api/write/c1', { path: `/${name}`, content: 'x' });

  test('the connection for locks was opened at the start: appends continue', async () => {
    // A write takes no lock, and opens the connections that it needs from the pool.
    const writes = await Promise.all(Array.from({ length: APPENDS }, (_, index) => writeTo(`file-${index}`)));
    for (const answer of writes) assert.equal(answer.status, 200, answerText(answer));
    await limit(0);
    const answers = await Promise.all(Array.from({ length: APPENDS }, (_, index) => append(`file-${index}`)));
    for (const answer of answers) assert.equal(answer.status, 200, answerText(answer));
    assert.equal((await gateway.api.get('/readyz')).status, 200);
    held({
      area: 'Faults',
      what: 'the database lets in no further connection',
      done: 'the connection limit of its role is used up, then appends, each of which takes a lock',
      held: 'all are done: the connection for locks is open from the start on, and kept',
      tries: APPENDS,
    });
  });

  test('that connection is lost: not ready and the reason in the log, until it can be opened again', async () => {
    assert.equal((await append('file-0')).status, 200);
    await withSql(
      postgres.url,
      (sql) => sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where usename = 'app' and (query like '%pg_advisory_unlock(%' or query like '%pg_try_advisory_lock(%')`,
    );
    await eventually(async () => (await gateway.api.get('/readyz')).status === 503, 'it is not ready');
    const { json, headers } = await gateway.api.get('/readyz');
    assert.equal(headers['x-error-code'], 'database_away');
    assert.match(String(json['error']), /no connection for locks: .*too many connections/);
    const refused = await append('file-0');
    assert.deepEqual([refused.status, refused.headers['x-error-code']], [503, 'database_away'], answerText(refused));
    assert.equal((await writeTo('file-0')).status, 200, 'what needs no lock goes on');
    // Tried again every second, and logged once a minute.
    let said: readonly string[] = [];
    await eventually(() => {
      const lines = gateway.output().split('\n');
      said = lines.filter((line) => line.includes('the database gives no connection for locks'));
      return said.length > 0;
    }, 'the line');
    assert.equal(said.length, 1, said.join('\n'));
    assert.match(said[0] ?? '', /too many connections/);
    await limit(-1);
    await eventually(async () => (await gateway.api.get('/readyz')).status === 200, 'it is ready again');
    assert.equal((await append('file-0')).status, 200);
    held({
      area: 'Faults',
      what: 'the connection for locks is lost while the database lets in no other',
      done: 'its backend is ended, with the connection limit of the role used up',
      held: 'GET /readyz is 503 and names the reason, one line a minute in the log, writes continue; ready again once it is let in',
      tries: 1,
    });
  });
});
