/**
 * A separate account on a running gateway, for files that need only the default configuration: a start costs more than
 * most of them. The isolation of accounts that the product promises isolates its tests.
 *
 *   const gateway = await openAccount({ connections: [{ id: 'c1', name: 'Files', ...server.connection }] });
 *   await gateway.api.get('/api/list/c1');
 *   await gateway.stop();
 *
 * The keys that a file names are replaced by the account's own: `keyOf` returns the real one, for programs that are
 * started with a key. Only one file at a time uses the gateway, so that any ids of connections are free; `stop` removes
 * what the file has made.
 */
import { randomBytes, scryptSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ApiClient, Browser, KEY, startGateway, type GatewayOptions, type TestGateway } from './gateway.js';
import { type Stoppable, useShared } from './shared.js';
import { type Row, withSql } from './sql.js';

interface Holder extends Pick<GatewayOptions, 'connections' | 'plan'> {
  /** `[]` = none at all; absent = KEY. */
  readonly apiKeys?: readonly object[];
  readonly email?: string;
  /** Its owner can log in with it. */
  readonly password?: string;
  /** As in the configuration. */
  readonly digests?: 'always';
}

export interface AccountOptions extends Holder {
  /** The account has a connection `sandbox`, like one that the configuration's `sandbox: true` makes. */
  readonly sandbox?: boolean;
  /** A second account on the same gateway. */
  readonly other?: Holder;
  /** On a gateway that repeats webhooks at once, and treats a watched file as complete at once. */
  readonly isPrompt?: boolean;
}

export interface TestAccount extends Pick<TestGateway, 'url' | 'port' | 'api' | 'client' | 'visitor' | 'login'> {
  /** The files of the connection `sandbox`, on this disk. */
  readonly sandboxFolder: string;
  keyOf(key: string): string;
  stop(): Promise<void>;
}

/** The accounts of one gateway: two for each file that it serves, one file after the other, never reused. */
const ACCOUNTS = 120;
/** The scopes of a key for which a configuration names none. */
const USUAL_SCOPES = ['read', 'write', 'exec', 'watch'];
const LOCAL = { allow: ['127.0.0.0/8'] };
/** The gateway outlives its clients, so only a resting connection can be reset. */
const CALM = { repeatsReset: true };

interface Lent extends Stoppable {
  readonly url: string;
  readonly port: number;
  readonly databaseUrl: string;
  /** The number of the file's account; its second one has the next number. */
  readonly account: number;
}

/** Started by the runner, one for each file that runs concurrently. */
export async function startShareable(isPrompt = false): Promise<Lent> {
  // The database of storage/databases.js loads much code, which a file of a run does not need.
  const { DATABASES } = await import('../storage/databases.js');
  const database = await DATABASES[0]!.start();
  const numbers = Array.from({ length: ACCOUNTS }, (_, number) => number);
  const gateway = await startGateway({
    env: { GATEWAY_MASTER_KEY: 'ab'.repeat(32) },
    config: {
      database: { url: database.url },
      network: { urlFetch: LOCAL, webhooks: LOCAL },
      ...(isPrompt ? { webhooks: { retryMs: [50] }, watcher: { settleMs: 0 } } : {}),
      accounts: numbers.map((number) => ({
        email: emailOf(number),
        plan: 'pro',
        apiKeys: [
          { name: 'test', key: usualKey(number) },
          { name: 'account', key: ownersKey(number), scopes: ['read', 'write', 'watch', 'admin'] },
        ],
      })),
    },
  });
  const kill = (): void => void gateway.process.kill();
  process.once('exit', kill);
  let lent = 0;
  return {
    url: gateway.url,
    port: gateway.port,
    databaseUrl: database.url,
    // Read once for each announced file.
    get account() {
      return 2 * lent++;
    },
    stop: async () => {
      await gateway.stop();
      process.off('exit', kill);
      await database.stop();
    },
  };
}

export async function openAccount(options: AccountOptions = {}): Promise<TestAccount> {
  const { sandbox = false, other, isPrompt = false, ...own } = options;
  const gateway = await useShared<Lent>(isPrompt ? 'prompt gateway' : 'gateway', () => startShareable(isPrompt));
  const { url, port, account } = gateway;
  if (account >= ACCOUNTS) throw new Error(`more than ${ACCOUNTS / 2} files have had this gateway`);
  const keys = new Map([[KEY, usualKey(account)]]);
  const keyOf = (key: string): string => keys.get(key) ?? key;
  const clients: { close(): void }[] = [];
  const closing = <C extends { close(): void }>(one: C): C => {
    clients.push(one);
    return one;
  };
  const client = (key?: string): ApiClient => closing(new ApiClient(port, key, { keyOf, ...CALM }));
  const visitor = (): Browser => closing(new Browser(port, CALM));
  const owners: Owner[] = [];
  const releases: (() => Promise<void>)[] = [];
  const place = sandbox ? await startOwnSandbox() : undefined;
  const stop = async (): Promise<void> => {
    for (const each of clients) each.close();
    // If this fails, the gateway is not reused, and ends.
    for (const release of releases) await release();
    for (const owner of owners) await owner.leave();
    await place?.stop();
    await gateway.stop();
  };
  const enter = async (number: number, holder: Holder, further: readonly object[] = []): Promise<void> => {
    const configured = await ConfiguredAccount.open(gateway.databaseUrl, number, holder);
    const owner = new Owner(port, number);
    owners.push(owner);
    for (const each of [...(holder.connections ?? []), ...further]) await owner.connect(each);
    for (const { key, ...rights } of (holder.apiKeys ?? []) as readonly { readonly key: string }[]) {
      // The account already has one with the usual rights.
      if (key === KEY && !('scopes' in rights)) continue;
      keys.set(key, await owner.issue(rights));
    }
    if (configured === undefined) return;
    await configured.settle(holder.apiKeys?.length !== 0);
    releases.push(() => configured.release());
  };
  try {
    await enter(account, own, place === undefined ? [] : [place.connection]);
    if (other !== undefined) await enter(account + 1, other);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    port,
    api: client(),
    client,
    visitor,
    keyOf,
    stop,
    get sandboxFolder() {
      if (place === undefined) throw new Error('the account has no sandbox');
      return place.folder;
    },
    login: async (email, password) => {
      const browser = visitor();
      const { status, text } = await browser.login(email, password);
      if (status !== 200) throw new Error(`${email} cannot log in: ${status} ${text}`);
      return browser;
    },
  };
}

