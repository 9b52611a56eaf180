/**
 * Only one request at a time writes to an upload, over all nodes. It holds a lease in the database that it renews; a
 * later request of the same key asks it to end, or waits until a dead writer's lease has expired.
 */
import { pause } from '../base/deadline.js';
import type { EndSignal } from '../base/ending.js';
import { type GatewayError, goneOn, unknown } from '../base/errors.js';
import { uuidv7 } from '../base/uuid.js';
import type { Upload } from '../contract/upload.js';
import type { UploadAddress, UploadLimits, Uploads, WriterProgress } from '../storage/storage.js';
import { LAPSED_MS, type WriterLease, WriterLeases, locked, PATIENCE_MS } from './leases.js';

const CHECK_EVERY_MS = 200;
/** For a completion, which may take minutes. */
const CHECK_COMPLETION_MS = 1_000;

/** The request that wants to write. */
interface WriterRequest {
  readonly keyId: string;
  readonly signal: EndSignal;
  /** The entity tag of the parts that it joins: it waits while another request joins the same ones. */
  readonly completing?: string;
}

export type Progress = Omit<WriterProgress, 'id' | 'writer'>;

/** An upload, held by the request that writes to it. */
export interface HeldUpload extends WriterLease {
  /** As it was found. */
  readonly upload: Upload;
  /** Stored in the database while it writes. */
  progress: () => Progress;
  /** Another request waits: received bytes are kept, and no more are read. */
  asked: (reason: GatewayError) => void;
  /** `isExact` false: it is unknown how many bytes are stored. Never rejects. */
  release(isExact: boolean): Promise<void>;
}

export class Writers {
  readonly #store: Uploads;
  readonly #limits: Pick<UploadLimits, 'expireHours'>;
  readonly #leases = new WriterLeases<HeldUpload>((held) =>
    this.#store.renew(
      held.map(({ upload, writer, progress }) => ({ id: upload.id, writer, ...progress() })),
      this.#limits,
    ),
  );

  constructor(store: Uploads, limits: Pick<UploadLimits, 'expireHours'>) {
    this.#store = store;
    this.#limits = limits;
  }

  /** @throws GatewayError unknown_upload; upload_locked */
  async take(at: UploadAddress, { keyId, signal, completing }: WriterRequest): Promise<HeldUpload> {
    const writer = uuidv7();
    let until = performance.now() + PATIENCE_MS;
    let lapsed: { readonly at: string | null; readonly since: number } | undefined;
    for (;;) {
      const startedAt = performance.now();
      const isConfirmed = lapsed !== undefined && startedAt - lapsed.since > LAPSED_MS;
      const lapsedAt = (isConfirmed && lapsed?.at) || undefined;
      const taken = await this.#store.take(at, { writer, keyId, completing, lapsedAt }, this.#limits);
      if (taken === undefined) throw unknown('upload', at.id);
      if ('upload' in taken) {
        const held = this.hold(taken.upload, writer, startedAt);
        await this.#leases.freshen(held);
        return held;
      }
      if (taken.lapsedAt === null) lapsed = undefined;
      else if (taken.lapsedAt !== lapsed?.at) lapsed = { at: taken.lapsedAt, since: performance.now() };
      const isSame = taken.held === 'by-same';
      if (isSame && lapsed === undefined) until = performance.now() + PATIENCE_MS;
      if ((taken.held === 'by-other' && lapsed === undefined) || performance.now() > until) throw locked();
      for (const { upload, asked } of this.#leases) if (upload.id === at.id) asked(goneOn());
      await pause(isSame ? CHECK_COMPLETION_MS : CHECK_EVERY_MS, signal);
    }
  }

  /** A new upload, which `writer` has created. */
  hold(upload: Upload, writer: string, renewedAt = performance.now()): HeldUpload {
    const held: HeldUpload = {
      writer,
      upload,
      progress: () => ({ storedBytes: upload.storedBytes }),
      asked: () => undefined,
      lost: () => undefined,
      release: async (isExact) => {
        this.#leases.remove(held);
        // Without this call the lease expires.
        await this.#store.release(upload.id, writer, isExact).catch(() => undefined);
      },
    };
    this.#leases.add(held, renewedAt);
    return held;
  }
}
