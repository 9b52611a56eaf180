import type { Log } from '../startup.js';
import { type EmbeddedServer, startEmbedded } from './embedded.js';

/** An embedded server that has begun to start. Who takes it stops it. */
export class BegunServer {
  readonly #server: Promise<EmbeddedServer>;
  #isTaken = false;

  constructor(dataDir: string, log: Log) {
    this.#server = startEmbedded(dataDir, log);
    // `take` passes its failure on.
    this.#server.catch(() => undefined);
  }

  /** Rejects as startEmbedded does. */
  take(): Promise<EmbeddedServer> {
    this.#isTaken = true;
    return this.#server;
  }

  /** Stops it unless it was taken. */
  async giveUp(): Promise<void> {
    if (this.#isTaken) return;
    const server = await this.#server.catch(() => undefined);
    await server?.stop();
  }
}
