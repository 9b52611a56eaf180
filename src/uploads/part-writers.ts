/**
 * The requests that write parts of multipart uploads, over all nodes: one for each number. Each holds a lease in the
 * database that it renews. While an upload is ended, no part is taken.
 */
import { orAbort, within } from '../base/deadline.js';
import type { EndSignal } from '../base/ending.js';
import { GatewayError, refusal, unknown } from '../base/errors.js';
import { uuidv7 } from '../base/uuid.js';
import type { Upload } from '../contract/upload.js';
import type { RemotePath } from '../remotes/path.js';
import type { Lapse, MultipartParts, PartPlace, UploadAddress, UploadLimits } from '../storage/storage.js';
import { hiddenNameBeside } from './begin.js';
import { LAPSED_MS, type WriterLease, WriterLeases, locked, PATIENCE_MS } from './leases.js';
import type { Writers } from './writers.js';

/** A part that waits on another node is not heard. */
const CHECK_EVERY_MS = 500;

/** Another part than the first may define the usual size of parts after this time. */
const DEFINE_MS = 300;
/** For a part of an odd size, while the usual one is unknown. */
const SIZE_MS = 2_000;
/** For a turn, while no other part arrives before it. */
const TURN_MS = 20_000;

interface PartWriterOptions {
  readonly parts: MultipartParts;
  readonly writers: Pick<Writers, 'take'>;
  readonly limits: Pick<UploadLimits, 'expireHours'>;
  /** For the whole upload; 0 = no limit. */
  readonly maxBytes: number;
}

interface WantedPart {
  /** Its hidden files are beside it. */
  readonly path: RemotePath;
  readonly number: number;
  readonly size: number;
  /** It cannot be written in the file of the upload. */
  readonly mustGoAside?: boolean;
}

/** A part, held by the request that writes it. */
export interface HeldPart extends PartPlace, WriterLease {
  readonly id: string;
  readonly number: number;
  readonly upload: Upload;
  /** `isStored`: its row is stored; otherwise none of its bytes count. Never rejects. */
  release(isStored: boolean): Promise<void>;
}

export class PartWriters {
  readonly #options: PartWriterOptions;
  readonly #leases = new WriterLeases<HeldPart>((held) => this.#options.parts.renew(held));
  /** Those who wait on this node, by upload. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(options: PartWriterOptions) {
    this.#options = options;
  }

  /**
   * Waits until the part may be written, and decides where. Errors: unknown_upload, even for an upload of another path;
   * upload_locked, too_large.
   */
  async take(
    at: UploadAddress,
    { path, number, size, mustGoAside = false }: WantedPart,
    { keyId, signal }: { readonly keyId: string; readonly signal: EndSignal },
  ): Promise<HeldPart> {
    const { parts, limits, maxBytes } = this.#options;
    const writer = uuidv7();
    const beganAt = performance.now();
    const lapses = new Lapses();
    let pulse = '';
    let movedAt = beganAt;
    let isImpatient = false;
    for (;;) {
      const now = performance.now();
      const claim = {
        path,
        number,
        size,
        writer,
        aside: hiddenNameBeside(path),
        mustGoAside,
        isImpatient,
        maxBytes,
        dead: lapses.confirmed(now),
      };
      const defines = now - beganAt >= DEFINE_MS;
      const claimed = await parts.claim(at, { ...claim, defines }, limits);
      if (claimed === undefined) throw unknown('upload', at.id);
      if ('upload' in claimed) {
        const held = this.#hold({ ...claimed, id: at.id, number, writer }, now);
        await this.#leases.freshen(held);
        return held;
      }
      lapses.seen(claimed.lapses, now);
      // Another part that arrives before it may still make room for it.
      if (claimed.pulse !== pulse || claimed.pulse.endsWith(writer)) movedAt = now;
      pulse = claimed.pulse;
      const { waits } = claimed;
      if (waits === 'size') isImpatient = now - beganAt > SIZE_MS;
      if (waits === 'turn') isImpatient ||= now - movedAt > TURN_MS;
      if ((waits === 'part' || waits === 'end') && now - beganAt > PATIENCE_MS) throw locked();
      if (waits === 'end') await this.#awaitEnd(at, keyId, signal);
      else await this.#rest(at.id, waits === 'size' ? DEFINE_MS : CHECK_EVERY_MS, signal);
    }
  }

  /** Waits until no request writes a part of the upload, whose end the caller holds. @throws GatewayError upload_locked */
  async clear(id: string, signal: EndSignal): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    const lapses = new Lapses();
    for (;;) {
      const now = performance.now();
      const left = await this.#options.parts.writers(id, lapses.confirmed(now));
      if (left === undefined) return;
      lapses.seen(left, now);
      for (const part of this.#leases) if (part.id === id) part.lost(ended());
      if (now > until) throw locked();
      await this.#rest(id, CHECK_EVERY_MS, signal);
    }
  }

  #hold(part: Omit<HeldPart, 'asked' | 'lost' | 'release'>, renewedAt: number): HeldPart {
    const { id, number, writer } = part;
    const held: HeldPart = {
      ...part,
      asked: () => held.lost(ended()),
      lost: () => undefined,
      release: async (isStored) => {
        this.#leases.remove(held);
        // Without this call the lease expires.
        if (!isStored) await this.#options.parts.release({ id, number, writer }).catch(() => undefined);
        for (const wake of this.#waiting.get(id) ?? []) wake();
      },
    };
    this.#leases.add(held, renewedAt);
    return held;
  }

  /** A writer that ends the upload may have died. */
  async #awaitEnd(at: UploadAddress, keyId: string, signal: EndSignal): Promise<void> {
    const held = await this.#options.writers.take(at, { keyId, signal });
    await held.release(true);
    if (held.upload.state === 'publishing') throw refusal('upload_locked', 'this upload is being completed');
  }

  async #rest(id: string, ms: number, signal: EndSignal): Promise<void> {
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting);
    let wake = (): void => undefined;
    try {
      const woken = new Promise<void>((done) => waiting.add((wake = done)));
      await within(orAbort(woken, signal), ms, () => undefined);
    } finally {
      // Otherwise the signal would keep its listener.
      wake();
      waiting.delete(wake);
      if (waiting.size === 0) this.#waiting.delete(id);
    }
  }
}

/** Leases that are over: a clock that jumps ahead ends none that is renewed. */
class Lapses {
  #since = new Map<string, { readonly lapse: Lapse; readonly at: number }>();

  seen(lapses: readonly Lapse[], now: number): void {
    const former = this.#since;
    this.#since = new Map(
      lapses.map((lapse) => {
        const key = `${lapse.writer} ${lapse.until}`;
        return [key, { lapse, at: former.get(key)?.at ?? now }];
      }),
    );
  }

  confirmed(now: number): readonly Lapse[] {
    return [...this.#since.values()].filter(({ at }) => now - at > LAPSED_MS).map(({ lapse }) => lapse);
  }
}

const ended = (): GatewayError =>
  new GatewayError('upload_locked', 'the upload is being completed or ended', { step: 'transfer' });
