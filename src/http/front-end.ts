/**
 * The seam between requests and what takes them off the wire: native/ (uWebSockets.js) or fallback/ (node:http). An
 * exchange (exchange.ts) and the server around it (server.ts) exist once, over these few calls.
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
  /** Names that stood more than once. */
  readonly repeated: ReadonlySet<string>;
  /** The other end of the connection: a client, or its proxy. */
  readonly peer: Peer;
}

/**
 * keep = further requests may follow; close = the connection ends behind the answer; unread = so it does, while the
 * client still sends: closing at once would reset the connection, and the reset can overtake the answer.
 */
export type Persistence = 'keep' | 'close' | 'unread';

/**
 * A connection that rests is closed so much after the time that answers tell: a client that takes it up again late by a
 * busy moment of its own must not write into the closing.
 */
export const KEEP_ALIVE_GRACE_SECONDS = 5;
/** uWebSockets.js closes an idle connection after 8 s at the earliest, and has no setting for it. */
export const MOST_NATIVE_KEEP_ALIVE_SECONDS = 6;

export interface AnswerHead {
  readonly status: number;
  /** Names and values in turn, without line ends, and within Latin-1. Neither length nor persistence is among them. */
  readonly fields: readonly string[];
  readonly persistence: Persistence;
}

/** One request's hold on its connection. No call after the answer, `close` or the abort; exchange.ts sees to that. */
export interface ClientSocket extends BodySocket {
  readonly head: RequestHead;
  /** Whether all of the request is here, read or not. */
  readonly hasWholeRequest: boolean;
  /** The client is gone. */
  onAborted(aborted: () => void): void;
  /** Begins paused. The body is whole when `isLast` is told. A chunk that is lent is gone when `accept` returns. */
  onBody(accept: (chunk: Buffer, isLast: boolean, isLent: boolean) => void): void;
  /** Every few seconds: timers of the front end's own must not end what our limits allow. */
  keepAlive(): void;
  /** A whole answer without a body; `length` is announced nevertheless. */
  sendHead(head: AnswerHead, length: number | undefined): void;
  sendWhole(head: AnswerHead, bytes: string | Uint8Array): void;
  /** For a streamed answer; its head leaves with the first bytes. A length is announced, without one it leaves in chunks. */
  openSink(head: AnswerHead, length: number | undefined, events: SinkEvents): ResponseSink;
  /** At once, whatever is under way. */
  close(): void;
}

export interface SocketOptions {
  readonly host: string;
  readonly tls: { readonly certFile: string; readonly keyFile: string };
  readonly receiveBufferBytes: number;
  /** How long a connection may rest between two requests, as answers tell it. */
  readonly keepAliveSeconds: number;
  log(level: 'info' | 'warn', message: string, facts?: Record<string, unknown>): void;
}

/** A listener and its open connections. */
export interface FrontEnd {
  /** Package and version, for the log. */
  readonly build: string;
  /** So far, as they stand. */
  readonly refusedConnections: Readonly<Record<ConnectionRefusal, number>>;
  /** Resolves to the port. Rejects with one clear line when the address cannot be had. */
  listen(port: number): Promise<number>;
  /** New connections meet the certificate as it stands on disk now. Throws, and keeps the old one, when it is bad. */
  reloadTls(): void;
  /** No new connections; open ones are served on. */
  stopListening(): void;
  /** Closes every connection at once. */
  closeSockets(): void;
}
