import type { PartJournal, PieceOptions, PieceWriter, Settled, StoredPart, StoredTail } from '../../remote.js';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { sumOfSizes } from '../../../base/numbers.js';
import type { Hold } from '../../../budgets/memory.js';
import { destroyOnAbort } from '../../../base/deadline.js';
import type { Bucket } from './bucket.js';
import { inOpenUpload, type MultipartUpload } from './multipart.js';
import { type Done, WRITER_BUFFER_BYTES } from './sink.js';
import { firstTakenIn, type TailObjects } from './tails.js';

interface PiecePlan extends PieceOptions {
  readonly upload: MultipartUpload;
  readonly journal: PartJournal;
  /** The tails at the beginning of the next part. */
  readonly tails: readonly StoredTail[];
  readonly tailObjects: TailObjects;
  readonly hold: Hold;
  readonly partsInFlight: number;
  /** Offset in the file before this piece. */
  readonly offset: number;
  readonly length: number | undefined;
  /** Number of the next part. */
  readonly number: number;
  /** @throws GatewayError if a part with this number is not allowed */
  bytesOfPart(number: number): number;
}

/** Gathers bytes into parts and sends them; bytes too few for a last part are kept as well. */
export class S3PieceWriter extends Writable implements PieceWriter {
  readonly #plan: PiecePlan;
  #chunks: Buffer[] = [];
  #gathered = 0;
  /** The stored tails before the gathered bytes of this part. */
  #tails: readonly StoredTail[];
  #number: number;
  #partBytes: number;
  #received = 0;
  readonly #inFlight = new Set<Promise<void>>();
  #inFlightBytes = 0;
  #failure: Error | undefined;
  /** Stored, but not in the journal: they count when the whole piece does. */
  readonly #unproven: StoredPart[] = [];

  constructor(bucket: Bucket, plan: PiecePlan) {
    // A finished stream is not done yet: settle() follows.
    super({ autoDestroy: false, highWaterMark: WRITER_BUFFER_BYTES });
    this.#plan = plan;

    this.on('error', () => undefined);
    this.#tails = plan.tails;
    this.#number = plan.number;
    this.#partBytes = plan.bytesOfPart(plan.number);
    destroyOnAbort(this, bucket.calls.context.signal);
  }

  /** What counts beyond it is in the journal. */
  get safeOffset(): number {
    return this.#plan.offset;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#received += chunk.length;
    this.#take(chunk).then(() => done(), done);
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#chunks = [];
    if (error !== null) this.#plan.upload.cut(error);
    done(error);
  }

  async settle(keep: boolean): Promise<Settled> {
    try {
      return await this.#settled(keep);
    } finally {
      // Its request may be kept in memory for as long as the client's connection lives.
      this.#chunks = [];
      this.#plan.hold.resize(0);
    }
  }

  async #settled(keep: boolean): Promise<Settled> {
    const { journal, isProven, offset, length, hash } = this.#plan;
    if (!this.destroyed) this.end();
    await finished(this);
    await Promise.all(this.#inFlight);
    if (this.#failure !== undefined) throw this.#failure;
    const reached = offset + this.#received;
    if (!keep || this.#received === 0) return { offset, isClean: true };
    hash?.keep();
    if (!isProven) await journal.add(this.#unproven);
    const isPart = reached === length || this.#missing <= 0;
    if (isPart) await journal.add([await this.#sendPart(this.#number, await this.#wholePart())]);
    else await this.#keepTail();
    return { offset: reached, isClean: true };
  }

  async #take(chunk: Buffer): Promise<void> {
    for (let rest = chunk; rest.length > 0;) {
      // The tails may already fill the part, if parts are shorter now.
      if (this.#missing <= 0) await this.#start();
      const piece = rest.subarray(0, this.#missing);
      await this.#room(piece.length);
      this.#plan.hash?.update(piece);
      this.#chunks.push(piece);
      this.#gathered += piece.length;
      rest = rest.subarray(piece.length);
    }
  }

  get #missing(): number {
    return this.#partBytes - sumOfSizes(this.#tails) - this.#gathered;
  }

  /** Waits for parts under way to free memory; share_exceeded or overloaded if there are none. */
  async #room(bytes: number): Promise<void> {
    const { hold } = this.#plan;
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const wanted = this.#inFlightBytes + this.#gathered + bytes;
      if (this.#inFlight.size === 0) return hold.require(wanted);
      if (hold.stretch(wanted)) return;
      await Promise.race(this.#inFlight);
    }
  }

  async #start(): Promise<void> {
    while (this.#inFlight.size >= this.#plan.partsInFlight) await Promise.race(this.#inFlight);
    if (this.#failure !== undefined) throw this.#failure;
    this.#plan.hash?.keep();
    const body = await this.#wholePart();
    const number = this.#number;
    this.#inFlightBytes += body.length;
    const sent: Promise<void> = this.#sendCounted(number, body)
      .catch((error: Error) => {
        this.#failure ??= error;
        this.destroy(error);
      })
      .finally(() => {
        this.#inFlight.delete(sent);
        this.#inFlightBytes -= body.length;
        this.#plan.hold.resize(this.#inFlightBytes + this.#gathered);
      });
    this.#inFlight.add(sent);
    this.#chunks = [];
    this.#gathered = 0;
    this.#number += 1;
    this.#partBytes = this.#plan.bytesOfPart(this.#number);
  }

  async #sendCounted(number: number, body: Buffer): Promise<void> {
    const part = await this.#sendPart(number, body);
    if (this.#plan.isProven) await this.#plan.journal.add([part]);
    else this.#unproven.push(part);
  }

  async #sendPart(number: number, body: Buffer): Promise<StoredPart> {
    const { upload } = this.#plan;
    return { number, size: body.length, ...(await inOpenUpload(upload.target.path, upload.sendPart(number, body))) };
  }

  async #keepTail(): Promise<void> {
    const { hold, journal, tailObjects } = this.#plan;
    const merged = firstTakenIn(this.#tails, this.#gathered);
    // Without room to merge, the bytes become one more tail.
    const hasRoom = hold.stretch(2 * (this.#gathered + sumOfSizes(this.#tails.slice(merged))));
    const slot = hasRoom ? merged : this.#tails.length;
    const start = sumOfSizes(this.#tails.slice(0, slot));
    const body = await this.#behind(this.#tails.slice(slot));
    await tailObjects.put(slot, body);
    await journal.keep({ slot, part: this.#number, start, size: body.length });
  }

  async #wholePart(): Promise<Buffer> {
    await this.#room(sumOfSizes(this.#tails));
    const body = await this.#behind(this.#tails);
    this.#tails = [];
    this.#gathered = body.length;
    return body;
  }

  /** The gathered bytes after these tails. */
  async #behind(tails: readonly StoredTail[]): Promise<Buffer> {
    const chunks = [...(await this.#plan.tailObjects.read(tails)), ...this.#chunks];
    const [only] = chunks;
    return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
  }
}
