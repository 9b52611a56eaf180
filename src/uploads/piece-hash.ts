/**
 * The SHA-256 of a file that comes in pieces. The hash of node:crypto cannot be kept; this one has states of some 100 bytes,
 * which stand in the upload's row with the offsets that they belong to: any node goes on with them.
 */
import { createRequire } from 'node:module';
import type { IHasher } from 'hash-wasm';
import type { RunningHash } from '../remotes/remote.js';

interface HashState {
  /** Bytes of the file that are in it. */
  readonly offset: number;
  /** Of them, those that were read back from the server. */
  readonly readBytes: number;
  readonly state: Uint8Array;
}

const NUMBER_BYTES = 8;
const MOST_STATES = 16;

/** One for all: a state is put into it before each use, so that uploads cost no memory of their own. */
let loading: Promise<IHasher> | undefined;

function loadHasher(): Promise<IHasher> {
  // SHA-256 alone: the package's main module brings all of its algorithms along.
  const { createSHA256 } = createRequire(import.meta.url)('hash-wasm/dist/sha256.umd.min.js') as {
    readonly createSHA256: () => Promise<IHasher>;
  };
  return createSHA256();
}

export class PieceHash implements RunningHash {
  private current: HashState;
  /** By their offsets; the newest may be of bytes that never got to the server. */
  private states: readonly HashState[];

  private constructor(
    private readonly hasher: IHasher,
    saved: Buffer,
  ) {
    const start = { offset: 0, readBytes: 0, state: hasher.init().save() };
    this.states = decode(saved, start.state);
    this.current = this.states.at(-1) ?? start;
  }

  /** `saved`: empty, or what `saved` was before. */
  static async of(saved: Buffer): Promise<PieceHash> {
    return new PieceHash(await (loading ??= loadHasher()), saved);
  }

  get offset(): number {
    return this.current.offset;
  }

  get readBytes(): number {
    return this.current.readBytes;
  }

  /** Of all that has passed so far. */
  get value(): Buffer {
    return Buffer.from(this.hasher.load(this.current.state).digest('binary'));
  }

  get saved(): Buffer {
    return encode(this.states);
  }

  update(bytes: Buffer): void {
    this.pass(bytes, 0);
  }

  /** They come from the server, and not from the client. */
  updateByRead(bytes: Buffer): void {
    this.pass(bytes, bytes.length);
  }

  /** Of the states here, the last ones are kept. */
  keep(): void {
    this.states = [...this.states.filter(({ offset }) => offset < this.offset), this.current].slice(-MOST_STATES);
  }

  /**
   * Keeps the state here too, for a file that can be read: of those before `stands` one is enough, and the others stand the
   * wider apart the older they are. Wherever the server turns out to have come to, little has to be read.
   */
  keepSpaced(stands: number): void {
    const newest = this.states.findLastIndex(({ offset }) => offset <= stands);
    const states = this.states.slice(Math.max(0, newest)).filter(({ offset }) => offset < this.offset);
    if (states.length === MOST_STATES) states.splice(this.mostNeedless(states), 1);
    this.states = [...states, this.current];
  }

  /** Of the file stands so much, and what was passed beyond it counts no more: goes back to the last state within it. */
  standAt(stands: number): void {
    if (this.offset === stands) return this.keep();
    this.states = this.states.filter(({ offset }) => offset <= stands);
    const start = { offset: 0, readBytes: 0, state: this.hasher.init().save() };
    this.current = this.states.at(-1) ?? start;
  }

  /** Of those between others: without it, what would have to be read grows least, for how far back that is. */
  private mostNeedless(states: readonly HashState[]): number {
    const distance = (at: number): number => this.offset - (states[at]?.offset ?? 0);
    const growth = states.slice(2).map((_state, at) => distance(at) / distance(at + 2));
    return growth.indexOf(Math.min(...growth)) + 1;
  }

  private pass(bytes: Buffer, read: number): void {
    const { offset, readBytes, state } = this.current;
    this.current = {
      offset: offset + bytes.length,
      readBytes: readBytes + read,
      state: this.hasher.load(state).update(bytes).save(),
    };
  }
}

function encode(states: readonly HashState[]): Buffer {
  return Buffer.concat(
    states.flatMap(({ offset, readBytes, state }) => {
      const numbers = Buffer.alloc(2 * NUMBER_BYTES);
      numbers.writeBigUInt64BE(BigInt(offset), 0);
      numbers.writeBigUInt64BE(BigInt(readBytes), NUMBER_BYTES);
      return [numbers, state];
    }),
  );
}

/** Those of another version of the library begin otherwise, and nothing is known then. */
function decode(saved: Buffer, start: Uint8Array): HashState[] {
  const size = 2 * NUMBER_BYTES + start.length;
  if (saved.length % size !== 0) return [];
  const states = Array.from({ length: saved.length / size }, (_state, at) => {
    const record = saved.subarray(at * size, (at + 1) * size);
    return {
      offset: Number(record.readBigUInt64BE(0)),
      readBytes: Number(record.readBigUInt64BE(NUMBER_BYTES)),
      state: Uint8Array.from(record.subarray(2 * NUMBER_BYTES)),
    };
  });
  return states.every(({ state }) => VERSION_BYTES.every((at) => state[at] === start[at])) ? states : [];
}

/** Where a state says which build it is of. */
const VERSION_BYTES = [0, 1, 2, 3];
