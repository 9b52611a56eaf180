/** Both APIs of one gateway, with the credentials of the profile: an API key, or a login session. */
import { FileTransferGateway } from '../client/index.js';
import type { components } from '../client/management-types.js';
import { type ClientOptions, type Query, Transport } from '../client/transport.js';
import type { Profile, SessionCredentials } from './profiles.js';

export type Schemas = components['schemas'];

interface Request {
  readonly query?: Query;
  readonly json?: object;
}

/** Every method rejects with FtgError, or with the reason of the signal. */
export class Management {
  readonly #signal: AbortSignal;
  readonly #transport: Transport;

  constructor(options: ClientOptions, signal: AbortSignal) {
    this.#signal = signal;

    this.#transport = new Transport(options);
  }

  get<T>(path: string, query: Query = {}): Promise<T> {
    return this.#call('GET', path, { query });
  }

  post<T>(path: string, json?: object): Promise<T> {
    return this.#call('POST', path, json === undefined ? {} : { json });
  }

  patch<T>(path: string, json: object): Promise<T> {
    return this.#call('PATCH', path, { json });
  }

  delete<T>(path: string, query: Query = {}): Promise<T> {
    return this.#call('DELETE', path, { query });
  }

  /** A body that is read as a stream. */
  stream(path: string, query: Query): Promise<Response> {
    return this.#transport.send(this.#callOf('GET', path, { query }), async (response) => response);
  }

  #call<T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, request: Request): Promise<T> {
    return this.#transport.json<T>(this.#callOf(method, path, request));
  }

  #callOf(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, request: Request) {
    // A change runs at most once: there are no Idempotency-Keys here.
    const repetition = method === 'GET' ? ('repeatable' as const) : ('once' as const);
    return { method, path: `/manage/${path}`, ...request, repetition, options: { signal: this.#signal } };
  }
}

export interface Gateway {
  readonly url: string;
  readonly files: FileTransferGateway;
  readonly manage: Management;
  /** Sends one request unchanged and returns its answer; never retries. */
  readonly call: (path: string, init: RequestInit) => Promise<Response>;
}

export function openGateway({ url, key, session }: Profile, signal: AbortSignal): Gateway {
  const authorized = session === undefined ? fetch : withSession(session);
  const options = { baseUrl: url, apiKey: key ?? '', fetch: authorized };
  return {
    url,
    files: new FileTransferGateway(options),
    manage: new Management(options, signal),
    call: (path, init) => {
      const headers = new Headers(init.headers);
      headers.set('Authorization', `Bearer ${key ?? ''}`);
      return authorized(url + path, { ...init, headers, signal });
    },
  };
}

/** Replaces the bearer token, which would take precedence over the cookie. */
function withSession({ cookie, csrfToken }: SessionCredentials): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete('Authorization');
    headers.set('Cookie', cookie);
    headers.set('X-CSRF-Token', csrfToken);
    return fetch(input, { ...init, headers });
  };
}