/** The owner of an account of the shared gateway, by the key from the configuration. */
class Owner {
  readonly #client: ApiClient;

  constructor(port: number, account: number) {
    this.#client = new ApiClient(port, ownersKey(account), CALM);
  }

  async connect(connection: object): Promise<void> {
    await this.#ask('POST', '/manage/connections', asInput(connection));
  }

  async issue(rights: object): Promise<string> {
    return String((await this.#ask('POST', '/manage/api-keys', { scopes: USUAL_SCOPES, ...rights }))['key']);
  }

  /** Nothing of the account continues. */
  async leave(): Promise<void> {
    const { connections } = await this.#ask('GET', '/manage/connections');
    for (const { id } of connections as readonly { readonly id: string }[]) {
      await this.#ask('DELETE', `/manage/connections/${id}?confirm=true`);
    }
    this.#client.close();
  }

  async #ask(method: string, path: string, json?: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#client.send(path, { method, ...(json === undefined ? {} : { json }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.text === '' ? {} : answer.json;
  }
}

/**
 * An account for tests of screens: it has settings of the configuration file, and no traces of its creation by a test.
 */
class ConfiguredAccount {
  readonly #url: string;
  readonly #id: string;
  #keys: readonly Row[] = [];

  private constructor(url: string, id: string) {
    this.#url = url;
    this.#id = id;
  }

  /** Before the gateway has read the account for any request. */
  static async open(url: string, number: number, holder: Holder): Promise<ConfiguredAccount | undefined> {
    const { email, password, plan, digests } = holder;
    if ([email, password, plan, digests].every((value) => value === undefined)) return undefined;
    const hash = password === undefined ? null : cheapHash(password);
    return withSql(url, async (sql) => {
      // From a former file.
      if (email !== undefined) {
        await sql`update accounts set email = id || '@example.com' where lower(email) = lower(${email})`;
      }
      const [row] = await sql<{ id: string }[]>`
        update accounts set email = ${email ?? emailOf(number)}, plan = coalesce(${plan ?? null}, plan),
          digests = coalesce(${digests ?? null}, digests), password_hash = ${hash}, configured_password_hash = ${hash}
        where email = ${emailOf(number)} returning id`;
      if (row === undefined) throw new Error(`there is no account ${number}`);
      return new ConfiguredAccount(url, row.id);
    });
  }

  /** Call once it has its connections and keys. */
  async settle(hasKeys: boolean): Promise<void> {
    await withSql(this.#url, async (sql) => {
      await sql`delete from audit_log where account_id = ${this.#id}`;
      await sql`update connections set configured = true, secrets_configured = id <> 'sandbox' where account_id = ${this.#id}`;
      if (!hasKeys) this.#keys = await sql`delete from api_keys where account_id = ${this.#id} returning *`;
    });
  }

  /** Its owner can remove what it has. */
  async release(): Promise<void> {
    await withSql(this.#url, async (sql) => {
      await sql`update connections set configured = false, secrets_configured = false where account_id = ${this.#id}`;
      if (this.#keys.length > 0) await sql`insert into api_keys ${sql(this.#keys)}`;
    });
  }
}

/** In the gateway's format, with the lowest cost that it accepts. */
function cheapHash(password: string): string {
  const salt = randomBytes(16);
  const hash = scryptSync(password.normalize('NFC'), salt, 32, { N: 2, r: 8, p: 1 });
  const text = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  return `$scrypt$ln=1,r=8,p=1$${text(salt)}$${text(hash)}`;
}

interface OwnSandbox extends Stoppable {
  readonly folder: string;
  readonly connection: object;
}

/** The gateway's has one owner; this one belongs to the file. */
async function startOwnSandbox(): Promise<OwnSandbox> {
  const { startSandbox } = await import('../../src/sandbox/server.js');
  const home = mkdtempSync(path.join(tmpdir(), 'ftg-sandbox-'));
  const folder = path.join(home, 'files');
  const login = { host: '127.0.0.1', username: 'sandbox', password: 'password-of-the-sandbox' };
  const server = await startSandbox({ ...login, folder, port: 0, hostKeyFile: path.join(home, 'host-key') });
  return {
    folder,
    connection: { id: 'sandbox', name: 'Sandbox', type: 'sftp', defaultPath: '/', ...login, port: server.port },
    stop: async () => {
      await server.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Paths of files are for the configuration; the API gets their content. */
function asInput(connection: object): object {
  const fields = Object.entries(connection).map(([key, value]: [string, unknown]) =>
    /^(privateKey|tlsCa)File$/.test(key)
      ? [key.replace(/File$/, ''), readFileSync(String(value), 'utf8')]
      : [key, value],
  );
  return Object.fromEntries(fields) as object;
}

function emailOf(account: number): string {
  return `file-${account}@example.com`;
}

function usualKey(account: number): string {
  return `ftg_usual-key-of-a-test-file-${String(account).padStart(4, '0')}`;
}

function ownersKey(account: number): string {
  return `ftg_owners-key-of-a-test-file-${String(account).padStart(4, '0')}`;
}
