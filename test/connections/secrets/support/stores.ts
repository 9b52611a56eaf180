/** Scripted stores of secrets, which answer as the documentation of the real ones says. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json as jsonOf } from 'node:stream/consumers';

const NO_VAULT = { address: '', tokenFile: '', role: '', serviceAccountTokenFile: '' };
/** The settings of a gateway whose secrets are in files. */
export const NO_STORES = { vault: NO_VAULT, aws: { region: '' } };

export interface Store {
  readonly url: string;
  stop(): Promise<void>;
}

export async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Store> {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

export interface ScriptedVault extends Store {
  /** Secrets by the path of the API. */
  readonly secrets: Map<string, Readonly<Record<string, unknown>>>;
  /** Tokens that may read. */
  readonly tokens: Set<string>;
  /** Method, path and token of every request. */
  readonly seen: string[];
  /** What a service account gets: each login is a new token. */
  jwt: string;
  /** Answers everything with this status, if it is not 0. */
  status: number;
}

/** KV 2 and Kubernetes authentication of Vault. */
export async function startVault(): Promise<ScriptedVault> {
  const state = {
    secrets: new Map<string, Readonly<Record<string, unknown>>>(),
    tokens: new Set<string>(),
    seen: [] as string[],
    jwt: '',
    status: 0,
  };
  const store = await serve(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const token = String(headers['x-vault-token'] ?? '');
    state.seen.push(`${method} ${url} ${token}`.trim());
    if (state.status !== 0) {
      if (state.status === 307) response.setHeader('Location', '/v1/elsewhere');
      return send(response, state.status, { errors: [] });
    }
    if (method === 'POST' && url === '/v1/auth/kubernetes/login') {
      const { role, jwt } = (await jsonOf(request)) as Readonly<Record<string, unknown>>;
      if (role !== 'gateway' || jwt !== state.jwt) return send(response, 400, { errors: ['invalid role name'] });
      const made = `hvs.${state.seen.length}`;
      state.tokens.add(made);
      return send(response, 200, { auth: { client_token: made, lease_duration: 3600, renewable: true } });
    }
    if (!state.tokens.has(token)) return send(response, 403, { errors: ['permission denied'] });
    const secret = state.secrets.get(decodeURIComponent(url).replace('/v1/', ''));
    if (method !== 'GET' || secret === undefined) return send(response, 404, { errors: [] });
    send(response, 200, { data: { data: secret, metadata: { version: 1 } } });
  });
  return Object.assign(state, store);
}
