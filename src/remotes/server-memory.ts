import { DAY_MS } from '../contract/units.js';
import { LRUCache } from 'lru-cache';
import { atMost } from '../base/cache-size.js';
import { serverOf, type Way } from './dial/dial.js';

const MAX_SERVERS = 10_000;
const FORGET_AFTER_MS = DAY_MS;

/**
 * What one protocol has learned about its servers, by `host:port` and the way to it, for later operations. A server is
 * forgotten a day after its last login, or when too many others are known; that costs round trips, never a file.
 */
export class ServerMemory<Learned extends object> {
  readonly #assume: (host: string) => Learned;
  readonly #servers = new LRUCache<string, Learned>({
    ...atMost(MAX_SERVERS),
    ttl: FORGET_AFTER_MS,
    updateAgeOnGet: true,
  });

  /** `assume`: returns the assumptions about an unknown server. */
  constructor(assume: (host: string) => Learned) {
    this.#assume = assume;
  }

  of(host: string, way: Way): Learned {
    const server = serverOf(host, way);
    const known = this.#servers.get(server);
    if (known !== undefined) return known;
    const learned = this.#assume(host);
    this.#servers.set(server, learned);
    return learned;
  }
}
