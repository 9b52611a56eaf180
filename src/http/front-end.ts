/**
 * The seam between requests and the code that reads them from the wire: native/ (uWebSockets.js) or fallback/
 * (node:http). An exchange (exchange.ts) and the server around it (server.ts) exist once, above these few calls.
 */
import type { BodySocket } from './body/body-reader.js';
import type { SinkEvents, ResponseSink } from './answer-writer.js';
import type { ConnectionRefusal } from './connections.js';
import type { Peer } from './peers.js';

/** Copied before anything else happens. */
export interface RequestHead {
  /** As sent. */
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  readonly query: string;
  /** Names in lower case; repeated fields joined by ", ". */
  readonly headers: ReadonlyMap<string, string>;
  /** Names that appeared more than once. */
  readonly repeated: ReadonlySet<string>;
  /** The other end of the connection: a client, or its proxy. */
  readonly peer: Peer;
}

/**
 * keep = more requests may follow; close = the connection ends after the answer; unread = it also ends, but the client
 * still sends: closing at once would reset the connection, and the reset can overtake the answer.
 */
export type Persistence = 'keep' | 'close' | 'unread';

/**
 * An idle connection is closed this long after the time that answers announce: a client that reuses it a little late
 * must not write into a closing connection.
 */
export const KEEP_ALIVE_GRACE_SECONDS = 5;
/** uWebSockets.js closes an idle connection after 8 s at the earliest, and has no setting for it. */
export const MOST_NATIVE_KEEP_ALIVE_SECONDS = 6;

export interface AnswerHead {
  readonly status: number;
  /** Names and values alternate, without line ends, and within Latin-1. Length and persistence are not included. */
  readonly fields: readonly string[];
  readonly persistence: Persistence;
}

/**
 * A request's access to its connection. No call is allowed after the answer, `close` or the abort; exchange.ts ensures
 * that.
 */
export interface ClientSocket extends BodySocket {
  readonly head: RequestHead;
  /** Whether the whole request has arrived, read or not. */
  readonly hasWholeRequest: boolean;
  /** The client has left. */
  onAborted(aborted: () => void): void;
  /** Begins paused. The body is complete when `isLast` is set. A lent chunk is invalid after `accept` returns. */
  onBody(accept: (chunk: Buffer, isLast: boolean, isLent: boolean) => void): void;
  /** Call every few seconds: timers of the front end must not end what our limits allow. */
  keepAlive(): void;
  /** Sends a whole answer without a body; `length` is announced nevertheless. */
  sendHead(head: AnswerHead, length: number | undefined): void;
  sendWhole(head: AnswerHead, bytes: string | Uint8Array): void;
  /**
   * For a streamed answer; its head is sent with the first bytes. A known length is announced, otherwise the body is
   * chunked.
   */
  openSink(head: AnswerHead, length: number | undefined, events: SinkEvents): ResponseSink;
  /** Closes at once, and ends all running requests. */
  close(): void;
}

export interface SocketOptions {
  /** The setting that has the port, for a start that fails. */
  readonly setting?: string;
  readonly host: string;
  readonly tls: { readonly certFile: string; readonly keyFile: string };
  readonly receiveBufferBytes: number;
  /** How long an idle connection is kept between two requests, as announced in answers. */
  readonly keepAliveSeconds: number;
  log(level: 'info' | 'warn', message: string, facts?: Record<string, unknown>): void;
}

/** A listener and its open connections. */
export interface FrontEnd {
  /** Package and version, for the log. */
  readonly build: string;
  /** The counts so far. */
  readonly refusedConnections: Readonly<Record<ConnectionRefusal, number>>;
  /** Resolves with the port. Rejects with one clear line if the address cannot be used. */
  listen(port: number): Promise<number>;
  /** New connections use the certificate that is on disk now. Throws, and keeps the old one, if it is bad. */
  reloadTls(): void;
  /** No new connections; open ones are still served. */
  stopListening(): void;
  /** Closes every connection at once. */
  closeSockets(): void;
}

/** Why a start fails, in one line. */
export function noListener(port: number, { host, setting }: Pick<SocketOptions, 'host' | 'setting'>): string {
  const where = setting === undefined ? '' : `${setting}: `;
  return `${where}cannot listen on ${host}:${port}: the port is in use or the address is not of this machine`;
}
