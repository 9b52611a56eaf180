/**
 * Results of operations become `connection.down` and `connection.up`: once for all nodes, and not for a short
 * interruption. A failure is an outage that is reported twice, or not, or that never ends.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError, type ErrorCode, type Step } from '../../../src/base/errors.js';
import type { Connection } from '../../../src/connections/connection.js';
import { ConnectionHealth } from '../../../src/connections/health/health.js';
import { isOfReaching } from '../../../src/remotes/reach.js';
import type { Storage } from '../../../src/storage/storage.js';
import { Sequencer } from '../../../src/events/sequencer.js';
import { DATABASES, openTest, type TestServer, until } from '../../storage/databases.js';
import { ACCOUNT, accountOf } from '../../storage/provisioned.js';

const DOWN_AFTER_MS = 300;
const log = (): void => undefined;
const refused = new GatewayError('unreachable', 'nobody there', { step: 'connect' });

interface Reported {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly connection: { readonly id: string; readonly name: string; readonly type: string };
    readonly since: string;
    readonly error?: string;
    readonly errorCode?: string;
    readonly downSeconds?: number;
  };
}

for (const kind of DATABASES) {
  describe(`health of connections, ${kind.name}`, { timeout: 900_000 }, () => {
    let server: TestServer;
    let nodes: Storage[];
    let health: ConnectionHealth[];
    let sequencer: Sequencer;
    let connection: Connection;

    before(async () => {
      server = await kind.start();
      const url = await server.createDatabase();
      const storage = await openTest(url);
      nodes = [storage, await openTest(url)];
      await storage.provision([ACCOUNT]);
      const { accountId } = await accountOf(storage);
      connection = (await storage.connections.find(accountId, 'warehouse')) as Connection;
      health = nodes.map(({ outages }) => new ConnectionHealth({ outages, log, downAfterMs: DOWN_AFTER_MS }));
      for (const one of health) one.start();
      sequencer = new Sequencer({ ...storage.events, retentionDays: 30, perAccount: 1_000, log });
      sequencer.start();
    });
    after(async () => {
      await Promise.all((health ?? []).map((one) => one.stop()));
      await sequencer?.stop();
      await Promise.all((nodes ?? []).map((storage) => storage.close()));
      await server?.stop();
    });

    const announced = async (): Promise<readonly Reported[]> => {
      const query = { after: 0, limit: 100, connections: undefined };
      const page = await nodes[0]?.events.feeds.read(connection.accountId, query);
      return (page?.events ?? []).map(({ body }) => JSON.parse(body) as Reported);
    };

    test('one outage, noticed by two nodes and ended by either', async () => {
      const [one, two] = health;
      assert.ok(one !== undefined && two !== undefined);
      one.failed(connection, refused);
      one.failed(connection, refused);
      one.reached(connection);
      one.failed(connection, refused);
      assert.deepEqual(await announced(), []);
      await until(async () => {
        one.failed(connection, refused);
        two.failed(connection, refused);
        return (await announced()).length > 0 ? true : undefined;
      }, 'the outage');
      for (let round = 0; round < 50; round += 1) {
        one.failed(connection, refused);
        two.failed(connection, refused);
        await delay(10);
      }
      const [down, ...others] = await announced();
      assert.deepEqual(others, []);
      assert.equal(down?.type, 'connection.down');
      const { since, ...data } = down.data;
      assert.deepEqual(data, {
        connection: { id: 'warehouse', name: 'Warehouse', type: 'sftp' },
        error: 'nobody there',
        errorCode: 'unreachable',
      });
      assert.ok(Date.parse(down.timestamp) - Date.parse(since) >= DOWN_AFTER_MS);
      // A node that did not notice it learns of it, and ends it.
      await until(async () => {
        two.reached(connection);
        one.reached(connection);
        return (await announced()).length > 1 ? true : undefined;
      }, 'the end');
      const all = await announced();
      assert.deepEqual(
        all.map(({ type }) => type),
        ['connection.down', 'connection.up'],
      );
      assert.equal(all[1]?.data.since, since);
      assert.ok((all[1]?.data.downSeconds ?? -1) >= 0);
      for (let round = 0; round < 10; round += 1) for (const each of health) each.reached(connection);
      await delay(100);
      assert.equal((await announced()).length, 2);
    });

    test('a connection that is deleted meanwhile is not reported', async () => {
      const ghost = { ...connection, id: 'never-was' };
      const [one] = health;
      one?.failed(ghost, refused);
      await delay(DOWN_AFTER_MS + 50);
      one?.failed(ghost, refused);
      await delay(300);
      assert.equal((await announced()).length, 2);
    });
  });
}

test('only errors of reaching the server and of logging in count', () => {
  const error = (code: ErrorCode, step?: Step): GatewayError =>
    new GatewayError(code, 'x', step === undefined ? {} : { step });
  for (const one of [
    error('dns_failed', 'resolve'),
    error('unreachable', 'connect'),
    error('unreachable', 'proxy'),
    error('connect_timeout', 'login'),
    error('certificate_rejected', 'connect'),
    error('host_key_mismatch', 'login'),
    error('login_refused', 'login'),
    // For S3, at any request.
    error('login_refused', 'open'),
    error('connection_lost', 'login'),
  ]) {
    assert.ok(isOfReaching(one), `${one.code} at ${one.step}`);
  }
  for (const one of [
    // A data connection of FTP, a URL, and all errors after the login.
    error('unreachable', 'open'),
    error('connect_timeout', 'fetch'),
    error('stall_timeout', 'transfer'),
    error('connection_lost', 'transfer'),
    error('not_found'),
    error('permission_denied', 'open'),
    error('too_many_sessions', 'login'),
    error('pool_full', 'acquire'),
    error('acquire_timeout', 'acquire'),
    error('address_denied', 'connect'),
    error('cancelled'),
  ]) {
    assert.ok(!isOfReaching(one), `${one.code} at ${one.step}`);
  }
});
