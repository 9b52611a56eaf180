/** Whoever guesses secrets (keys, sessions, links) from one address has to wait, and nobody else at that address. */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { atMost } from '../base/cache-size.js';
import { GatewayError } from '../base/errors.js';
import { networkOf } from './client-address.js';
import type { Failures } from './rate-limits.js';
import type { HttpRequest } from './types.js';

/** Bad secrets from one address in a minute, before it has to wait. */
const MAX_FAILURES = 60;
/**
 * Looked up all the same of an address that has to wait: behind a proxy that is not known as one all clients have one
 * address, and a good key that comes from there for the first time should not have to wait for another one's bad ones.
 */
const SPARE_LOOK_UPS = 10;
/** Look-ups of unknown secrets at once for one address. The others wait: many good ones at once are no guessing. */
const LOOK_UPS_AT_ONCE = 2;
const MAX_KNOWN = 20_000;

export class GuessGuard {
  /** Secrets that were good here, by their hash: whoever brings one is guessing nothing. */
  private readonly known = new LRUCache<string, true>(atMost(MAX_KNOWN));
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
    { remoteAddress }: HttpRequest,
    secret: string,
    lookUp: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const name = hash('sha256', secret, 'base64');
    if (this.known.get(name) === true) return lookUp();
    const network = networkOf(remoteAddress);
    const line = this.lines.get(network) ?? new PQueue({ concurrency: LOOK_UPS_AT_ONCE });
    this.lines.set(network, line);
    try {
      return await line.add(() => this.unlessTooMany(network, name, lookUp));
    } finally {
      if (line.size + line.pending === 0) this.lines.delete(network);
    }
  }

  private async unlessTooMany<T>(
    network: string,
    name: string,
    lookUp: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    // Another request that waited may have shown by now that it is good.
    if (this.known.get(name) === true) return lookUp();
    const { count, msBeforeNext } = await this.failures.take(network);
    const mustWait = new GatewayError('rate_limited', `too many requests with a bad ${this.what} from this address`, {
      step: 'request',
      retryAfterMs: msBeforeNext,
    });
    if (count > MAX_FAILURES + SPARE_LOOK_UPS) throw mustWait;
    let found: T | undefined;
    try {
      found = await lookUp();
    } catch (error) {
      await this.failures.giveBack(network);
      throw error;
    }
    if (found !== undefined) {
      this.known.set(name, true);
      await this.failures.giveBack(network);
    } else if (count > MAX_FAILURES) throw mustWait;
    return found;
  }
}
