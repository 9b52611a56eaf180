/**
 * Keeps what a Remote reads and writes below the rate of its connection. Bytes that must wait stay where they are: the
 * body is not read on, and the writer gets nothing, so back-pressure holds back the other side.
 */
import { Readable } from 'node:stream';
import { orAbort } from '../base/deadline.js';
import type { EndSignal } from '../base/ending.js';
import type { ByteRates } from '../shares/byte-rates.js';
import type { Commit, OpenFile, Pieces, Remote, RemoteWriter } from './remote.js';

/** Bytes move several times a second even under a small limit, so that no side takes the transfer for dead. */
const SLICES_PER_SECOND = 20;
const LEAST_SLICE_BYTES = 1024;
const MOST_SLICE_BYTES = 64 * 1024;

let flows = 0;

/** The bytes of one body or writer. */
export class RateFlow {
  readonly #rates: ByteRates;
  readonly #key: string;
  readonly #bytesPerSecond: number;
  readonly #id = String(++flows);
  readonly #sliceBytes: number;
  /** Its bytes wait for the limit, and for nothing else. */
  isWaiting = false;

  constructor(rates: ByteRates, key: string, bytesPerSecond: number) {
    this.#rates = rates;
    this.#key = key;
    this.#bytesPerSecond = bytesPerSecond;
    const slice = Math.floor(bytesPerSecond / SLICES_PER_SECOND);
    this.#sliceBytes = Math.min(Math.max(slice, LEAST_SLICE_BYTES), MOST_SLICE_BYTES);
  }

  /** Resolves when as many bytes may move. */
  async take(bytes: number): Promise<void> {
    this.isWaiting = true;
    await this.#rates.take(this.#key, this.#id, bytes, this.#bytesPerSecond);
    this.isWaiting = false;
  }

  /** The same for bytes without a stream. */
  async takeWhole(bytes: number, signal: EndSignal): Promise<void> {
    try {
      if (bytes > 0) await orAbort(this.take(bytes), signal);
    } finally {
      this.end();
    }
  }

  /** Nothing waits any longer; it can be used again. */
  end(): void {
    this.#rates.leave(this.#key, this.#id);
  }

  /** The parts of a chunk that are moved one after the other. */
  *slices(chunk: Buffer): Generator<Buffer, void> {
    for (let at = 0; at < chunk.length; at += this.#sliceBytes) yield chunk.subarray(at, at + this.#sliceBytes);
  }
}

/** The flow of each body and writer, and of each short file. */
const limited = new WeakMap<object, RateFlow>();

/** The flow of a writer whose connection is limited: who sends bytes to it takes them first. */
export function flowOf(writer: object): RateFlow | undefined {
  return limited.get(writer);
}

/** The flow of what a remote reads. */
const reading = new WeakMap<Remote, RateFlow>();

/** What is read from it waits for the limit: its server is not slow. */
export function isHeldBack(remote: Remote): boolean {
  return reading.get(remote)?.isWaiting === true;
}

interface Limit {
  readonly flow: () => RateFlow;
  readonly signal: EndSignal;
}

/** Returns the same remote: its bodies wait for the limit, and its writers have a flow. */
export function limitRate(remote: Remote, limit: Limit): Remote {
  const read = remote.read.bind(remote);
  const flow = (): RateFlow => {
    const own = limit.flow();
    reading.set(remote, own);
    return own;
  };
  replace(remote, 'read', async (path, select) => limitedFile(await read(path, select), { ...limit, flow }));
  const write = remote.write.bind(remote);
  replace(remote, 'write', async (path, options) => limitedWriter(await write(path, options), limit));
  const append = remote.append?.bind(remote);
  if (append !== undefined) replace(remote, 'append', async (path) => withFlow(await append(path), limit));
  const put = remote.put?.bind(remote);
  if (put !== undefined) {
    replace(remote, 'put', async (path, bytes, options) => {
      await limit.flow().takeWhole(bytes.length, limit.signal);
      return put(path, bytes, options);
    });
  }
  const { pieces } = remote;
  if (pieces !== undefined) replace(remote, 'pieces', limitedPieces(pieces, limit));
  return remote;
}

/** Some protocols have getters there. */
function replace<T extends object, N extends keyof T>(thing: T, name: N, value: T[N]): void {
  Object.defineProperty(thing, name, { value });
}

/** The same object: a spread one would lack the methods of its class. */
function limitedPieces(pieces: Pieces, limit: Limit): Pieces {
  const resume = pieces.resume.bind(pieces);
  replace(pieces, 'resume', async (file, from, options) => withFlow(await resume(file, from, options), limit));
  const sendPart = pieces.sendPart?.bind(pieces);
  if (sendPart !== undefined)
    replace(pieces, 'sendPart', async (file, part) => withFlow(await sendPart(file, part), limit));
  const publish = pieces.publish.bind(pieces);
  replace(pieces, 'publish', (file, commit) => publish(file, limitedCheck(commit, limit)));
  return pieces;
}

function limitedWriter(writer: RemoteWriter, limit: Limit): RemoteWriter {
  const commit = writer.commit.bind(writer);
  replace(writer, 'commit', (asked) => commit(limitedCheck(asked, limit)));
  return withFlow(writer, limit);
}

/** What is read again to be verified is read by the remote itself. */
function limitedCheck<C extends Pick<Commit, 'check'>>(commit: C, limit: Limit): C {
  const { check } = commit;
  if (check === undefined) return commit;
  return { ...commit, check: (open) => check(async () => limitedFile(await open(), limit)) };
}

function withFlow<W extends object | undefined>(writer: W, { flow }: Limit): W {
  if (writer !== undefined) limited.set(writer, flow());
  return writer;
}

async function limitedFile(file: OpenFile, { flow, signal }: Limit): Promise<OpenFile> {
  // A remote may have opened it by another call of its own.
  if (limited.has(file.body ?? file.whole)) return file;
  if (file.whole !== undefined) {
    const own = flow();
    limited.set(file.whole, own);
    await own.takeWhole(file.whole.length, signal);
    return file;
  }
  return { ...file, body: new LimitedBody(file.body, flow()) };
}

class LimitedBody extends Readable {
  readonly #source: Readable;
  readonly #flow: RateFlow;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Generator<Buffer, void> | undefined;

  constructor(source: Readable, flow: RateFlow) {
    super();
    this.#source = source;
    this.#flow = flow;

    // A failure before it is read arrives with the first chunk that is asked for.
    source.on('error', () => undefined);
    this.#chunks = (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    limited.set(this, flow);
  }

  override _read(): void {
    this.#next().then(
      (slice) => this.push(slice),
      (error: Error) => this.destroy(error),
    );
  }

  async #next(): Promise<Buffer | null> {
    for (;;) {
      const slice = this.#rest?.next();
      if (slice?.done === false) {
        await this.#flow.take(slice.value.length);
        return slice.value;
      }
      const next = await this.#chunks.next();
      if (next.done === true || this.destroyed) return null;
      this.#rest = this.#flow.slices(next.value);
    }
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#flow.end();
    this.#source.destroy();
    done(error);
  }
}
