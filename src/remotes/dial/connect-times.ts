/**
 * Records when a socket of an agent was dialled, and how long that took, TLS included: agents do not report which
 * socket they use.
 */
import type { Socket } from 'node:net';

interface Connect {
  /** On the clock of performance.now(). */
  readonly startedAt: number;
  readonly ms: number;
}

const known = new WeakMap<Socket, Connect>();

export async function timed<S extends Socket>(connecting: Promise<S>): Promise<S> {
  const startedAt = performance.now();
  const socket = await connecting;
  known.set(socket, { startedAt, ms: performance.now() - startedAt });
  return socket;
}

/** undefined if no agent has dialled the socket. */
export function connectOf(socket: Socket): Connect | undefined {
  return known.get(socket);
}
