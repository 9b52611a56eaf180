import { LRUCache } from 'lru-cache';
import { atMost } from '../../base/cache-size.js';

const MAX_FOUND = 20_000;
/** Separate from the found ones, so that a flood of wrong keys evicts no valid key. */
const MAX_ABSENT = 5000;
/** How old an answer may be. */
export const CACHED_MS = 1000;
/** The clock is read each time: otherwise a timer is set in each millisecond with a look-up. */
const TTL = { ttl: CACHED_MS, ttlResolution: 0 } as const;

/** Caches look-ups for at most a second, including absent ones; simultaneous callers share one question. */
export class CachedLookup<V extends object> {
  readonly #load: (key: string) => Promise<V | undefined>;
  readonly #found = new LRUCache<string, V>({ ...atMost(MAX_FOUND), ...TTL });
  readonly #absent = new LRUCache<string, true>({ ...atMost(MAX_ABSENT), ...TTL });
  readonly #loading = new Map<string, Promise<V | undefined>>();

  constructor(load: (key: string) => Promise<V | undefined>) {
    this.#load = load;
  }

  /** Without a question. */
  recall(key: string): V | undefined {
    return this.#found.get(key);
  }

  async find(key: string): Promise<V | undefined> {
    const found = this.#found.get(key);
    if (found !== undefined) return found;
    if (this.#absent.has(key)) return undefined;
    return this.#loading.get(key) ?? this.#start(key);
  }

  /** The next find asks again, even while a question runs. */
  forget(key: string): void {
    this.#found.delete(key);
    this.#absent.delete(key);
    this.#loading.delete(key);
  }

  clear(): void {
    this.#found.clear();
    this.#absent.clear();
    this.#loading.clear();
  }

  async #start(key: string): Promise<V | undefined> {
    const question = this.#load(key);
    this.#loading.set(key, question);
    try {
      const value = await question;
      // An answer from before a forget() must not come back.
      if (this.#loading.get(key) === question) {
        if (value === undefined) this.#absent.set(key, true);
        else this.#found.set(key, value);
      }
      return value;
    } finally {
      if (this.#loading.get(key) === question) this.#loading.delete(key);
    }
  }
}
