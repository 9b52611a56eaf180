/**
 * A request as handlers see it. Rarely used parts are made on demand: most requests have no query and no body, and no
 * listeners for their end.
 */
import type { Readable } from 'node:stream';
import { Ending } from '../base/ending.js';
import type { GatewayError } from '../base/errors.js';
import { UNCOUNTED } from '../budgets/memory.js';
import { BodyReader } from './body/body-reader.js';
import type { Claims } from './claims.js';
import type { ClientPace } from './client-pace.js';
import type { RequestHead } from './front-end.js';
import type { HttpRequest } from './types.js';

export class IncomingRequest implements HttpRequest {
  #received: BodyReader | undefined;
  readonly method: string;
  readonly path: string;
  readonly queryText: string;
  readonly headers: ReadonlyMap<string, string>;
  /** On the clock of performance.now(). */
  bodyDeadline = Infinity;
  leastBytesPerSecond = 0;
  /** Absent until the request is a second old. */
  pace: ClientPace | undefined;
  #parameters: URLSearchParams | undefined;
  readonly ending = new Ending();

  constructor(
    head: RequestHead,
    readonly remoteAddress: string,
    readonly contentLength: number | undefined,
    readonly claims: Claims,
    received: BodyReader | undefined,
  ) {
    this.#received = received;

    this.method = head.method;
    this.path = head.path;
    this.queryText = head.query;
    this.headers = head.headers;
    this.hasBody = received !== undefined;
  }

  readonly hasBody: boolean;

  get query(): URLSearchParams {
    return (this.#parameters ??= new URLSearchParams(this.queryText));
  }

  get body(): Readable {
    return (this.#received ??= emptyBody());
  }

  bodyInPieces(): ReturnType<HttpRequest['bodyInPieces']> {
    const stream = (this.#received ??= emptyBody());
    stream.takeInPieces();
    return { stream, stop: (reason) => stream.cut(reason) };
  }

  get signal(): AbortSignal {
    return this.ending.signal;
  }

  expectBodyWithin(ms: number): void {
    this.bodyDeadline = performance.now() + ms;
  }

  expectPace(bytesPerSecond: number): void {
    this.leastBytesPerSecond = bytesPerSecond;
  }

  bytesPerSecond(overMs: number): number | undefined {
    return this.pace?.bytesPerSecond(overMs);
  }

  /** The answer is no longer needed. The first reason counts. */
  abort(error: GatewayError): void {
    this.ending.abort(error);
  }
}

function emptyBody(): BodyReader {
  const nothing = (): undefined => undefined;
  const body = new BodyReader({ pause: nothing, resume: nothing }, undefined, UNCOUNTED, nothing);
  body.accept(Buffer.alloc(0), true);
  return body;
}
