/** The gateway's interface for main; gateway.ts implements it. */
import type { Config } from '../config/schema.js';
import type { Logger } from '../observe/log.js';
import type { BegunServer } from '../storage/embedded/begun.js';

/** A running gateway. */
export interface Gateway {
  /** Its address for clients: `http://127.0.0.1:8080`, without a final slash. */
  readonly url: string;
  /**
   * Not ready at once. With `retire`, and if GET /readyz was requested recently, it serves for another
   * server.retireSeconds, so that the load balancer notices. Then it stops accepting, lets running transfers finish for
   * server.drainSeconds and cuts them. Idempotent.
   */
  stop(how?: { readonly retire: boolean }): Promise<void>;
  /** Closes the sockets of all clients at once: the process is about to exit. Never rejects. */
  abandon(): Promise<void>;
  /** Reads certificate and key again; if they cannot be used, rejects and keeps the old ones. */
  reloadTls(): Promise<void>;
}

export interface StartOptions {
  readonly logger: Logger;
  /** Aborted when the operator stops the gateway during its start. */
  readonly signal: AbortSignal;
  /** No configuration file was given: the quick start may create an account and a sandbox. */
  readonly quickStart: boolean;
  /** The embedded database, which is already starting; absent with another database. */
  readonly begun?: BegunServer | undefined;
}

/** Resolves when the gateway serves. After a rejection nothing is left running. */
export type StartGateway = (config: Config, options: StartOptions) => Promise<Gateway>;
