/** Guesses of secrets (keys, sessions, links) from one address have to wait; good secrets from that address never do. */
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
 * Of those that begin alike, one in this time is looked up from then on, and the others cost nothing. Those that begin otherwise
 * are looked up all the same: behind a proxy that is not known as one all clients have one address, and a good key must not
 * wait for another one's bad ones.
 */
const SPARE_LOOK_UP_EVERY_MS = 1_000;
/** The beginning of a secret. Generated keys have four random characters in it, links eight. */
const PREFIX_CHARACTERS = 8;
/** Look-ups of unknown secrets at once for one address. The others wait: many good ones at once are no guessing. */
const LOOK_UPS_AT_ONCE = 2;
const MAX_KNOWN = 20_000;

export class GuessGuard {
  /** Secrets that were good here, by their hash: whoever brings one is guessing nothing. */
  private readonly known = new LRUCache<string, true>(atMost(MAX_KNOWN));
  /** When one was looked up last, by network and beginning, of those that are too many. */
  private readonly spared = new LRUCache<string, number>(atMost(MAX_KNOWN));
  /** By network. */
  private readonly lines = new Map<string, PQueue>();

  constructor(
    private readonly failures: Failures,
    private readonly what: string,
  ) {}

  /**
   * Looks a secret up. One that was not good here before is counted first and given back when it is good, so
   * that neither bad ones nor many at once cost look-ups without end. @throws GatewayError rate_limited
   */
  async unlessGuessing<T>(
    { remoteAddress }: Pick<HttpRequest, 'remoteAddress'>,
    secret: string,
    lookUp: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const name = hash('sha256', secret, 'base64');
    if (this.known.get(name) === true) return lookUp();
    const network = networkOf(remoteAddress);
    const line = this.lines.get(network) ?? new PQueue({ concurrency: LOOK_UPS_AT_ONCE });
    this.lines.set(network, line);
    try {
      const alike = secret.slice(0, PREFIX_CHARACTERS);
      return await line.add(() => this.unlessTooMany(network, { name, alike }, lookUp));
    } finally {
      if (line.size + line.pending === 0) this.lines.delete(network);
    }
  }

  private async unlessTooMany<T>(
    network: string,
    { name, alike }: { readonly name: string; readonly alike: string },
    lookUp: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    // Another request that waited may have shown by now that it is good.
    if (this.known.get(name) === true) return lookUp();
    // What is counted together here has one kind: bad links say nothing of keys.
    const all = `${this.what} ${network}`;
    const ofPrefix = `${all} ${hash('sha256', alike, 'base64')}`;
    const [ofAll, ofAlike] = await Promise.all([this.failures.take(all), this.failures.take(ofPrefix)]);
    const giveBack = (): Promise<unknown> =>
      Promise.all([this.failures.giveBack(all), this.failures.giveBack(ofPrefix)]);
    const mustWait = new GatewayError('rate_limited', `too many requests with a bad ${this.what} from this address`, {
      step: 'request',
      retryAfterMs: ofAll.msBeforeNext,
    });
    if (ofAlike.count > MAX_FAILURES && !this.mayBeSpared(ofPrefix)) throw mustWait;
    let found: T | undefined;
    try {
      found = await lookUp();
    } catch (error) {
      await giveBack();
      throw error;
    }
    if (found !== undefined) {
      this.known.set(name, true);
      await giveBack();
    } else if (ofAll.count > MAX_FAILURES) throw mustWait;
    return found;
  }

  private mayBeSpared(ofPrefix: string): boolean {
    const now = performance.now();
    if (now - (this.spared.get(ofPrefix) ?? -Infinity) < SPARE_LOOK_UP_EVERY_MS) return false;
    this.spared.set(ofPrefix, now);
    return true;
  }
}
