/** HTTP as the rest of the program sees it; independent of the front end. */
import type { EndSignal } from '../base/ending.js';
import type { Readable } from 'node:stream';
import type { Caller } from '../base/caller.js';
import type { Scope } from '../contract/scopes.js';
import type { GatewayError } from '../base/errors.js';
import type { Intent } from '../base/intent.js';
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
   * Not flowing until read; pauses the client's socket while it is not read. ENDS only if the announced body arrived
   * completely; a client that leaves, stalls or sends too little DESTROYS it with client_gone, a lack of memory with
   * share_exceeded or overloaded.
   */
  readonly body: Readable;
  /**
   * Aborted with a GatewayError as reason when the answer is no longer needed (client_gone, draining), or when the body
   * has no more room in memory (share_exceeded, overloaded).
   */
  readonly signal: AbortSignal;
  /** The same, for code that needs no AbortSignal. */
  readonly ending: EndSignal;
  /** What it uses of the shared budgets. */
  readonly claims: Claims;
  /**
   * Replaces `body`: ends when it is cut, after the bytes that have arrived, without an error; `ending` has the reason.
   * `stop`: call when no more is wanted.
   */
  bodyInPieces(): { readonly stream: Readable; readonly stop: (reason: GatewayError) => void };
  /** The connection is cut if the body is not complete by then. */
  expectBodyWithin(ms: number): void;
  /** A client that moves fewer bytes over half a minute, while it is its turn, is refused with too_slow. 0 = none. */
  expectPace(bytesPerSecond: number): void;
  /**
   * The client's rate over the last `overMs`; undefined: the request does not wait for the client, or not for that
   * long.
   */
  bytesPerSecond(overMs: number): number | undefined;
}

/**
 * A streamed answer body. An error of the stream becomes the answer if the head has not been sent yet (it is sent with
 * the first bytes); after that it closes the client's connection. With a length, the last bytes are sent when the
 * stream has ended.
 */
export interface StreamBody {
  readonly stream: Readable;
  /** Announced as Content-Length; the bytes must match. undefined = chunked. */
  readonly length: number | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Control characters are removed from values before they are sent as Latin-1. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array | StreamBody;
  /** HEAD: Content-Length without a body; no such field if it is 'unknown'. */
  readonly headLength?: number | 'unknown';
  /** What the router knows about the request, for its log line. */
  readonly facts?: RequestFacts;
  /** Work that continues after the body is streamed, even if the client leaves. Never rejects. */
  readonly work?: Promise<void>;
}

interface RequestFacts {
  readonly requestId: string;
  /** The route's pattern, never the path: a bounded label. */
  readonly route: string;
  readonly keyId: string | undefined;
  readonly error: GatewayError | undefined;
  /** The code that writes the log line ends it: then the last byte has been sent. */
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
  /** Present on every route that requires a key. */
  readonly caller: Caller;
  readonly span: Span;
  /** Provides the answer's Server-Timing, which is read when the head is sent. */
  readonly timedBy: (timing: { readonly serverTiming: string }) => void;
  /** Present for a request with an Idempotency-Key. */
  readonly intent?: Intent;
  /**
   * Called by handlers that read a body themselves: fields of `given` that `schema` does not know are named to the
   * client. @throws GatewayError bad_request if the client asked to refuse unknown fields
   */
  readonly noteFields: (given: unknown, schema: object) => void;
  /** For endless answers: whether the request's key or session is still accepted. */
  readonly stillOpens: () => Promise<boolean>;
}

/** One endpoint. The router does everything that the fields name, in a fixed order, before `handle` runs. */
export interface Route {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** `/api/upload/:connectionId`; one segment per parameter. */
  readonly path: string;
  /**
   * The scope that the key needs; 'any' = any valid key; 'owner' = a login session or an admin key; 'public' = no key
   * needed. A login session may do everything that a key may.
   */
  readonly access: Scope | 'any' | 'owner' | 'public';
  /**
   * JSON Schema (ajv) of the query; unknown parameters are ignored and named. Values arrive as strings and are coerced.
   */
  readonly query?: object;
  /** For a page that reads its query itself: no parameter is unknown. */
  readonly anyQuery?: boolean;
  /**
   * json = application/json, read and parsed by the router (at most 1 MiB), checked against `json`; stream = the
   * handler reads request.body itself; none = a body is not read, and its connection closes.
   */
  readonly body: 'none' | 'json' | 'stream';
  /** JSON Schema of the JSON body. */
  readonly json?: object;
  /** Supports Idempotency-Key. */
  readonly idempotent?: boolean;
  /** Throws if the key may not access what this request names; called before a stored answer is returned. */
  readonly permit?: (context: RequestContext) => Promise<void>;
  /** Describes what can be known about a transfer that was begun for this request and whose end is unknown. */
  readonly recall?: (context: RequestContext, transferId: string) => Promise<string>;
  /** A 409 for an existing file also has `skipped: true` (upload, copy). */
  readonly skippable?: boolean;
  /** Header fields of each of its answers, errors included. */
  readonly alwaysHeaders?: Readonly<Record<string, string>>;
  /** A GET route that also answers HEAD; the handler checks request.method. */
  readonly head?: boolean;
  /** Reads only the caller's own state, quickly: still served when the gateway is full. */
  readonly isEssential?: boolean;
  handle(context: RequestContext): Promise<HttpAnswer>;
}
