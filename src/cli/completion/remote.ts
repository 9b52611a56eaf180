/** Completions from the gateway: connections and folders. Cached for a moment, because every key press asks again. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { openGateway } from '../gateway.js';
import { parseLocation } from '../location.js';
import { type Access, findAccess } from '../profiles.js';

/** A list for completion is not worth a longer wait. */
const PATIENCE_MS = 1_500;
const FRESH_MS = 20_000;
/** More entries do not help to complete a name. */
const MOST_ENTRIES = 1_000;

/** Never fails: without a gateway or a key there is nothing to complete, and no place for an error. */
export class RemoteNames {
  readonly #profile: string | undefined;

  constructor(profile: string | undefined) {
    this.#profile = profile;
  }

  connectionIds(): Promise<readonly string[]> {
    return this.#asked(['connections'], async (access, signal) => {
      const listed = await openGateway(access, signal).files.connections({ signal });
      return listed.map(({ id }) => id);
    });
  }

  /** Places that begin like this one: connections, or entries of its folder; folders end with a slash. */
  async places(begun: string): Promise<readonly string[]> {
    if (!begun.includes(':')) return (await this.connectionIds()).map((id) => `${id}:`);
    const { connectionId, path } = parseLocation(begun);
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    const names = await this.#asked(['folder', connectionId, folder], async (access, signal) => {
      const { files } = await openGateway(access, signal).files.list(connectionId, folder === '' ? undefined : folder, {
        limit: MOST_ENTRIES,
        signal,
      });
      return files.map(({ name, isDirectory }) => (isDirectory ? `${name}/` : name));
    });
    return names.map((name) => `${connectionId}:${folder}${name}`);
  }

  async #asked(
    what: readonly string[],
    ask: (access: Access, signal: AbortSignal) => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    try {
      const access = findAccess(process.env, this.#profile);
      const { url, key, session } = access;
      const kept = new Kept([url, key, session?.cookie, ...what]);
      const known = kept.read();
      if (known !== undefined) return known;
      const names = await ask(access, AbortSignal.timeout(PATIENCE_MS));
      kept.write(names);
      return names;
    } catch {
      return [];
    }
  }
}

/** A list that was fetched a moment ago. */
class Kept {
  readonly #folder: string;
  readonly #file: string;

  constructor(parts: readonly (string | undefined)[]) {
    const { XDG_CACHE_HOME: home = '' } = process.env;
    this.#folder = join(home.startsWith('/') ? home : join(homedir(), '.cache'), 'ftg', 'completion');
    this.#file = join(this.#folder, createHash('sha256').update(JSON.stringify(parts)).digest('hex'));
  }

  read(): readonly string[] | undefined {
    try {
      if (!isFresh(this.#file)) return undefined;
      return JSON.parse(readFileSync(this.#file, 'utf8')) as readonly string[];
    } catch {
      return undefined;
    }
  }

  write(names: readonly string[]): void {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      for (const name of readdirSync(this.#folder)) {
        const old = join(this.#folder, name);
        if (!isFresh(old)) rmSync(old, { force: true });
      }
      writeFileSync(this.#file, JSON.stringify(names), { mode: 0o600 });
    } catch {
      // Then it is fetched again.
    }
  }
}

function isFresh(file: string): boolean {
  return Date.now() - statSync(file).mtimeMs < FRESH_MS;
}
