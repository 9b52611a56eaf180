/**
 * Finds names of one folder that its destination may treat as equal, because they differ only in case, or in how their
 * letters are composed. Such a pair is rare, and only if there is one the destination is asked.
 * Only some bytes of each name are kept. For a folder of very many names the destination is asked early: one that
 * distinguishes all names needs no comparison.
 */
import { isUtf8 } from 'node:buffer';
import { GatewayError, hasCode } from '../base/errors.js';
import { find } from '../operations/conflicts.js';
import { makeHiddenFile, removeHiddenFile } from '../remotes/hidden-file.js';
import { baseName, joinPath, type RemotePath } from '../remotes/path.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { Remote } from '../remotes/remote.js';

/** The differences in names that a folder ignores. */
export interface Folding {
  readonly ignoresCase: boolean;
  readonly ignoresComposition: boolean;
}

const ASK_EARLY = 500_000;
const MOST_NAMES = 4_000_000;

export class NamesOfFolder {
  readonly #ask: () => Promise<Folding>;
  readonly #askEarly: number;
  #names: HashSet | undefined = new HashSet();
  /** ASCII names differ only in case: these sets hold the other names. */
  #byCase = new HashSet();
  #byComposition = new HashSet();
  #folding: Folding | undefined;
  #isLike = { case: false, composition: false, either: false };

  constructor(ask: () => Promise<Folding>, askEarly = ASK_EARLY) {
    this.#ask = ask;
    this.#askEarly = askEarly;
  }

  /** Whether the destination would treat the last name as equal to an earlier one. */
  get isClash(): boolean {
    const { ignoresCase = false, ignoresComposition = false } = this.#folding ?? {};
    if (ignoresCase && ignoresComposition) return this.#isLike.either;
    return (ignoresCase && this.#isLike.case) || (ignoresComposition && this.#isLike.composition);
  }

  /** Unknown before the destination has been asked. */
  get mustAsk(): boolean {
    if (this.#folding !== undefined || this.#names === undefined) return false;
    return this.#isLike.either || this.#names.size >= this.#askEarly;
  }

  async learn(): Promise<void> {
    this.#folding ??= await this.#ask();
    if (!this.#folding.ignoresCase && !this.#folding.ignoresComposition) this.#names = undefined;
  }

  /** Forgets all names. */
  startOver(): void {
    this.#isLike = { case: false, composition: false, either: false };
    this.#byCase = new HashSet();
    this.#byComposition = new HashSet();
    this.#names &&= new HashSet();
  }

  /** @throws GatewayError too_large */
  add(key: Buffer): void {
    if (this.#names === undefined) return;
    if (this.#names.size >= MOST_NAMES) {
      const text = `the folder holds more than ${MOST_NAMES} names, and the destination takes some names for the same`;
      throw new GatewayError('too_large', text, { step: 'open' });
    }
    if (isAscii(key)) {
      const either = !this.#names.add(key.toString('latin1').toLowerCase());
      this.#isLike = { case: either, composition: false, either };
      return;
    }
    const name = isUtf8(key) ? key.toString() : key.toString('latin1');
    const composed = name.normalize('NFC');
    this.#isLike = {
      case: !this.#byCase.add(withoutCase(name)),
      composition: !this.#byComposition.add(composed),
      either: !this.#names.add(withoutCase(composed).normalize('NFC')),
    };
  }
}

/** Upper case merges more letters than lower case: both lower-case sigmas become one. */
const withoutCase = (name: string): string => name.toUpperCase().toLowerCase();

function isAscii(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte > 0x7f) return false;
  return true;
}

const PARTS = 16;

/** A set of texts, by 64 bits of each: in parts, none of which takes long to grow. */
class HashSet {
  size = 0;
  readonly #parts: HashSetPart[] = [];

  /** False if it is there already. */
  add(text: string): boolean {
    let [one, other] = [0x811c9dc5, 0x9e3779b9];
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      one = Math.imul(one ^ code, 0x01000193);
      other = Math.imul(other ^ code, 0x85ebca6b) ^ (other >>> 15);
    }
    const place = mixed(other ^ one);
    const part = (this.#parts[place % PARTS] ??= new HashSetPart());
    // 0 marks an empty place.
    const isNew = part.add(mixed(one) || 1, Math.floor(place / PARTS));
    if (isNew) this.size += 1;
    return isNew;
  }
}

class HashSetPart {
  #size = 0;
  #words = new Uint32Array(16);

  add(one: number, other: number): boolean {
    if (4 * this.#size >= this.#words.length) this.#grow();
    return this.#place(one, other);
  }

  #place(one: number, other: number): boolean {
    const words = this.#words;
    const mask = words.length / 2 - 1;
    for (let at = other & mask; ; at = (at + 1) & mask) {
      if (words[2 * at] === one && words[2 * at + 1] === other) return false;
      if (words[2 * at] !== 0) continue;
      words[2 * at] = one;
      words[2 * at + 1] = other;
      this.#size += 1;
      return true;
    }
  }

  #grow(): void {
    const words = this.#words;
    this.#words = new Uint32Array(2 * words.length);
    this.#size = 0;
    for (let at = 0; at < words.length; at += 2) {
      const one = words[at] ?? 0;
      if (one !== 0) this.#place(one, words[at + 1] ?? 0);
    }
  }
}

function mixed(word: number): number {
  const half = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  const whole = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return (whole ^ (whole >>> 16)) >>> 0;
}

const ALL: Folding = { ignoresCase: true, ignoresComposition: true };

/**
 * Tests it with a hidden file that is looked up under other spellings, and removed. If none can be written, the worst
 * case is assumed.
 */
export async function foldingOf(remote: Remote, folder: RemotePath, leftovers: Leftovers): Promise<Folding> {
  let path: RemotePath;
  try {
    path = await makeHiddenFile(remote, folder, 'spelt-é', leftovers);
  } catch (error) {
    if (!hasCode(error, 'permission_denied', 'bad_path', 'unsupported_operation')) throw error;
    return ALL;
  }
  try {
    const name = baseName(path);
    const isThere = async (other: string): Promise<boolean> =>
      (await find(remote, joinPath(folder, other))) !== undefined;
    return {
      ignoresCase: await isThere(name.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())),
      ignoresComposition: await isThere(name.normalize('NFD')),
    };
  } finally {
    await removeHiddenFile(remote, path, leftovers);
  }
}
