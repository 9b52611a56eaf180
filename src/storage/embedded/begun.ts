import type { Log } from '../startup.js';
import { type EmbeddedServer, startEmbedded } from './embedded.js';

/** An embedded server that is starting. The caller of `take` has to stop it. */
export class BegunServer {
  readonly #server: Promise<EmbeddedServer>;
  #isTaken = false;

  constructor(dataDir: string, log: Log) {
    this.#server = startEmbedded(dataDir, log);
    // `take` passes on its failure.
    this.#server.catch(() => undefined);
  }

  /** Rejects like startEmbedded. */
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
