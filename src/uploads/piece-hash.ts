/**
 * The SHA-256 of a file that arrives in pieces. The hash of node:crypto cannot be saved; this one has states of some
 * 100 bytes, which are in the upload's row with their offsets: any node can continue from them.
 */
import { createRequire } from 'node:module';
import type { IHasher } from 'hash-wasm';
import type { RunningHash } from '../remotes/remote.js';

interface HashState {
  /** Bytes of the file that it includes. */
  readonly offset: number;
  /** The part of them that was read back from the server. */
  readonly readBytes: number;
  readonly state: Uint8Array;
}

const NUMBER_BYTES = 8;
const MOST_STATES = 16;

/** Shared by all uploads: a state is loaded into it before each use, so that uploads need no memory of their own. */
let loading: Promise<IHasher> | undefined;

function loadHasher(): Promise<IHasher> {
  // Only SHA-256: the package's main module loads all of its algorithms.
  const { createSHA256 } = createRequire(import.meta.url)('hash-wasm/dist/sha256.umd.min.js') as {
    readonly createSHA256: () => Promise<IHasher>;
  };
  return createSHA256();
}

export class PieceHash implements RunningHash {
  readonly #hasher: IHasher;
  #current: HashState;
  /** By their offsets; the newest may include bytes that never reached the server. */
  #states: readonly HashState[];

  private constructor(hasher: IHasher, saved: Buffer) {
    this.#hasher = hasher;

    const start = { offset: 0, readBytes: 0, state: hasher.init().save() };
    this.#states = decode(saved, start.state);
    this.#current = this.#states.at(-1) ?? start;
  }

  /** `saved`: empty, or the former `saved`. */
  static async of(saved: Buffer): Promise<PieceHash> {
    return new PieceHash(await (loading ??= loadHasher()), saved);
  }

  get offset(): number {
    return this.#current.offset;
  }

  get readBytes(): number {
    return this.#current.readBytes;
  }

  /** The digest of all bytes so far. */
  get value(): Buffer {
    return Buffer.from(this.#hasher.load(this.#current.state).digest('binary'));
  }

  get saved(): Buffer {
    return encode(this.#states);
  }

  update(bytes: Buffer): void {
    this.#pass(bytes, 0);
  }

  /** For bytes that come from the server, not from the client. */
  updateByRead(bytes: Buffer): void {
    this.#pass(bytes, bytes.length);
  }

  /** Saves the current state. The number of stored states is limited. */
  keep(): void {
    this.#states = [...this.#states.filter(({ offset }) => offset < this.offset), this.#current].slice(-MOST_STATES);
  }

  /**
   * Also saves the state here, for a file that can be read: of the states before `storedBytes` one is enough, and the
   * others are spaced wider the older they are. Wherever the server turns out to have stopped, few bytes must be read
   * again.
   */
  keepSpaced(storedBytes: number): void {
    const newest = this.#states.findLastIndex(({ offset }) => offset <= storedBytes);
    const states = this.#states.slice(Math.max(0, newest)).filter(({ offset }) => offset < this.offset);
    if (states.length === MOST_STATES) states.splice(this.#mostNeedless(states), 1);
    this.#states = [...states, this.#current];
  }

  /** The file has `storedBytes` bytes, and later bytes no longer count: returns to the last state within them. */
  rewindTo(storedBytes: number): void {
    if (this.offset === storedBytes) return this.keep();
    this.#states = this.#states.filter(({ offset }) => offset <= storedBytes);
    const start = { offset: 0, readBytes: 0, state: this.#hasher.init().save() };
    this.#current = this.#states.at(-1) ?? start;
  }

  /** The state between others whose removal adds the least bytes to read again, in relation to its age. */
  #mostNeedless(states: readonly HashState[]): number {
    const distance = (at: number): number => this.offset - (states[at]?.offset ?? 0);
    const growth = states.slice(2).map((_state, at) => distance(at) / distance(at + 2));
    return growth.indexOf(Math.min(...growth)) + 1;
  }

  #pass(bytes: Buffer, read: number): void {
    const { offset, readBytes, state } = this.#current;
    this.#current = {
      offset: offset + bytes.length,
      readBytes: readBytes + read,
      state: this.#hasher.load(state).update(bytes).save(),
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

/** States of another version of the library begin otherwise; nothing is known then. */
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

/** The bytes of a state that identify its build. */
const VERSION_BYTES = [0, 1, 2, 3];
