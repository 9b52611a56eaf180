/** The real parts between HTTP and the protocols: an SFTP server in this process, an embedded database, a sweeper. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection, SftpConnection } from '../../src/connections/connection.js';
import { defaultSettings } from '../../src/contract/connection/definition.js';
import { sftp } from '../../src/contract/connection/sftp.js';
import { createRemotes, type Remotes } from '../../src/remotes/registry.js';
import { startSandbox } from '../../src/sandbox/server.js';
import type { TransferType, TransferItem } from '../../src/contract/transfer.js';
import type { Storage } from '../../src/storage/storage.js';
import { Sweeper } from '../../src/operations/leftovers.js';
import { LiveTransfers } from '../../src/operations/live.js';
import { Operations, type OperationOutcome, type OperationRequest } from '../../src/operations/operation.js';
import { LIMITS, testDeps } from '../remotes/support/harness.js';
import { DATABASES, openTest } from '../storage/databases.js';

export interface Rig {
  readonly storage: Storage;
  readonly remotes: Remotes;
  readonly operations: Operations;
  operationsOn(storage: ConstructorParameters<typeof Operations>[0]['storage']): Operations;
  readonly sweeper: Sweeper;
  readonly outcomes: OperationOutcome[];
  /** The URL of the database, for another node. */
  readonly url: string;
  /** The files of the connection, on this machine's disk. */
  readonly folder: string;
  readonly connection: SftpConnection;
  request(type: TransferType, changes?: Partial<OperationRequest>): OperationRequest;
  newest(): Promise<TransferItem>;
  stop(): Promise<void>;
}

const LOGIN = { username: 'tester', password: 'a password' };
const NEVER = new AbortController().signal;

export async function startRig(): Promise<Rig> {
  const home = mkdtempSync(join(tmpdir(), 'ftg-transfers-'));
  const folder = join(home, 'files');
  await mkdir(folder);
  const sandbox = await startSandbox({ folder, host: '127.0.0.1', port: 0, ...LOGIN, hostKeyFile: join(home, 'key') });
  const database = await DATABASES[0]!.start();
  const url = await database.createDatabase();
  const storage = await openTest(url);
  await storage.provision([
    {
      email: 'ops@example.com',
      plan: 'pro',
      apiKeys: [
        {
          name: 'ci',
          key: 'ftg_a-key-of-the-operator',
          scopes: ['read', 'write'],
          connections: [],
          allowedIps: [],
        },
      ],
      connections: [
        {
          ...defaultSettings(sftp),
          id: 'sandbox',
          name: 'Sandbox',
          type: 'sftp',
          isActive: true,
          defaultPath: '/',
          host: '127.0.0.1',
          port: sandbox.port,
          ...LOGIN,
        },
      ],
    },
  ]);
  const caller = await storage.keys.findKey('ftg_a-key-of-the-operator');
  assert.ok(caller);
  const connection = (await storage.connections.find(caller.accountId, 'sandbox')) as Connection;
  assert.ok(connection.type === 'sftp');
  const remotes = createRemotes({ ...testDeps(), limits: { default: LIMITS, hosts: {} } });
  const sweeper = new Sweeper({
    store: storage.leftovers,
    connections: storage.connections,
    remotes,
    log: () => undefined,
  });
  const outcomes: OperationOutcome[] = [];
  const operationsOn: Rig['operationsOn'] = (on) =>
    new Operations({
      live: new LiveTransfers(),
      storage: on,
      remotes,
      leftovers: (of) => sweeper.for(of),
      plans: { pro: { connections: 0, monthlyActions: 0 }, small: { connections: 1, monthlyActions: 2 } },
      onOutcome: (outcome) => outcomes.push(outcome),
    });
  const operations = operationsOn(storage);
  return {
    storage,
    remotes,
    operations,
    operationsOn,
    sweeper,
    outcomes,
    url,
    folder,
    connection,
    request: (type, changes = {}) => ({
      caller,
      connection,
      type,
      path: '/asked',
      filename: 'asked',
      requestId: 'r1',
      signal: NEVER,
      ...changes,
    }),
    newest: async () => {
      const { transfers } = await storage.history.list(caller.accountId, { limit: 1, offset: 0 });
      assert.ok(transfers[0]);
      return transfers[0];
    },
    stop: async () => {
      await sweeper.stop();
      remotes.close();
      await storage.close();
      await database.stop();
      await sandbox.close();
      rmSync(home, { recursive: true });
    },
  };
}
