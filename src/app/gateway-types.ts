/** What main needs of the gateway; gateway.ts provides it. */
import type { Config } from '../config/schema.js';
import type { Logger } from '../observe/log.js';
import type { BegunServer } from '../storage/embedded/begun.js';

/** A gateway that serves. */
export interface Gateway {
  /** Where clients reach it: `http://127.0.0.1:8080`, without a final slash. */
  readonly url: string;
  /**
   * Not ready at once. With `retire`, and where GET /readyz was asked of late, it serves on for server.retireSeconds, so
   * that whoever asked sees it. Then it stops accepting, lets running transfers finish for server.drainSeconds and cuts
   * them. Idempotent.
   */
  stop(how?: { readonly retire: boolean }): Promise<void>;
  /** Closes every client's socket, whatever is under way: the process is about to exit. Never rejects. */
  abandon(): Promise<void>;
  /** Reads certificate and key again; rejects and keeps the old ones when they cannot be used. */
  reloadTls(): Promise<void>;
}

export interface StartOptions {
  readonly logger: Logger;
  /** Aborted when the operator wants to stop before the start is through. */
  readonly signal: AbortSignal;
  /** No configuration file was given: the quick start may make an account and a sandbox. */
  readonly quickStart: boolean;
  /** The embedded database that starts already; absent where the database is another one. */
  readonly begun?: BegunServer | undefined;
}

/** Resolves when the gateway serves. What rejects has left nothing running. */
export type StartGateway = (config: Config, options: StartOptions) => Promise<Gateway>;
