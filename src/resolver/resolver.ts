/**
 * Resolves names to addresses, for every outgoing socket. Look-ups are bounded and divided by account; only one query
 * for a name runs at a time, and its answer is kept as long as it allows, within bounds.
 */
import { lookup as getaddrinfo } from 'node:dns/promises';
import path from 'node:path';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { isPlain } from '../base/visible.js';
import { systemCodeOf } from '../base/errors.js';
import { atMost } from '../base/cache-size.js';
import { waitFor } from '../base/deadline.js';
import { Budget } from '../budgets/budget.js';
import { type NameAnswer, askNameServers, nameError } from './name-servers.js';
import { parseHosts, parseSearchRules, watchedFile } from './system-files.js';

interface LookupOptions {
  /** The account that asks. */
  readonly owner: string;
  readonly signal: AbortSignal;
}

/**
 * All addresses of a name, in the order in which they are to be tried. Rejects with an error whose `code` is one of
 * getaddrinfo's, with share_exceeded or overloaded, or with the signal's reason.
 */
export type Lookup = (name: string, options: LookupOptions) => Promise<readonly { readonly address: string }[]>;

interface ResolverOptions {
  /** `system` = getaddrinfo, which knows mDNS and everything else that the system is configured for. */
  readonly resolver?: 'dns' | 'system';
  /** Replaces the system's. */
  readonly nameServers?: readonly string[];
  readonly budget?: Budget;
  readonly files?: { readonly hosts: string; readonly resolvConf: string };
}

const SYSTEM_FILES = {
  hosts:
    process.platform === 'win32'
      ? path.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
      : '/etc/hosts',
  resolvConf: '/etc/resolv.conf',
};
const NAMES_KEPT = 1_000;
const TTL_SECONDS = { least: 1, most: 60, noSuchName: 5, failure: 1, system: 5 } as const;
/** Longest wait in the queue if many look up names. */
const PATIENCE_MS = 3_000;
/**
 * getaddrinfo uses one of four threads until it has its answer, and cannot be cancelled: the other threads are for
 * files and keys.
 */
const SYSTEM_LOOKUPS = 2;
const LOCALHOST: readonly string[] = ['127.0.0.1', '::1'];

type Outcome = { readonly addresses: readonly string[] } | { readonly error: Error };

interface Flight {
  readonly outcome: Promise<Outcome>;
  readonly controller: AbortController;
  users: number;
}

export function createResolver(options: ResolverOptions = {}): Lookup {
  const { nameServers: servers = [], files = SYSTEM_FILES } = options;
  const isSystem = options.resolver === 'system';
  const budget = options.budget ?? new Budget({ name: 'lookups', unit: 'name look-ups', capacity: 64 });
  const threads = new Budget({ name: 'lookups', unit: 'threads for name look-ups', capacity: SYSTEM_LOOKUPS });
  const hosts = watchedFile(files.hosts, parseHosts);
  const rules = watchedFile(files.resolvConf, parseSearchRules);
  const kept = new LRUCache<string, Outcome>({ ...atMost(NAMES_KEPT), ttlResolution: 0 });
  const underWay = new Map<string, Flight>();

  async function askSystem(name: string): Promise<NameAnswer> {
    const found = await getaddrinfo(name, { all: true, order: 'verbatim' });
    return { addresses: found.map(({ address }) => address), ttlSeconds: TTL_SECONDS.system };
  }

  async function ask(name: string, signal: AbortSignal): Promise<Outcome> {
    try {
      const asking = isSystem ? askSystem(name) : askNameServers({ name, rules: rules(), servers, signal });
      const { addresses, ttlSeconds } = await asking;
      const seconds = Math.min(Math.max(ttlSeconds, TTL_SECONDS.least), TTL_SECONDS.most);
      return keep(name, { addresses }, seconds);
    } catch (error) {
      const outcome = { error: error as Error };
      if (signal.aborted) return outcome;
      const isUnknown = systemCodeOf(error) === 'ENOTFOUND';
      return keep(name, outcome, isUnknown ? TTL_SECONDS.noSuchName : TTL_SECONDS.failure);
    }
  }

  function keep(name: string, outcome: Outcome, seconds: number): Outcome {
    kept.set(name, outcome, { ttl: seconds * 1_000 });
    return outcome;
  }

  function takeOff(name: string, landed: () => void): Flight {
    const controller = new AbortController();
    const outcome = ask(name, controller.signal).finally(() => {
      if (underWay.get(name) === flight) underWay.delete(name);
      landed();
    });
    const flight: Flight = { outcome, controller, users: 0 };
    underWay.set(name, flight);
    return flight;
  }

  /** The query is cancelled when the last caller no longer wants its answer. */
  function board(name: string, flight: Flight, signal: AbortSignal): Promise<Outcome> {
    return waitFor({ signal }, (done, fail) => {
      flight.users++;
      flight.outcome.then(done, fail);
      return (error) => {
        flight.users--;
        // getaddrinfo cannot be cancelled: its answer may serve the next caller.
        if (error === undefined || flight.users > 0 || isSystem) return;
        flight.controller.abort(signal.reason);
        if (underWay.get(name) === flight) underWay.delete(name);
      };
    });
  }

  async function resolve(name: string, { owner, signal }: LookupOptions): Promise<Outcome> {
    for (;;) {
      const known = kept.get(name);
      if (known !== undefined) return known;
      const flight = underWay.get(name);
      if (flight !== undefined) return board(name, flight, signal);
      // Queries that wait in the queue are not shared: another account's may run much later than one's own.
      const grant = await (isSystem ? threads : budget).wait({ owner }, { signal, timeoutMs: PATIENCE_MS });
      if (!kept.has(name) && !underWay.has(name))
        return board(
          name,
          takeOff(name, () => grant.release()),
          signal,
        );
      grant.release();
    }
  }

  return async (written, lookup) => {
    lookup.signal.throwIfAborted();
    const name = (isPlain(written) ? written : domainToASCII(written)).toLowerCase();
    // Octal, 0x7f.1 and the like, as getaddrinfo reads them.
    if (ipaddr.IPv4.isValid(name)) return [{ address: ipaddr.IPv4.parse(name).toString() }];
    if (!isSystem) {
      const bare = name.replace(/\.$/, '');
      const local = hosts().get(bare) ?? (isLocalhost(bare) ? LOCALHOST : undefined);
      if (local !== undefined) return local.map((address) => ({ address }));
      if (!mayBeName(bare)) throw nameError('ENOTFOUND');
    }
    const outcome = await resolve(name, lookup);
    if ('error' in outcome) throw outcome.error;
    return outcome.addresses.map((address) => ({ address }));
  };
}

/** RFC 6761, 6.3: no server is asked about it. */
function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

/** No domain ends in a number: such a name is a mistaken address. `invalid` never exists (RFC 6761, 6.4). */
function mayBeName(name: string): boolean {
  return name !== '' && name.length <= 253 && !/(^|\.)(\d+|0x[0-9a-f]*|invalid)$/.test(name);
}
