/**
 * Only one request at a time writes to an upload, over all nodes. It holds a lease in the database that it renews; a
 * later request of the same key asks it to end, or waits until a dead writer's lease has expired.
 */
import { pause } from '../base/deadline.js';
import type { EndSignal } from '../base/ending.js';
import { GatewayError, unknown } from '../base/errors.js';
import { Periodic } from '../base/periodic.js';
import { uuidv7 } from '../base/uuid.js';
import type { Upload } from '../contract/upload.js';
import type { UploadAddress, UploadLimits, Uploads, WriterProgress } from '../storage/storage.js';

const RENEW_EVERY_MS = 1_000;
/** A lease that could not be renewed for so long may soon belong to another request: well below its length. */
const FENCE_MS = 5_000;
const CHECK_EVERY_MS = 200;
/** A lease that has expired by the database's clock, and is not renewed for so long, belongs to a dead writer. */
const LAPSED_MS = 2 * RENEW_EVERY_MS;
/** By then a writer that was asked has ended, and a dead writer's lease has expired. */
const PATIENCE_MS = 25_000;

export type Progress = Omit<WriterProgress, 'id' | 'writer'>;

/** An upload, held by the request that writes to it. */
export interface HeldUpload {
  readonly writer: string;
  /** As it was found. */
  readonly upload: Upload;
  /** Stored in the database while it writes. */
  progress: () => Progress;
  /** Another request waits: received bytes are kept, and no more are read. */
  asked: (reason: GatewayError) => void;
  /** It belongs to another request now: nothing may be written any more. */
  lost: (reason: GatewayError) => void;
  /** `isExact` false: it is unknown how many bytes are stored. Never rejects. */
  release(isExact: boolean): Promise<void>;
}

interface Holding extends HeldUpload {
  renewedAt: number;
}

export class Writers {
  readonly #store: Uploads;
  readonly #limits: Pick<UploadLimits, 'expireHours'>;
  readonly #holdings = new Map<string, Holding>();
  readonly #fencing = new Periodic(() => this.#fence(), RENEW_EVERY_MS);
  readonly #renewing = new Periodic(() => this.#renew(), RENEW_EVERY_MS);

  constructor(store: Uploads, limits: Pick<UploadLimits, 'expireHours'>) {
    this.#store = store;
    this.#limits = limits;
  }

  /** @throws GatewayError unknown_upload; upload_locked */
  async take(at: UploadAddress, keyId: string, signal: EndSignal): Promise<HeldUpload> {
    const writer = uuidv7();
    const until = performance.now() + PATIENCE_MS;
    let lapsed: { readonly at: string | null; readonly since: number } | undefined;
    for (;;) {
      const startedAt = performance.now();
      const isConfirmed = lapsed !== undefined && startedAt - lapsed.since > LAPSED_MS;
      const lapsedAt = (isConfirmed && lapsed?.at) || undefined;
      const taken = await this.#store.take(at, writer, keyId, this.#limits, lapsedAt);
      if (taken === undefined) throw unknown('upload', at.id);
      if ('upload' in taken) return this.hold(taken.upload, writer, startedAt);
      if (taken.lapsedAt === null) lapsed = undefined;
      else if (taken.lapsedAt !== lapsed?.at) lapsed = { at: taken.lapsedAt, since: performance.now() };
      if ((taken.held === 'by-other' && lapsed === undefined) || performance.now() > until) throw locked();
      for (const holding of this.#holdings.values()) if (holding.upload.id === at.id) holding.asked(goneOn());
      await pause(CHECK_EVERY_MS, signal);
    }
  }

  /** A new upload, which `writer` has created. */
  hold(upload: Upload, writer: string, renewedAt = performance.now()): HeldUpload {
    const holding: Holding = {
      writer,
      upload,
      renewedAt,
      progress: () => ({ storedBytes: upload.storedBytes }),
      asked: () => undefined,
      lost: () => undefined,
      release: async (isExact) => {
        this.#holdings.delete(writer);
        if (this.#holdings.size === 0) {
          void this.#fencing.stop();
          void this.#renewing.stop();
        }
        // Without this call the lease expires by itself.
        await this.#store.release(upload.id, writer, isExact).catch(() => undefined);
      },
    };
    this.#fencing.start();
    this.#renewing.start();
    this.#holdings.set(writer, holding);
    return holding;
  }

  /** Also runs while a renewal waits for the database. */
  #fence(): void {
    const now = performance.now();
    for (const holding of this.#holdings.values()) if (now - holding.renewedAt > FENCE_MS) holding.lost(goneOn());
  }

  async #renew(): Promise<void> {
    const now = performance.now();
    const holdings = [...this.#holdings.values()];
    try {
      const writers = holdings.map(({ upload, writer, progress }) => ({ id: upload.id, writer, ...progress() }));
      const renewed = await this.#store.renew(writers, this.#limits);
      for (const holding of holdings) {
        if (!this.#holdings.has(holding.writer)) continue;
        const answer = renewed.get(holding.writer);
        if (answer === undefined) holding.lost(goneOn());
        else holding.renewedAt = now;
        if (answer?.isAsked === true) holding.asked(goneOn());
      }
    } catch {
      // If renewals keep failing, the fence ends them.
    }
  }
}

export const locked = (): GatewayError =>
  new GatewayError('upload_locked', 'another request is writing to this upload', { step: 'request' });

export const goneOn = (): GatewayError =>
  new GatewayError('upload_locked', 'another request has gone on with this upload', { step: 'transfer' });
