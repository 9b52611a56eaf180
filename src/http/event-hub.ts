/** Server-sent events (HTML Standard, 9.2): the streams of this event loop, their limits, their heartbeat and their end. */
import { Readable } from 'node:stream';
import { Ending } from '../base/ending.js';
import { GatewayError } from '../base/errors.js';
import { Periodic } from '../base/periodic.js';

/** The subject of a stream. An account may have `PER_ACCOUNT` streams of each subject. */
type Subject = 'transfers' | 'job' | 'feed';

const PER_ACCOUNT = 10;
const IN_ALL = 900;
const PING_EVERY_MS = 5000;
const HIGH_WATER_BYTES = 64 * 1024;
const MAX_BEHIND_BYTES = 256 * 1024;
/** When a client opens a stream again that was cut. */
const REOPEN_MS = 2000;

export class EventHub {
  readonly #streams = new Set<EventStream>();
  /** By subject and account. */
  readonly #places = new Map<string, number>();
  #taken = 0;
  #isClosed = false;
  readonly #pinging = new Periodic(() => this.#ping(), PING_EVERY_MS);

  /**
   * A stream, as the body of an answer. `stillOpens`: whether the key or session that asked for it is still valid.
   * @throws GatewayError rate_limited
   */
  open(subject: Subject, accountId: string, stillOpens: () => Promise<boolean>): EventStream {
    const release = this.take(subject, accountId);
    const stream = new EventStream(stillOpens);
    this.#streams.add(stream);
    stream.once('close', () => {
      release();
      this.#streams.delete(stream);
      if (this.#streams.size === 0) void this.#pinging.stop();
    });
    this.#pinging.start();
    stream.say(`retry: ${REOPEN_MS}\n\n`);
    if (this.#isClosed) stream.finish();
    return stream;
  }

  /** Takes the place of a stream, for a request that waits like one. Returns its release. @throws GatewayError rate_limited */
  take(subject: Subject, accountId: string): () => void {
    const key = `${subject} ${accountId}`;
    const own = this.#places.get(key) ?? 0;
    if (own >= PER_ACCOUNT || this.#taken >= IN_ALL) {
      const text = 'too many event streams are open, or requests wait for events; let some of them end';
      throw new GatewayError('rate_limited', text, { step: 'request', retryAfterMs: 10_000 });
    }
    this.#places.set(key, own + 1);
    this.#taken += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#taken -= 1;
      const left = (this.#places.get(key) ?? 1) - 1;
      if (left === 0) this.#places.delete(key);
      else this.#places.set(key, left);
    };
  }

  /** Ends all streams, and those that are opened from now on: they never end by themselves, and would delay a stop. */
  close(): void {
    this.#isClosed = true;
    for (const stream of this.#streams) stream.finish();
  }

  #ping(): void {
    // While a reader has bytes to take, the line is not silent.
    for (const stream of this.#streams) if (stream.readableLength === 0) stream.say(': ping\n\n');
  }
}

/** One event. `data` is JSON. */
export function frameOf(event: string, data: string, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

export class EventStream extends Readable {
  /** Aborts when the stream is over, on either side. */
  readonly ending = new Ending();
  readonly #stillOpens: () => Promise<boolean>;
  #isFull = false;
  #onRoom: (() => void) | undefined;

  constructor(stillOpens: () => Promise<boolean>) {
    super({ highWaterMark: HIGH_WATER_BYTES });
    this.#stillOpens = stillOpens;
  }

  /** Sends text. A reader that is too slow is disconnected. */
  say(text: string): void {
    if (this.ending.aborted) return;
    if (this.readableLength > MAX_BEHIND_BYTES) {
      this.destroy(new GatewayError('client_gone', 'the reader of an event stream fell behind', { step: 'transfer' }));
      return;
    }
    this.#isFull = !this.push(text);
  }

  send(event: string, data: unknown): void {
    this.say(frameOf(event, JSON.stringify(data)));
  }

  /** Resolves when the reader has taken all events so far, or the stream is over. Events that can wait are sent after it. */
  async room(): Promise<void> {
    if (this.#isFull && !this.ending.aborted) await new Promise<void>((resolve) => (this.#onRoom = resolve));
  }

  /** Ends the stream if its key or session is no longer valid; resolves to whether it continues. */
  async goesOn(): Promise<boolean> {
    // Without the database it is not known.
    if (!(await this.#stillOpens().catch(() => true))) this.finish();
    return !this.ending.aborted;
  }

  finish(): void {
    if (this.ending.aborted) return;
    this.#end();
    this.push(null);
  }

  override _read(): void {
    this.#isFull = false;
    this.#onRoom?.();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#end();
    done(error);
  }

  #end(): void {
    if (!this.ending.aborted) this.ending.abort(new Error('the stream is closed'));
    this.#onRoom?.();
  }
}
