/** A gateway with two accounts and a sandbox on a database that the test can query, and a browser without a screen. */
import assert from 'node:assert/strict';
import { startGateway, type ApiAnswer, type Browser, type TestGateway } from '../../support/gateway.js';
import { DATABASES, withSql, type TestServer } from '../../storage/databases.js';

export { withSql };

export const PASSWORD = 'correct horse battery staple';
export const ADMIN_KEY = 'ftg_admin-key-0123456789-abcdefgh';
export const PLAIN_KEY = 'ftg_plain-key-0123456789-abcdefgh';

export interface ManagedGateway extends TestGateway {
  readonly databaseUrl: string;
  /** Logs in. */
  browser(email?: string): Promise<Browser>;
}

/** The accounts: `ops` has the sandbox; `other` has no access to it. */
export const ACCOUNTS = [
  {
    email: 'ops@example.com',
    plan: 'pro',
    password: PASSWORD,
    apiKeys: [
      { name: 'admin', key: ADMIN_KEY, scopes: ['admin'] },
      { name: 'plain', key: PLAIN_KEY },
    ],
  },
  { email: 'other@example.com', plan: 'pro', password: PASSWORD },
  { email: 'small@example.com', plan: 'free', password: PASSWORD },
  { email: 'locked@example.com', plan: 'pro', password: PASSWORD },
];

let server: TestServer | undefined;

export async function startDatabase(): Promise<TestServer> {
  const [embedded] = DATABASES;
  assert.ok(embedded !== undefined);
  server = await embedded.start();
  return server;
}

/** Uses a new database, which ends with it. */
export async function startManaged(config: Readonly<Record<string, unknown>> = {}): Promise<ManagedGateway> {
  const database = await startDatabase();
  const gateway = await startManagedOn(database.url, config);
  return {
    ...gateway,
    stop: async () => {
      const code = await gateway.stop();
      await database.stop();
      return code;
    },
  };
}

export async function startManagedOn(
  databaseUrl: string,
  config: Readonly<Record<string, unknown>> = {},
): Promise<ManagedGateway> {
  const gateway = await startGateway({
    config: { sandbox: true, accounts: ACCOUNTS, database: { url: databaseUrl }, ...config },
    env: { GATEWAY_MASTER_KEY: 'ab'.repeat(32) },
  });
  return {
    ...gateway,
    databaseUrl,
    browser: (email = 'ops@example.com') => gateway.login(email, PASSWORD),
  };
}

/** A field of an answer's body; asserts the status. */
export function field<T>(answer: ApiAnswer, name: string, status = 200): T {
  assert.equal(answer.status, status, answer.text);
  return answer.json[name] as T;
}

export function expectError(answer: ApiAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.headers['x-error-code']], [status, code], answer.text);
  assert.deepEqual(Object.keys(answer.json), ['error'], 'one shape of errors');
}
