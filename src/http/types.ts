/** HTTP as the rest of the program sees it; nothing here knows a front end. */
import type { EndSignal } from '../base/ending.js';
import type { Readable } from 'node:stream';
import type { Caller } from '../base/caller.js';
import type { Scope } from '../contract/api-key.js';
import type { GatewayError } from '../base/errors.js';
import type { Span } from '../base/span.js';
import type { Claims } from './claims.js';

export interface HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** As sent: percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The query as sent. */
  readonly queryText: string;
  /** Names in lower case; repeated fields joined by ", ". */
  readonly headers: ReadonlyMap<string, string>;
  readonly remoteAddress: string;
  /** undefined without a Content-Length (chunked, or no body). */
  readonly contentLength: number | undefined;
  /** Whether a body was announced (Content-Length > 0 or Transfer-Encoding). */
  readonly hasBody: boolean;
  /**
   * Not flowing until read; pauses the client's socket when it is not read. ENDS only when the announced body arrived
   * whole; a client that leaves, stalls or sends short DESTROYS it with client_gone, one that there is no memory for with
   * share_exceeded or overloaded.
   */
  readonly body: Readable;
  /**
   * Aborted with a GatewayError as reason when nobody waits for the answer any more (client_gone, draining), or when the
   * body has no more room in memory (share_exceeded, overloaded).
   */
  readonly signal: AbortSignal;
  /** The same, where no AbortSignal is needed. */
  readonly ending: EndSignal;
  /** What it takes of what all share. */
  readonly claims: Claims;
  /**
   * In place of `body`: one that ends where it is cut, behind what has come, and does not say so; `ending` does. `stop`: no
   * more is wanted of it.
   */
  bodyInPieces(): { readonly stream: Readable; readonly stop: (reason: GatewayError) => void };
  /** The connection is cut when the body is not whole by then. */
  expectBodyWithin(ms: number): void;
  /** A client that moves fewer over half a minute, while it is its turn, is refused with too_slow. 0 = none. */
  expectPace(bytesPerSecond: number): void;
  /** What the client moved over the last `overMs`; undefined: it is not the client that the request waits for, or not for so long. */
  bytesPerSecond(overMs: number): number | undefined;
}

/**
 * A streamed answer body. An error of the stream becomes the answer while the head has not left (it leaves with the first
 * bytes); after that it closes the client's connection. With a length, the last bytes leave when the stream has ended.
 */
export interface StreamBody {
  readonly stream: Readable;
  /** Announced as Content-Length; the bytes must match. undefined = chunked. */
  readonly length: number | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Values are cleaned of control characters before they are sent, and leave as Latin-1. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array | StreamBody;
  /** HEAD: Content-Length without a body; none where it is 'unknown'. */
  readonly headLength?: number | 'unknown';
  /** What the router knows of the request, for its log line. */
  readonly facts?: RequestFacts;
}

interface RequestFacts {
  readonly requestId: string;
  /** The route's pattern, never the path: a bounded label. */
  readonly route: string;
  readonly keyId: string | undefined;
  readonly error: GatewayError | undefined;
  /** Ended by whoever writes the log line: then the last byte has left. */
  readonly span: Span;
}

/** Never rejects: errors have become answers. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpAnswer>;

export type { Caller };

export interface RequestContext {
  readonly request: HttpRequest;
  readonly requestId: string;
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The query, checked and converted by the route's schema (defaults filled in). */
  readonly query: Readonly<Record<string, unknown>>;
  /** The JSON body, parsed and checked, on routes with `body: 'json'`; undefined on others. */
  readonly body: unknown;
  /** Present on every route that asks for a key. */
  readonly caller: Caller;
  readonly span: Span;
  /** The answer's Server-Timing comes from here, read when the head leaves. */
  readonly timedBy: (timing: { readonly serverTiming: string }) => void;
  /** Of a request with an Idempotency-Key. */
  readonly intent?: Intent;
  /**
   * Told by handlers that read a body themselves: what `schema` does not know of `given` is named to the client.
   * @throws GatewayError bad_request where the client wants nothing passed over
   */
  readonly noteFields: (given: unknown, schema: object) => void;
  /** For answers without end: whether the request's key would still be let in. Sessions are their owner's to ask for. */
  readonly stillOpens: () => Promise<boolean>;
}

/** What a handler says of a request that must not run twice. */
export interface Intent {
  /** Called before anything is done; resolves when the key knows this transfer. */
  begin(transferId: string): Promise<void>;
  /** It failed, and nobody knows what it has done: repetitions are told so and do not run. */
  lose(): void;
}

/** One endpoint. The router does everything the fields name, in a fixed order, before `handle` runs. */
export interface Route {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** `/api/upload/:connectionId`; one segment a parameter. */
  readonly path: string;
  /**
   * What the key must hold; 'any' = any valid key; 'owner' = a login session or an admin key; 'public' = no key asked.
   * A login session may do all that a key may.
   */
  readonly access: Scope | 'any' | 'owner' | 'public';
  /** JSON Schema (ajv) of the query; unknown parameters are passed over and named. Values arrive as strings and are coerced. */
  readonly query?: object;
  /** A page that reads its query itself: no parameter is unknown. */
  readonly anyQuery?: boolean;
  /**
   * json = application/json, held and parsed by the router (at most 1 MiB), checked against `json`;
   * stream = the handler reads request.body itself; none = a body is not read, and its connection closes.
   */
  readonly body: 'none' | 'json' | 'stream';
  /** JSON Schema of the JSON body. */
  readonly json?: object;
  /** Honours Idempotency-Key. */
  readonly idempotent?: boolean;
  /** Throws where the key may not reach what this request names, before a stored answer is given. */
  readonly permit?: (context: RequestContext) => Promise<void>;
  /** Says of a transfer that was begun for this request, and whose end nobody knows, what there is to see of it. */
  readonly recall?: (context: RequestContext, transferId: string) => Promise<string>;
  /** A 409 for an existing file also says `skipped: true` (upload, copy). */
  readonly skippable?: boolean;
  /** Header fields of each of its answers, errors too. */
  readonly alwaysHeaders?: Readonly<Record<string, string>>;
  /** A GET route that also answers HEAD; the handler looks at request.method. */
  readonly head?: boolean;
  /** Reading one's own state, quickly: goes on when the gateway is full. */
  readonly isEssential?: boolean;
  handle(context: RequestContext): Promise<HttpAnswer>;
}
