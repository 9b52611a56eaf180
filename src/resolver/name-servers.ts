/**
 * Queries name servers with c-ares: it uses none of the few threads that getaddrinfo shares with file access and key
 * derivation, a query has a deadline, and it can be cancelled.
 */
import { Resolver } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { onAbort } from '../base/deadline.js';
import { candidatesFor, type SearchRules } from './system-files.js';

export interface NameAnswer {
  /** In the order in which they are to be tried. */
  readonly addresses: readonly string[];
  readonly ttlSeconds: number;
}

interface Question {
  readonly name: string;
  readonly rules: SearchRules;
  /** `address` or `address:port`; empty = those of the system, read again for each query. */
  readonly servers: readonly string[];
  readonly signal: AbortSignal;
}

/** For one server's answer; twice as long for the second try. */
const TRY_MS = 2_000;
const TRIES = 2;
/** For all servers and all completions of a short name. */
const DEADLINE_MS = 10_000;
/**
 * Once there is an address of one family, the wait for the other family's answer is at most this long (RFC 8305, 3).
 */
const OTHER_FAMILY_MS = 100;
/** Per family; more of them cannot be tried within the time for connecting. */
const MOST_ADDRESSES = 8;

type Family = 4 | 6;
type FamilyAnswer = readonly { readonly address: string; readonly ttl: number }[];

/** Rejects with an error whose `code` is one of getaddrinfo's, or with the signal's reason. */
export async function askNameServers({ name, rules, servers, signal }: Question): Promise<NameAnswer> {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  const stop = (): void => resolver.cancel();
  const deadline = setTimeout(stop, DEADLINE_MS);
  const stopListening = onAbort(signal, stop);
  try {
    let isFailing = false;
    for (const candidate of candidatesFor(name, rules)) {
      signal.throwIfAborted();
      const answer = await askBothFamilies(resolver, candidate);
      if (typeof answer !== 'string') return answer;
      if (answer === 'silent') throw nameError('EAI_AGAIN');
      // As with getaddrinfo: a server that fails for one completion may know another.
      isFailing ||= answer === 'failing';
    }
    throw nameError(isFailing ? 'EAI_FAIL' : 'ENOTFOUND');
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    clearTimeout(deadline);
    stopListening();
    stop();
  }
}

export function nameError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}

async function askBothFamilies(resolver: Resolver, name: string): Promise<NameAnswer | Trouble> {
  const found = new Map<Family, FamilyAnswer>();
  const troubles: Trouble[] = [];
  await new Promise<void>((done) => {
    let timer: NodeJS.Timeout | undefined;
    const settle = (): void => {
      const isComplete = found.size + troubles.length === 2;
      if (isComplete) clearTimeout(timer);
      if (isComplete) done();
      else if (hasAddress(found)) timer = setTimeout(done, OTHER_FAMILY_MS);
    };
    const ask = (family: Family, asking: Promise<FamilyAnswer>): void =>
      void asking
        .then(
          (answer) => void found.set(family, answer),
          (error: NodeJS.ErrnoException) => void troubles.push(troubleOf(error.code)),
        )
        .then(settle);
    ask(4, resolver.resolve4(name, { ttl: true }));
    ask(6, resolver.resolve6(name, { ttl: true }));
  });
  if (hasAddress(found)) return inOrder(found);
  return (
    troubles.find((trouble) => trouble === 'silent') ?? troubles.find((trouble) => trouble === 'failing') ?? 'none'
  );
}

function hasAddress(found: ReadonlyMap<Family, FamilyAnswer>): boolean {
  return [...found.values()].some((answer) => answer.length > 0);
}

/** No such name; a server that answers, but not this query; no answer. */
type Trouble = 'none' | 'failing' | 'silent';

function troubleOf(code: string | undefined): Trouble {
  if (code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME') return 'none';
  return code === 'ETIMEOUT' || code === 'ECONNREFUSED' || code === 'ECANCELLED' ? 'silent' : 'failing';
}

/** Families alternate, beginning with the one that the machine most likely has a route for. */
function inOrder(found: ReadonlyMap<Family, FamilyAnswer>): NameAnswer {
  const of = (family: Family): FamilyAnswer => found.get(family)?.slice(0, MOST_ADDRESSES) ?? [];
  const [first, second] = hasGlobalIpv6() ? [of(6), of(4)] : [of(4), of(6)];
  const mixed: FamilyAnswer = Array.from({ length: Math.max(first.length, second.length) }, (_, index) =>
    [first[index], second[index]].filter((entry) => entry !== undefined),
  ).flat();
  return {
    addresses: mixed.map(({ address }) => address),
    ttlSeconds: Math.min(...mixed.map(({ ttl }) => ttl)),
  };
}

function hasGlobalIpv6(): boolean {
  return Object.values(networkInterfaces()).some((all) =>
    all?.some(({ family, address }) => family === 'IPv6' && ipaddr.parse(address).range() === 'unicast'),
  );
}
