/** Constructors of calls: read-only ones, and changes. */
import type { Call, CallOptions, Transport } from './transport.js';

/** For operations that change something: the caller's own Idempotency-Key. By default, one is generated. */
export interface ChangeOptions extends CallOptions {
  readonly idempotencyKey?: string | undefined;
}

export interface FileOptions extends CallOptions {
  /** The `rawName` of FileInfo: the bytes of the path's last name, base64, if they are not UTF-8. */
  readonly rawName?: string | undefined;
}

/** The fields of a request among `options`: all but the options of the call. */
export function fieldsOf<T extends ChangeOptions>(options: T): Omit<T, keyof ChangeOptions> {
  const { signal: _signal, requestId: _id, timeoutMs: _timeout, idempotencyKey: _key, ...fields } = options;
  return fields;
}

export function reading(path: string, options: CallOptions, query: Call['query'] = {}): Call {
  return { method: 'GET', path, query, repetition: 'repeatable', options };
}

export function changing(path: string, options: ChangeOptions, json?: object): Call {
  const { idempotencyKey = true } = options;
  return {
    method: 'POST',
    path,
    repetition: 'repeatable',
    idempotencyKey,
    options,
    ...(json === undefined ? {} : { json }),
  };
}

/** A change without an Idempotency-Key: sent again only if it certainly has not begun. */
export function changingOnce(path: string, options: CallOptions, json?: object): Call {
  return { ...changing(path, options, json), idempotencyKey: undefined, repetition: 'once' };
}

/** An idempotent change: absent fields keep their values. */
export function patching(path: string, options: CallOptions, json: object): Call {
  return { ...changingOnce(path, options, json), method: 'PATCH', repetition: 'repeatable' };
}

export function deleting(path: string, options: CallOptions): Call {
  return { method: 'DELETE', path, repetition: 'repeatable', options };
}

/** The path of one item, below the path of the list. */
export const at = (path: string, id: string): string => `${path}/${encodeURIComponent(id)}`;

/** Yields the pages of a list; each one is requested when it is needed. */
export async function* pagesOf<P extends { readonly nextCursor: string | null }>(
  transport: Transport,
  path: string,
  options: CallOptions,
  query: NonNullable<Call['query']> = {},
): AsyncGenerator<P, void, undefined> {
  for (let { cursor } = query; ;) {
    const page = await transport.json<P>(reading(path, options, { ...query, cursor }));
    yield page;
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
}
