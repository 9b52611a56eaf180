/**
 * Makes guesses of secrets (keys, sessions, links) from one address wait; valid secrets from that address never wait.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { atMost } from '../base/cache-size.js';
import { GatewayError } from '../base/errors.js';
import { networkOf } from './client-address.js';
import type { Failures } from './rate-limits.js';
import type { HttpRequest } from './types.js';

/** Bad secrets of one kind from one address in a minute, before further ones are answered with 429. */
const MAX_FAILURES = 60;
/**
 * After that, of secrets with the same beginning, only one in this time is looked up; the others cost nothing. Secrets
 * with another beginning are still looked up: behind an unknown proxy all clients have one address, and a valid
 * key must not wait because of another client's bad ones.
 */
const SPARE_LOOK_UP_EVERY_MS = 1_000;
/** The length of a secret's beginning. Generated keys have four random characters in it, links eight. */
const PREFIX_CHARACTERS = 8;
/** Concurrent look-ups of unknown secrets for one address. The others wait: many valid ones at once are not guesses. */
const LOOK_UPS_AT_ONCE = 2;
const MAX_KNOWN = 20_000;

export class GuessGuard {
  readonly #failures: Failures;
  readonly #what: string;
  /** Secrets that were valid here, by their hash: a client that sends one is not guessing. */
  readonly #known = new LRUCache<string, true>(atMost(MAX_KNOWN));
  /** The time of the last look-up, by network and beginning, for beginnings with too many failures. */
  readonly #lastLookUps = new LRUCache<string, number>(atMost(MAX_KNOWN));
  /** By network. */
  readonly #lines = new Map<string, PQueue>();

  constructor(failures: Failures, what: string) {
    this.#failures = failures;
    this.#what = what;
  }

  /**
   * Looks a secret up. A secret that was not valid here before is counted first, and uncounted if it is valid, so that
   * neither bad secrets nor many at once cause endless look-ups. @throws GatewayError rate_limited
   */
  async unlessGuessing<T>(
    { remoteAddress }: Pick<HttpRequest, 'remoteAddress'>,
    secret: string,
    lookUp: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const name = hash('sha256', secret, 'base64');
    if (this.#known.get(name) === true) return lookUp();
    const network = networkOf(remoteAddress);
    const line = this.#lines.get(network) ?? new PQueue({ concurrency: LOOK_UPS_AT_ONCE });
    this.#lines.set(network, line);
    try {
      const alike = secret.slice(0, PREFIX_CHARACTERS);
      return await line.add(() => this.#unlessTooMany(network, { name, alike }, lookUp));
    } finally {
      if (line.size + line.pending === 0) this.#lines.delete(network);
    }
  }

  async #unlessTooMany<T>(
    network: string,
    { name, alike }: { readonly name: string; readonly alike: string },
    lookUp: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    // Another waiting request may have shown by now that it is valid.
    if (this.#known.get(name) === true) return lookUp();
    // Counted per kind: bad links say nothing about keys.
    const all = `${this.#what} ${network}`;
    const ofPrefix = `${all} ${hash('sha256', alike, 'base64')}`;
    const [ofAll, ofAlike] = await Promise.all([this.#failures.take(all), this.#failures.take(ofPrefix)]);
    const giveBack = (): Promise<unknown> =>
      Promise.all([this.#failures.giveBack(all), this.#failures.giveBack(ofPrefix)]);
    const mustWait = new GatewayError('rate_limited', `too many requests with a bad ${this.#what} from this address`, {
      step: 'request',
      retryAfterMs: ofAll.msBeforeNext,
    });
    if (ofAlike.count > MAX_FAILURES && !this.#mayBeSpared(ofPrefix)) throw mustWait;
    let found: T | undefined;
    try {
      found = await lookUp();
    } catch (error) {
      await giveBack();
      throw error;
    }
    if (found !== undefined) {
      this.#known.set(name, true);
      await giveBack();
    } else if (ofAll.count > MAX_FAILURES) throw mustWait;
    return found;
  }

  #mayBeSpared(ofPrefix: string): boolean {
    const now = performance.now();
    if (now - (this.#lastLookUps.get(ofPrefix) ?? -Infinity) < SPARE_LOOK_UP_EVERY_MS) return false;
    this.#lastLookUps.set(ofPrefix, now);
    return true;
  }
}
