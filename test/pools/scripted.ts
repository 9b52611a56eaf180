/** A scripted server: the pool's sessions without a network. */
import { setImmediate as turn } from 'node:timers/promises';
import { GatewayError, type ErrorCode } from '../../src/base/errors.js';
import { Pool } from '../../src/pools/pool.js';
import type { Session } from '../../src/pools/session.js';
import type { Lease } from '../../src/pools/waiters.js';
import type { PoolLimits } from '../../src/contract/connection/fields.js';

type PoolOptions = ConstructorParameters<typeof Pool<string>>[0];

export const LIMITS: PoolLimits = {
  maxSessions: 8,
  maxChannelsPerSession: 8,
  idleTimeoutMs: 60_000,
  maxWaiting: 1_000,
  acquireTimeoutMs: 15_000,
  connectTimeoutMs: 10_000,
  stallTimeoutMs: 30_000,
};

export const failure = (code: ErrorCode, text: string = code): GatewayError => new GatewayError(code, text);

export class ScriptedSession implements Session<string> {
  alive = true;
  readonly leases = new Set<string>();
  readonly discarded: string[] = [];
  checks = 0;
  /** The error of the next lease() or check(). */
  leaseFailure: Error | undefined;
  check: (signal: AbortSignal) => Promise<void> = async () => void this.checks++;
  readonly #listeners: (() => void)[] = [];
  #made = 0;

  constructor(
    readonly name: string,
    public capacity: number,
    /** Channels that the server really admits; a refusal shows the capacity. */
    readonly admits = capacity,
  ) {}

  async lease(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const { leaseFailure } = this;
    this.leaseFailure = undefined;
    if (leaseFailure !== undefined) throw leaseFailure;
    if (!this.alive) throw failure('connection_lost');
    if (this.leases.size >= this.admits) {
      this.capacity = Math.max(1, this.admits);
      throw failure('too_many_sessions');
    }
    return this.#make();
  }

  leaseNow(): string | undefined {
    const canLease = this.alive && this.leaseFailure === undefined && this.leases.size < this.admits;
    return canLease ? this.#make() : undefined;
  }

  #make(): string {
    const lease = `${this.name}.${++this.#made}`;
    this.leases.add(lease);
    return lease;
  }

  release(lease: string, fate: 'keep' | 'discard'): void {
    if (!this.leases.delete(lease)) throw new Error(`${lease} was released twice`);
    if (fate === 'discard') this.discarded.push(lease);
  }

  close(): void {
    if (!this.alive) return;
    this.alive = false;
    for (const listener of this.#listeners) listener();
  }

  /** Calls the pool as a session does whose channels were returned. */
  hasRoom: () => void = () => undefined;

  onRoom(listener: () => void): void {
    this.hasRoom = listener;
  }

  onClose(listener: () => void): void {
    if (this.alive) this.#listeners.push(listener);
    else queueMicrotask(listener);
  }
}

interface Attempt {
  readonly signal: AbortSignal;
  readonly settle: (outcome: ScriptedSession | Error) => void;
}

/** Logins wait until the test answers them, or are answered by `auto`. */
export class ScriptedServer {
  readonly attempts: Attempt[] = [];
  readonly sessions: ScriptedSession[] = [];
  auto: ((number: number) => ScriptedSession | Error) | undefined;
  mostOpen = 0;
  logins = 0;

  constructor(readonly capacity = 1) {}

  readonly open = (signal: AbortSignal): Promise<ScriptedSession> =>
    new Promise((resolve, reject) => {
      const number = ++this.logins;
      const settle = (outcome: ScriptedSession | Error): void => {
        const index = this.attempts.indexOf(attempt);
        if (index >= 0) this.attempts.splice(index, 1);
        if (outcome instanceof Error) return reject(outcome);
        this.sessions.push(outcome);
        resolve(outcome);
      };
      const attempt: Attempt = { signal, settle };
      this.attempts.push(attempt);
      signal.addEventListener('abort', () => settle(signal.reason as Error), { once: true });
      this.mostOpen = Math.max(this.mostOpen, this.openNow());
      if (this.auto !== undefined) settle(this.auto(number));
    });

  /** Lets the oldest login succeed. */
  admit(session = new ScriptedSession(`s${this.sessions.length + 1}`, this.capacity)): ScriptedSession {
    this.attempts[0]?.settle(session);
    return session;
  }

  refuse(error: Error): void {
    this.attempts[0]?.settle(error);
  }

  get alive(): readonly ScriptedSession[] {
    return this.sessions.filter(({ alive }) => alive);
  }

  /** Logins under way and sessions open. */
  openNow(): number {
    return this.attempts.length + this.alive.length;
  }
}

export function poolOf(
  server: ScriptedServer,
  limits: Partial<PoolLimits> = {},
  more: Partial<PoolOptions> = {},
): Pool<string> {
  return new Pool({
    host: 'example:22',
    limits: { ...LIMITS, ...limits },
    leasesPerSession: server.capacity,
    open: server.open,
    ...more,
  });
}

/** The result of one acquire(). */
export interface Asked {
  readonly controller: AbortController;
  readonly arrived: number;
  leases: Lease<string>[] | undefined;
  error: GatewayError | undefined;
  readonly settled: Promise<void>;
}

let arrivals = 0;

export function ask(
  pool: Pool<string>,
  options: Partial<Parameters<Pool<string>['acquire']>[0]> = {},
  onGrant?: (asked: Asked) => void,
): Asked {
  const controller = new AbortController();
  const promise = pool.acquire({ signal: controller.signal, ...options });
  const asked: Asked = {
    controller,
    arrived: ++arrivals,
    leases: undefined,
    error: undefined,
    settled: promise.then(
      (leases) => {
        asked.leases = leases;
        onGrant?.(asked);
      },
      (error: unknown) => void (asked.error = error as GatewayError),
    ),
  };
  return asked;
}

export function giveBack(asked: Asked, fate: 'keep' | 'discard' = 'keep'): void {
  for (const lease of asked.leases ?? []) lease.release(fate);
  asked.leases = undefined;
}

/** Lets all work without timers finish. */
export async function rest(): Promise<void> {
  for (let turns = 0; turns < 6; turns++) await turn();
}
