/**
 * An account of its own on a gateway that runs already, for files that want nothing of the gateway but the default
 * configuration: a start costs more than most of them. The isolation of accounts that the product promises isolates its
 * tests.
 *
 *   const gateway = await openAccount({ connections: [{ id: 'c1', name: 'Files', ...server.connection }] });
 *   await gateway.api.get('/api/list/c1');
 *   await gateway.stop();
 *
 * The keys that a file names are sent as the account's own: `keyOf` says which, for programs that are started with one.
 * One file at a time has the gateway, so that ids of connections are free; what it made goes with `stop`.
 */
import { readFileSync } from 'node:fs';
import { ApiClient, KEY, startGateway, type GatewayOptions, type TestGateway } from './gateway.js';
import { type Stoppable, useShared } from './shared.js';

export type AccountOptions = Pick<GatewayOptions, 'connections' | 'apiKeys'>;

export interface TestAccount extends Pick<TestGateway, 'url' | 'port' | 'api' | 'client'> {
  keyOf(key: string): string;
  stop(): Promise<void>;
}

/** Files that one gateway serves, one after the other: each has an account that no other has used. */
const ACCOUNTS = 80;
/** The scopes of a key for which a configuration names none. */
const USUAL_SCOPES = ['read', 'write', 'exec', 'watch'];
const LOCAL = { allow: ['127.0.0.1/32'] };

interface Lent extends Stoppable {
  readonly url: string;
  readonly port: number;
  /** Which account is the file's. */
  readonly account: number;
}

/** What the runner starts, for as many files at a time as run side by side. */
export async function startShareable(): Promise<Lent> {
  const numbers = Array.from({ length: ACCOUNTS }, (_, number) => number);
  const gateway = await startGateway({
    config: {
      network: { urlFetch: LOCAL, webhooks: LOCAL },
      accounts: numbers.map((number) => ({
        email: `file-${number}@example.com`,
        plan: 'pro',
        apiKeys: [
          { name: 'test', key: usualKey(number) },
          { name: 'account', key: ownersKey(number), scopes: ['read', 'write', 'watch', 'admin'] },
        ],
      })),
    },
  });
  process.once('exit', () => gateway.process.kill());
  let lent = 0;
  return {
    url: gateway.url,
    port: gateway.port,
    // Each file that is announced asks for it.
    get account() {
      return lent++;
    },
    stop: async () => void (await gateway.stop()),
  };
}

export async function openAccount({ connections = [], apiKeys = [] }: AccountOptions = {}): Promise<TestAccount> {
  const gateway = await useShared<Lent>('gateway', startShareable);
  const { url, port, account } = gateway;
  if (account >= ACCOUNTS) throw new Error(`more than ${ACCOUNTS} files have had this gateway`);
  const keys = new Map([[KEY, usualKey(account)]]);
  const clients: { close(): void }[] = [];
  const client = (key?: string): ApiClient => {
    const made = new ApiClient(port, key, keyOf);
    clients.push(made);
    return made;
  };
  const keyOf = (key: string): string => keys.get(key) ?? key;
  const owner = new ApiClient(port, ownersKey(account));
  const ask = async (method: string, path: string, json?: object): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await owner.send(path, { method, ...(json === undefined ? {} : { json }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.text === '' ? {} : answer.json;
  };
  const stop = async (): Promise<void> => {
    for (const each of clients) each.close();
    // If this fails, the gateway is not given back, and ends.
    const { connections: left } = await ask('GET', '/manage/connections');
    for (const { id } of left as readonly { readonly id: string }[]) await ask('DELETE', `/manage/connections/${id}`);
    owner.close();
    await gateway.stop();
  };
  try {
    for (const each of connections) await ask('POST', '/manage/connections', asInput(each));
    for (const { key, ...rights } of apiKeys as readonly { readonly key: string }[]) {
      // The account has one with the usual rights.
      if (key === KEY && !('scopes' in rights)) continue;
      const issued = await ask('POST', '/manage/api-keys', { scopes: USUAL_SCOPES, ...rights });
      keys.set(key, String(issued['key']));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, port, api: client(), client, keyOf, stop };
}

/** Paths of files are for the configuration; over the API their content is sent. */
function asInput(connection: object): object {
  const fields = Object.entries(connection).map(([key, value]: [string, unknown]) =>
    /^(privateKey|tlsCa)File$/.test(key)
      ? [key.replace(/File$/, ''), readFileSync(String(value), 'utf8')]
      : [key, value],
  );
  return Object.fromEntries(fields) as object;
}

function usualKey(account: number): string {
  return `ftg_usual-key-of-a-test-file-${String(account).padStart(4, '0')}`;
}

function ownersKey(account: number): string {
  return `ftg_owners-key-of-a-test-file-${String(account).padStart(4, '0')}`;
}
