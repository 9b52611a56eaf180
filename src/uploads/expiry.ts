/** Removes uploads that no client has continued. */
import { DAY_MS } from '../contract/units.js';
import { toGatewayError } from '../base/errors.js';
import { WokenWork } from '../base/woken-work.js';
import { uuidv7 } from '../base/uuid.js';
import { isOfReaching } from '../remotes/reach.js';
import type { Upload } from '../contract/upload.js';
import type { Agenda, Connections, StorageOptions, Uploads } from '../storage/storage.js';
import type { UploadService } from './service.js';
import type { HeldUpload } from './writers.js';

interface ExpiryOptions {
  readonly store: Uploads;
  readonly agenda: Agenda;
  readonly connections: Pick<Connections, 'find'>;
  readonly service: Pick<UploadService, 'end'>;
  readonly log: StorageOptions['log'];
}

/** Between two sweeps: an upload that cannot be removed stays due. */
const REST_MS = 10_000;
const DONE_AT_ONCE = 1000;
const OF_ONE_CONNECTION = 50;
/** Connections that are cleaned concurrently. */
const AT_ONCE = 3;
const CONNECTION_MS = 60_000;
/** For a connection where something has failed: the others come first meanwhile. */
const CLAIM_SECONDS = 300;
/** A remote that is away for longer may never return. */
const GIVE_UP_MS = 7 * DAY_MS;

/** `away`: the server could not be reached, and would not be for its other uploads. */
type Outcome = 'gone' | 'stays' | 'away';

export class Expiry {
  readonly #options: ExpiryOptions;
  readonly #stopped = new AbortController();
  readonly #sweeps = new WokenWork(
    () => this.#sweep(),
    (error) => {
      if (!this.#stopped.signal.aborted)
        this.#warn('expired uploads could not be looked for', { error: String(error) });
    },
    { restMs: REST_MS },
  );
  #stopListening = (): void => undefined;

  constructor(options: ExpiryOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stopListening = this.#options.agenda.on('uploads', () => this.#sweeps.wake());
  }

  async stop(): Promise<void> {
    this.#stopped.abort(new Error('the gateway stops'));
    this.#stopListening();
    await this.#sweeps.stop();
  }

  async #sweep(): Promise<void> {
    const { store } = this.#options;
    while (!this.#stopped.signal.aborted && (await store.forgetDone(DONE_AT_ONCE)) === DONE_AT_ONCE);
    const running = new Set<Promise<void>>();
    try {
      while (!this.#stopped.signal.aborted) {
        const writer = uuidv7();
        // One after the other, so that no two are of one connection.
        const uploads =
          running.size < AT_ONCE ? await store.claimExpired(writer, OF_ONE_CONNECTION, CLAIM_SECONDS) : [];
        if (uploads.length === 0 && running.size === 0) return;
        if (uploads.length === 0) await Promise.race(running);
        else {
          const ending = this.#endSome(uploads, writer).finally(() => running.delete(ending));
          running.add(ending);
        }
      }
    } finally {
      await Promise.all(running);
    }
  }

  /** Ends uploads of one connection. Never rejects. */
  async #endSome(uploads: readonly Upload[], writer: string): Promise<void> {
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(CONNECTION_MS)]);
    let outcome: Outcome = 'gone';
    for (const upload of uploads) {
      if (outcome !== 'away') outcome = await this.#end({ upload, writer }, signal);
      if (outcome !== 'gone' && Date.now() - upload.expiresAt.getTime() > GIVE_UP_MS) {
        await this.#options.store.remove(upload.id, writer).catch(() => undefined);
      }
    }
  }

  async #end(held: Pick<HeldUpload, 'upload' | 'writer'>, signal: AbortSignal): Promise<Outcome> {
    const { connections, service } = this.#options;
    const { id, accountId, connectionId } = held.upload;
    try {
      const connection = await connections.find(accountId, connectionId);
      // If the connection is deleted, the upload is deleted with it.
      if (connection !== undefined) await service.end(connection, held, { signal, priority: 'background' });
      return 'gone';
    } catch (error) {
      this.#warn('an expired upload could not be removed', { connectionId, upload: id, error: String(error) });
      return signal.aborted || isOfReaching(toGatewayError(error)) ? 'away' : 'stays';
    }
  }

  #warn(message: string, facts: Record<string, unknown>): void {
    this.#options.log('warn', message, facts);
  }
}
