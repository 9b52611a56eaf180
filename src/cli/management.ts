/** The management API as the commands use it; its answers are typed by its OpenAPI document. */
import type { components } from '../client/management-types.js';
import { type Query, Transport, type ClientOptions } from '../client/transport.js';

export type Schemas = components['schemas'];

interface Request {
  readonly query?: Query;
  readonly json?: object;
}

/** Every method rejects with FtgError, or with the reason of the signal. */
export class Management {
  private readonly transport: Transport;

  constructor(
    options: ClientOptions,
    private readonly signal: AbortSignal,
  ) {
    this.transport = new Transport(options);
  }

  get<T>(path: string, query: Query = {}): Promise<T> {
    return this.call('GET', path, { query });
  }

  post<T>(path: string, json?: object): Promise<T> {
    return this.call('POST', path, json === undefined ? {} : { json });
  }

  patch<T>(path: string, json: object): Promise<T> {
    return this.call('PATCH', path, { json });
  }

  delete<T>(path: string, query: Query = {}): Promise<T> {
    return this.call('DELETE', path, { query });
  }

  /** A body that is read as it comes. */
  stream(path: string, query: Query): Promise<Response> {
    return this.transport.send(this.callOf('GET', path, { query }), async (response) => response);
  }

  private call<T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, request: Request): Promise<T> {
    return this.transport.json<T>(this.callOf(method, path, request));
  }

  private callOf(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, request: Request) {
    // What changes something runs at most once: there are no Idempotency-Keys here.
    const repetition = method === 'GET' ? ('repeatable' as const) : ('once' as const);
    return { method, path: `/manage/${path}`, ...request, repetition, options: { signal: this.signal } };
  }
}
