import http from 'node:http';
import type { Duplex } from 'node:stream';

/** Half of what the gateway grants by default (`server.keepAliveSeconds`). */
const REST_MS = 2_500;

/**
 * Keeps connections between requests. The agent of Node.js closes a resting one by a timer, which is late on a busy
 * machine: then a request goes into a connection that the server has just closed, and fails with ECONNRESET.
 */
export class KeptConnections extends http.Agent {
  readonly #restingSince = new WeakMap<Duplex, number>();

  constructor(options: http.AgentOptions = {}) {
    // With its own timeout the agent follows the one in answers (Keep-Alive).
    super({ keepAlive: true, timeout: 120_000, ...options });
    this.on('free', (socket: Duplex) => this.#restingSince.set(socket, performance.now()));
  }

  /** Call before each request: closes those that the server may be about to close. */
  dropRested(): this {
    const before = performance.now() - REST_MS;
    for (const sockets of Object.values(this.freeSockets))
      for (const socket of sockets ?? []) if ((this.#restingSince.get(socket) ?? 0) < before) socket.destroy();
    return this;
  }
}
