import type { S3Client } from '@aws-sdk/client-s3';
import { Readable } from 'node:stream';
import { withDeadline } from '../../../base/deadline.js';
import type { Ending, EndSignal } from '../../../base/ending.js';
import { GatewayError, type Step } from '../../../base/errors.js';
import { retrying } from '../../../base/retry.js';
import type { S3Connection } from '../../../connections/connection.js';
import type { PoolLimits } from '../../../contract/connection/fields.js';
import type { RemoteContext } from '../../remote.js';
import { Additions } from './additions.js';
import { hostOf } from './endpoint.js';
import type { Seen } from './bounded-handler.js';
import type { EndpointTraits } from '../memory.js';
import { isTransient, refusesKeys, translateError } from './replies.js';
import type { S3Lease } from './session.js';
import type { SignedRequests } from './signed-requests.js';
import type { LeaseGate } from './socket-gate.js';

/** What one call is about, and how long and how often it may be tried. */
export interface CallOptions {
  readonly step: Step;
  /** Client-visible path or words, for error texts. */
  readonly what: string;
  /** Total number of tries; more than one only if repeating the call is harmless. */
  readonly attempts?: number;
  /** Time until the complete answer; the stall limit unless the store has work to do. */
  readonly allowMs?: number;
  /** Replaces the operation's own signal: cleaning up continues after that has fired. */
  readonly signal?: EndSignal | undefined;
}

export interface SendOptions {
  readonly ending: EndSignal;
  /** The same; it is made when it is read. */
  readonly abortSignal: AbortSignal;
  readonly seen: Seen;
}

export const IDEMPOTENT_ATTEMPTS = 3;
/** Spread, so that a burst of calls does not return as a burst. */
const RETRIES = { firstMs: 100, longestMs: 200, spread: [0.5, 1.5] } as const;
/** The slowest server-side copying that still counts as work. */
const COPY_BYTES_PER_MS = 5_000;

/** Sends the requests of one operation: each with a deadline, bounded retries and a translated error. */
export class Calls {
  readonly additions: Additions;
  /** Adds them to its commands. */
  readonly client: S3Client;
  readonly requests: SignedRequests;
  readonly traits: EndpointTraits;
  readonly gate: LeaseGate;
  readonly seen: Seen;
  readonly #credentials: S3Lease['credentials'];

  constructor(
    lease: S3Lease,
    readonly connection: S3Connection,
    readonly limits: PoolLimits,
    readonly context: RemoteContext,
  ) {
    this.additions = new Additions(connection);
    this.client = this.additions.on(lease.client);
    this.requests = lease.requests;
    this.traits = lease.traits;
    this.gate = lease.gate;
    this.seen = lease.seen;
    this.#credentials = lease.credentials;
  }

  /** Calls `send` until it succeeds. Errors: the signal's reason, stall_timeout, or the result of translateError. */
  async call<T>(send: (options: SendOptions) => Promise<T>, options: CallOptions): Promise<T> {
    const { attempts = 1, signal = this.context.ending ?? this.context.signal } = options;
    const once = (): Promise<T> => this.#once(send, options, signal);
    try {
      return await retrying(RETRIES, once, (error, tries) => tries < attempts && isTransient(error), signal);
    } catch (error) {
      throw this.translate(error, options);
    }
  }

  /** How long a server-side copy or completion of `bytes` may take. */
  copyAllowanceMs(bytes: number): number {
    return this.limits.stallTimeoutMs + Math.ceil(bytes / COPY_BYTES_PER_MS);
  }

  /** A signal for cleaning up, which is independent of the operation's own. */
  cleanupSignal(): AbortSignal {
    const { stallTimeoutMs } = this.limits;
    return deadline(stallTimeoutMs, () => this.stalled({ step: 'publish', what: 'cleaning up' }, stallTimeoutMs));
  }

  /**
   * The operation's signal with a time limit: for a request beside another one that holds its socket until this one is
   * done.
   */
  spareSignal(): AbortSignal {
    const { acquireTimeoutMs } = this.limits;
    const late = (): GatewayError =>
      new GatewayError(
        'acquire_timeout',
        `no second connection to ${hostOf(this.connection)} was free within ${acquireTimeoutMs} ms; maxSessions bounds them`,
        { step: 'acquire' },
      );
    return AbortSignal.any([this.context.signal, deadline(acquireTimeoutMs, late)]);
  }

  translate(error: unknown, { step, what }: Pick<CallOptions, 'step' | 'what'>): GatewayError {
    const { bucket, region } = this.connection;
    if (refusesKeys(error)) this.#credentials.refused();
    return translateError(error, { step, what, bucket, region, host: hostOf(this.connection) });
  }

  stalled({ step, what }: Pick<CallOptions, 'step' | 'what'>, waitedMs: number): GatewayError {
    return new GatewayError('stall_timeout', `${what}: ${hostOf(this.connection)} moved no byte for ${waitedMs} ms`, {
      step,
    });
  }

  async #once<T>(send: (options: SendOptions) => Promise<T>, options: CallOptions, signal: EndSignal): Promise<T> {
    const leave = await this.gate.enter(signal);
    const { allowMs: ms = this.limits.stallTimeoutMs } = options;
    const late = (): GatewayError => this.stalled(options, ms);
    let body: Readable | undefined;
    try {
      const answer = await withDeadline({ signal, ms, late }, (ending) => send(new OneSending(ending, this.seen)));
      body = bodyOf(answer);
      return answer;
    } finally {
      // A download holds its socket until its body has been read or destroyed.
      if (body === undefined || body.closed) leave();
      else body.once('close', leave);
    }
  }
}

/** A class, because a literal with a getter would keep what the getter sees (registry.ts). */
class OneSending implements SendOptions {
  constructor(
    readonly ending: Ending,
    readonly seen: Seen,
  ) {}

  get abortSignal(): AbortSignal {
    return this.ending.signal;
  }
}

function deadline(afterMs: number, reason: () => GatewayError): AbortSignal {
  const ender = new AbortController();
  setTimeout(() => ender.abort(reason()), afterMs).unref();
  return ender.signal;
}

function bodyOf(answer: unknown): Readable | undefined {
  const body = (answer as { readonly Body?: unknown } | undefined)?.Body;
  return body instanceof Readable ? body : undefined;
}
