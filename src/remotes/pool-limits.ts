/** The limits of one connection: those that the operator set for its host, and its own. */
import type { Connection } from '../connections/connection.js';
import type { PoolLimits } from '../contract/connection/fields.js';

export interface OperatorLimits {
  readonly default: PoolLimits;
  /** By `host:port`. */
  readonly hosts: Readonly<Record<string, Partial<PoolLimits>>>;
}

type Limit = keyof PoolLimits;
/** Limits that protect the host; the others are times, which concern the operation that waits. */
const OF_THE_HOST: readonly Limit[] = ['maxSessions', 'maxChannelsPerSession', 'maxWaiting'];

/**
 * A tenant's connection never exceeds the operator's limits. The operator's own connection, in the configuration, may
 * exceed the defaults, but not the limits of its host.
 */
export function limitsFor(
  { pool, isConfigured = false }: Connection,
  host: string,
  limits: OperatorLimits,
): PoolLimits {
  const forHost = limits.hosts[host] ?? {};
  const operators = { ...limits.default, ...forHost };
  if (!isConfigured) return { ...operators, ...lowered(operators, pool) };
  const capped = Object.fromEntries(OF_THE_HOST.flatMap((key) => (key in forHost ? [[key, operators[key]]] : [])));
  return { ...operators, ...pool, ...lowered(capped, pool) };
}

/** The smaller of the two, if both set a limit. */
function lowered(ceilings: Partial<PoolLimits>, own: Partial<PoolLimits>): Partial<PoolLimits> {
  const names = Object.keys(own) as Limit[];
  return Object.fromEntries(
    names.flatMap((name) => {
      const [ceiling, wanted] = [ceilings[name], own[name]];
      return ceiling === undefined || wanted === undefined ? [] : [[name, Math.min(ceiling, wanted)]];
    }),
  );
}

interface User {
  /** As returned by `limitsFor`. */
  readonly limits: PoolLimits;
  /** The limits that the connection sets itself, as they apply to it. */
  readonly own: Partial<PoolLimits>;
  running: number;
  lastUsed: number;
}

/**
 * The limits of a pool that several connections with one login share. Limits of the server (sessions, channels) are the
 * smallest value of all connections in use; the others are those of the asking connection.
 */
export class SharedLimits {
  readonly #users = new Map<string, User>();
  /** The last result of `use`; valid while the users are the same. */
  #last: { readonly requested: PoolLimits; readonly result: PoolLimits } | undefined;

  /** Records that `connection` asks, and with which limits; returns the limits of the pool from now on. */
  use(connection: Connection, limits: PoolLimits): PoolLimits {
    const known = this.#users.get(connection.id);
    if (known?.limits === limits) known.lastUsed = performance.now();
    else {
      const own = Object.fromEntries(
        Object.keys(connection.pool).map((name) => [name, limits[name as keyof PoolLimits]]),
      );
      this.#users.set(connection.id, { limits, own, running: known?.running ?? 0, lastUsed: performance.now() });
      this.#last = undefined;
    }
    if (this.#last?.requested !== limits) {
      const result = {
        ...limits,
        maxSessions: this.#smallest('maxSessions') ?? limits.maxSessions,
        maxChannelsPerSession: this.#smallest('maxChannelsPerSession') ?? limits.maxChannelsPerSession,
      };
      this.#last = { requested: limits, result };
    }
    return this.#last.result;
  }

  /** Starts an operation of this connection; call the returned function when it has ended. */
  enter(connection: Connection): () => void {
    const { id } = connection;
    this.#count(id, 1);
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      this.#count(id, -1);
    };
  }

  /** Forgets connections that have not been used for this long. */
  forget(afterMs: number): void {
    for (const [id, { running, lastUsed }] of this.#users) {
      if (running > 0 || performance.now() - lastUsed <= afterMs) continue;
      this.#users.delete(id);
      this.#last = undefined;
    }
  }

  #count(id: string, change: 1 | -1): void {
    const user = this.#users.get(id);
    if (user === undefined) return;
    user.running += change;
    user.lastUsed = performance.now();
  }

  #smallest(key: 'maxSessions' | 'maxChannelsPerSession'): number | undefined {
    const named = [...this.#users.values()].flatMap(({ own }) => own[key] ?? []);
    return named.length === 0 ? undefined : Math.min(...named);
  }
}
