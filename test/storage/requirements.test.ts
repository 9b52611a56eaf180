/** The requirements for a database, each named in one line at the start; and poolers in front of it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { StartupError } from '../../src/storage/storage.js';
import { startPgBouncer } from '../servers/pgbouncer.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { openTest, withSql } from './databases.js';
import { PATIENCE_MS } from '../support/eventually.js';

function refused(pattern: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof StartupError, String(error));
    assert.match(error.message, pattern);
    assert.ok(!error.message.includes('\n') && !error.message.includes('test-password'), error.message);
    return true;
  };
}

describe('the requirements for a database', () => {
  let server: PostgresServer;
  before(async () => (server = await startPostgres()));
  after(() => server?.stop());

  /** A database `name`, and the url of a user of this name that owns nothing there. */
  const databaseFor = async (name: string): Promise<{ readonly own: string; readonly guest: string }> => {
    await withSql(server.url, async (sql) => {
      await sql.unsafe(`create role ${name} login password 'test-password'`);
      await sql.unsafe(`create database ${name}`);
    });
    const own = new URL(server.url);
    own.pathname = `/${name}`;
    const guest = new URL(own);
    guest.username = name;
    return { own: own.href, guest: guest.href };
  };

  it('missing privileges are named, with the statement that grants them', async () => {
    const { own, guest } = await databaseFor('narrow');
    const run = (statement: string): Promise<unknown> => withSql(own, (sql) => sql.unsafe(statement));
    await run('revoke temporary on database narrow from public');
    await assert.rejects(openTest(guest), refused(/grant create, usage on schema public to narrow$/));
    await run('grant create, usage on schema public to narrow');
    await assert.rejects(openTest(guest), refused(/grant create, temporary on database narrow to narrow$/));
    await run('grant create on database narrow to narrow');
    await assert.rejects(openTest(guest), refused(/lacks temporary .*grant temporary on database narrow to narrow$/));
    await run('grant temporary on database narrow to narrow');
    const storage = await openTest(guest);
    await storage.ready();
    await storage.close();
    // Its schemas exist now.
    await run('revoke create on database narrow from narrow');
    await (await openTest(guest)).close();
  });

  it('an older PostgreSQL is refused', async () => {
    const { own, guest } = await databaseFor('older');
    await withSql(own, async (sql) => {
      await sql.unsafe(`create schema older authorization older;
        create function older.current_setting(text) returns text language sql as $$ select '140012' $$;
        alter role older set search_path = older, pg_catalog`);
    });
    await assert.rejects(openTest(guest), refused(/it is PostgreSQL 14; PostgreSQL 15 or newer is needed$/));
  });

  it('several hosts are refused, in both forms', async () => {
    for (const url of ['postgres://u:p@one,two/x', 'postgres://u:p@one:1,two:2/x', 'postgres://u:p@/x?host=one,two']) {
      await assert.rejects(openTest(url), refused(/^database\.url: several hosts; allowed: one/));
    }
  });

  it('PgBouncer with session pooling, by default: statements, transactions, locks and time limits work', async () => {
    const pooler = await startPgBouncer(server.url, { mode: 'session' });
    const storage = await openTest(pooler.url);
    await storage.ready();
    const order: string[] = [];
    const lock = (name: string): Promise<unknown> =>
      storage.locks.withLock('one at a time', AbortSignal.timeout(PATIENCE_MS), async () => {
        order.push(`${name} in`);
        await storage.history.count('00000000-0000-7000-8000-000000000000');
        order.push(`${name} out`);
      });
    const second = await openTest(pooler.url);
    await Promise.all([
      lock('a'),
      second.locks.withLock('one at a time', AbortSignal.timeout(PATIENCE_MS), async () => {
        order.push('b in');
        await second.ready();
        order.push('b out');
      }),
    ]);
    for (let index = 0; index < order.length; index += 2) {
      assert.equal(order[index]?.slice(0, 1), order[index + 1]?.slice(0, 1), order.join(', '));
    }
    await Promise.all([storage.close(), second.close()]);
    await pooler.stop();
  });

  for (const mode of ['transaction', 'statement'] as const) {
    for (const query of ['', '?prepare=false']) {
      it(`PgBouncer with ${mode} pooling${query} is refused`, async () => {
        const pooler = await startPgBouncer(server.url, { mode });
        await assert.rejects(openTest(pooler.url + query), refused(/gives each statement another session/));
        await pooler.stop();
      });
    }
  }
});
