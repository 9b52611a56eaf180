/** The system's settings for names, except its name servers: the hosts file, and how short names are completed. */
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';

/** Least time between two checks whether the file has changed. */
const CHECK_AGAIN_MS = 1_000;

/**
 * The result of `parse` for the file, read again when it has changed; for "" if there is none. Synchronous on purpose:
 * it takes microseconds, and must not wait in the queue for the threads of file access.
 */
export function watchedFile<T>(file: string, parse: (text: string) => T): () => T {
  let checkedAt = -Infinity;
  let seen: string | undefined;
  let parsed: T | undefined;
  return () => {
    const now = performance.now();
    if (parsed !== undefined && now - checkedAt < CHECK_AGAIN_MS) return parsed;
    checkedAt = now;
    const version = versionOf(file);
    if (parsed === undefined || version !== seen) {
      seen = version;
      parsed = parse(textOf(file));
    }
    return parsed;
  };
}

function versionOf(file: string): string {
  try {
    const { mtimeMs, ino, size } = statSync(file);
    return `${mtimeMs} ${ino} ${size}`;
  } catch {
    return '';
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Names in lower case, each with its addresses in the order of the file. */
type Hosts = ReadonlyMap<string, readonly string[]>;

export interface SearchRules {
  /** Domains that a short name is tried in. */
  readonly search: readonly string[];
  /** A name with at least this many dots is first tried as it is. */
  readonly ndots: number;
}

const MOST_NDOTS = 15;

/** hosts(5) */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names.map((written) => written.toLowerCase())) {
      const known = hosts.get(name);
      if (known === undefined) hosts.set(name, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return hosts;
}

/** resolv.conf(5); its name servers are read by c-ares itself. */
export function parseSearchRules(text: string): SearchRules {
  let search: readonly string[] = [];
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    // The last of several such lines counts.
    if (keyword === 'search') search = words;
    else if (keyword === 'domain') search = words.slice(0, 1);
    else if (keyword === 'options') {
      for (const word of words) {
        const [, dots] = /^ndots:(\d+)$/.exec(word) ?? [];
        if (dots !== undefined) ndots = Math.min(Number(dots), MOST_NDOTS);
      }
    }
  }
  return { search: search.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== ''), ndots };
}

/** The full names to try for `name`, in order. */
export function candidatesFor(name: string, { search, ndots }: SearchRules): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const completed = search.map((domain) => `${name}.${domain}`);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...completed] : [...completed, name];
}
