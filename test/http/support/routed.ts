import type { TestContext } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import type { Sessions } from '../../../src/http/auth.js';
import { SCOPES } from '../../../src/contract/scopes.js';
import { createLimiters } from '../../../src/http/rate-limits.js';
import { createRouter } from '../../../src/http/router.js';
import type { Route } from '../../../src/http/types.js';
import type { ApiKeyRecord, IdempotencyClaim, IdempotencyStore, StoredAnswer } from '../../../src/storage/storage.js';
import { startFrontEnd } from './front-end.js';

export const KEY = 'ftg_the_key_of_these_tests';

export interface Routed {
  readonly url: string;
  readonly port: number;
  /** Errors that were reported as internal. */
  readonly internal: string[];
  /** Keys and sessions that were looked up. */
  readonly lookUps: string[];
  /** With the key, unless headers are given. */
  readonly ask: (
    method: string,
    path: string,
    init?: { headers?: Record<string, string>; body?: string },
  ) => Promise<Answered>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

/** These routes, served by the real router and the real server; keys and stored answers are in memory. */
export async function startRouted(
  t: TestContext,
  routes: readonly Route[],
  {
    keys = {},
    requestsPerSecond = 0,
    session,
  }: { keys?: Record<string, Partial<ApiKeyRecord>>; requestsPerSecond?: number; session?: string } = {},
): Promise<Routed> {
  const internal: string[] = [];
  const all: Record<string, Partial<ApiKeyRecord>> = { [KEY]: {}, ...keys };
  const lookUps: string[] = [];
  const cookieOf: Sessions['token'] = ({ headers }) => /^session=(.*)$/.exec(headers.get('cookie') ?? '')?.[1];
  const handler = createRouter({
    routes,
    keys: {
      // Each look-up must be visible.
      recallKey: () => undefined,
      findKey: async (key) => {
        lookUps.push(key);
        return Object.hasOwn(all, key) ? keyRecord(key, all[key]) : undefined;
      },
    },
    sessions: {
      token: cookieOf,
      authenticate: async (request) => {
        lookUps.push(cookieOf(request) ?? '');
        if (cookieOf(request) === session) return keyRecord('session', {});
        throw new GatewayError('unauthenticated', 'the login session has ended');
      },
      stillLives: async (request) => cookieOf(request) === session,
    },
    idempotency: new StoredAnswers(),
    requestsPerSecond,
    limiters: createLimiters(requestsPerSecond),
    onInternalError: (error) => internal.push(error.message),
  });
  const { port } = await startFrontEnd(t, handler);
  const url = `http://127.0.0.1:${port}`;
  const ask: Routed['ask'] = async (method, path, { headers = {}, body } = {}) => {
    const fields = { Authorization: `Bearer ${KEY}`, ...headers };
    const response = await fetch(url + path, { method, headers: fields, ...(body === undefined ? {} : { body }) });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
    const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
    return { status: response.status, headers: response.headers, text, json };
  };
  return { url, port, internal, lookUps, ask };
}

function keyRecord(keyId: string, changes: Partial<ApiKeyRecord> | undefined): ApiKeyRecord {
  const account = { accountId: 'account', email: 'a@example.com', plan: 'pro' };
  return { ...account, keyId, scopes: SCOPES, connections: [], allowedIps: [], expiresAt: null, ...changes };
}

class StoredAnswers implements IdempotencyStore {
  readonly #rows = new Map<string, { fingerprint: string; answer: StoredAnswer | undefined }>();
  readonly #lost = new Set<string>();

  async claim(accountId: string, key: string, fingerprint: string): Promise<IdempotencyClaim> {
    const name = `${accountId} ${key}`;
    const row = this.#rows.get(name);
    if (this.#lost.has(name)) return { state: 'unknown', transferId: 'the-transfer' };
    if (row !== undefined && row.fingerprint !== fingerprint) return { state: 'mismatch' };
    if (row !== undefined)
      return row.answer === undefined ? { state: 'running' } : { state: 'done', answer: row.answer };
    const mine: { fingerprint: string; answer: StoredAnswer | undefined } = { fingerprint, answer: undefined };
    this.#rows.set(name, mine);
    return {
      state: 'mine',
      complete: async (answer) => {
        mine.answer = answer;
      },
      begin: async () => undefined,
      release: async () => {
        this.#rows.delete(name);
      },
      abandon: async () => {
        this.#lost.add(name);
      },
    };
  }
}
