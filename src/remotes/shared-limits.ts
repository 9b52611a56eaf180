import type { Connection, PoolLimits } from '../connections/connection.js';

interface User {
  /** Those that it names itself, as they hold for it. */
  readonly own: Partial<PoolLimits>;
  running: number;
  lastUsed: number;
}

/**
 * The limits of a pool that several connections with one login share. What describes the server (sessions, channels) is
 * the smallest value that any of them names, as long as it is in use; the rest is the asking connection's own.
 */
export class SharedLimits {
  private readonly users = new Map<string, User>();

  /** Notes that `connection` asks, and with which limits; returns those of the pool from now on. */
  use(connection: Connection, limits: PoolLimits): PoolLimits {
    const known = this.users.get(connection.id);
    const own = Object.fromEntries(
      Object.keys(connection.pool).map((name) => [name, limits[name as keyof PoolLimits]]),
    );
    this.users.set(connection.id, { own, running: known?.running ?? 0, lastUsed: performance.now() });
    return {
      ...limits,
      maxSessions: this.smallest('maxSessions') ?? limits.maxSessions,
      maxChannelsPerSession: this.smallest('maxChannelsPerSession') ?? limits.maxChannelsPerSession,
    };
  }

  /** An operation of this connection begins; call what comes back when it has ended. */
  enter(connection: Connection): () => void {
    const { id } = connection;
    this.count(id, 1);
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      this.count(id, -1);
    };
  }

  /** Lets go of connections that have not been used for this long. */
  forget(afterMs: number): void {
    for (const [id, { running, lastUsed }] of this.users) {
      if (running === 0 && performance.now() - lastUsed > afterMs) this.users.delete(id);
    }
  }

  private count(id: string, change: 1 | -1): void {
    const user = this.users.get(id);
    if (user === undefined) return;
    user.running += change;
    user.lastUsed = performance.now();
  }

  private smallest(key: 'maxSessions' | 'maxChannelsPerSession'): number | undefined {
    const named = [...this.users.values()].flatMap(({ own }) => own[key] ?? []);
    return named.length === 0 ? undefined : Math.min(...named);
  }
}
