/** A gateway with two accounts and a sandbox on a database that the test can reach, and a browser without a screen. */
import assert from 'node:assert/strict';
import { ApiClient, startGateway, type ApiAnswer, type ApiRequest, type TestGateway } from '../../support/gateway.js';
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

/** Accounts of these tests: `ops` has the sandbox; `other` knows nothing of it. */
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

/** On a database of its own, which ends with it. */
export async function startManaged(config: Readonly<Record<string, unknown>> = {}): Promise<ManagedGateway> {
  const database = await startDatabase();
  const gateway = await startManagedOn(await database.createDatabase(), config);
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
  const browsers: Browser[] = [];
  const gateway = await startGateway({
    config: { sandbox: true, accounts: ACCOUNTS, database: { url: databaseUrl }, ...config },
    env: { GATEWAY_MASTER_KEY: 'ab'.repeat(32) },
  });
  return {
    ...gateway,
    databaseUrl,
    browser: async (email = 'ops@example.com') => {
      const browser = new Browser(gateway.port);
      browsers.push(browser);
      await browser.login(email);
      return browser;
    },
    stop: () => {
      for (const browser of browsers) browser.close();
      return gateway.stop();
    },
  };
}

/** Keeps the cookie and sends the CSRF token, as the dashboard does. */
export class Browser {
  cookie = '';
  csrfToken = '';
  /** Everything it was ever sent. */
  readonly seen: string[] = [];
  private readonly client: ApiClient;

  constructor(port: number) {
    this.client = new ApiClient(port, '');
  }

  async login(email: string, password = PASSWORD, code?: string): Promise<ApiAnswer> {
    const answer = await this.send('/manage/login', { method: 'POST', json: { email, password, code } });
    if (answer.status === 200) this.csrfToken = String(answer.json['csrfToken']);
    return answer;
  }

  get(target: string, request: ApiRequest = {}): Promise<ApiAnswer> {
    return this.send(target, request);
  }

  post(target: string, json?: unknown): Promise<ApiAnswer> {
    return this.send(target, { method: 'POST', json });
  }

  patch(target: string, json: unknown): Promise<ApiAnswer> {
    return this.send(target, { method: 'PATCH', json });
  }

  delete(target: string): Promise<ApiAnswer> {
    return this.send(target, { method: 'DELETE' });
  }

  async send(target: string, request: ApiRequest = {}): Promise<ApiAnswer> {
    const answer = await this.client.send(target, { ...request, headers: this.headers(request) });
    this.seen.push(answer.text);
    const [cookie] = answer.headers['set-cookie'] ?? [];
    if (cookie !== undefined) this.cookie = cookie.split(';')[0] ?? '';
    return answer;
  }

  /** An answer whose body is still to come. */
  open(target: string, request: ApiRequest = {}) {
    return this.client.open(target, { ...request, headers: this.headers(request) });
  }

  close(): void {
    this.client.close();
  }

  private headers({ headers = {} }: ApiRequest): Record<string, string> {
    return {
      ...(this.cookie === '' ? {} : { Cookie: this.cookie }),
      ...(this.csrfToken === '' ? {} : { 'X-CSRF-Token': this.csrfToken }),
      ...headers,
    };
  }
}

/** The field of an answer's body, which must have the wanted status. */
export function field<T>(answer: ApiAnswer, name: string, status = 200): T {
  assert.equal(answer.status, status, answer.text);
  return answer.json[name] as T;
}

export function expectError(answer: ApiAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.headers['x-error-code']], [status, code], answer.text);
  assert.deepEqual(Object.keys(answer.json), ['error'], 'one shape of errors');
}
