/**
 * Removes what crashes and lost sessions leave on remotes: hidden names and open multipart uploads; and moves files back
 * that were aside. Every folder is noted durably before the first hidden name is made in it, so a dead process's
 * leftovers are found by its tag.
 */
import { pause } from '../base/deadline.js';
import { hasCode } from '../base/errors.js';
import { retrying } from '../base/retry.js';
import type { RetrySchedule } from '../base/retry-schedule.js';
import { WokenWork } from '../base/woken-work.js';
import type { Connection } from '../connections/connection.js';
import { joinPath, parseRemotePath, ROOT, type RemotePath } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { Remote } from '../remotes/remote.js';
import type { Connections, Leftover, LeftoverStore } from '../storage/storage.js';
import { find } from './conflicts.js';
import { isTemporaryName, temporaryName } from './names.js';
import { listOneFolder } from './tree/folder.js';

interface SweeperOptions {
  readonly store: LeftoverStore;
  readonly connections: Pick<Connections, 'find'>;
  readonly remotes: Remotes;
  log(level: 'info' | 'warn', message: string, facts?: Record<string, unknown>): void;
}

const SWEEP_EVERY_MS = 30_000;
const REMOVE_AFTER_MS = 1_000;
const REMOVALS: RetrySchedule = { delaysMs: [5_000, 30_000, 120_000, 600_000], isEndless: true };
/** About a day: a server may be away for long, and this process may run even longer. */
const MAX_REMOVE_ATTEMPTS = 150;
/** A slow server makes the file of a cut session when the first attempts have already missed it. */
const LAST_MISSES = 3;

export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #stopped = new AbortController();
  readonly #sweeping: WokenWork;
  readonly #ofConnections = new WeakMap<Connection, Leftovers>();

  constructor(options: SweeperOptions) {
    this.#options = options;
    const failed = (error: unknown): void => {
      if (this.#stopped.signal.aborted) return;
      options.log('warn', 'the sweep of leftovers failed', { error: String(error) });
    };
    this.#sweeping = new WokenWork(() => this.#sweep(), failed, { everyMs: SWEEP_EVERY_MS });
  }

  /** Sweeps now and from time to time: another node may have died. */
  start(): void {
    this.#sweeping.wake();
  }

  async stop(): Promise<void> {
    this.#stopped.abort(new Error('the sweeper stops'));
    await this.#sweeping.stop();
  }

  /** The Leftovers of one connection, for a Remote. */
  for(connection: Connection): Leftovers {
    let leftovers = this.#ofConnections.get(connection);
    if (leftovers === undefined) this.#ofConnections.set(connection, (leftovers = this.#make(connection)));
    return leftovers;
  }

  #make(connection: Connection): Leftovers {
    const { store } = this.#options;
    return {
      temporaryName: (name) => temporaryName(store.tag, name),
      expect: (folder) => store.expectFolder(connection.id, folder),
      expectMultipart: async (path, uploadId) => {
        const note = await store.expectMultipart(connection.id, path, uploadId);
        const done = (): void => void store.forget(note).catch(() => undefined);
        const abort = async (remote: Remote): Promise<void> => remote.abortMultipart?.(path, uploadId).then(done);
        return { done, abortLater: () => void this.#removeLater(connection, path, abort) };
      },
      expectAside: async (aside, path) => {
        const note = await store.expectAside(connection.id, aside, path);
        const done = (): void => void store.forget(note).catch(() => undefined);
        const settle = (remote: Remote): Promise<void> =>
          this.#settleAside(connection, remote, { aside, path }).then(done);
        return { done, settleLater: () => void this.#removeLater(connection, aside, settle) };
      },
      removeLater: (path) =>
        void this.#removeLater(connection, path, (remote) => remote.remove(path, { isLeftover: true })),
    };
  }

  async #sweep(): Promise<void> {
    for (const leftover of await this.#options.store.claimDead()) {
      if (this.#stopped.signal.aborted) return;
      try {
        await this.#clean(leftover);
        await this.#options.store.settle(leftover);
      } catch (error) {
        // The note is kept: another sweep tries again.
        this.#options.log('warn', 'leftovers could not be removed yet', {
          connectionId: leftover.connectionId,
          error: String(error),
        });
      }
    }
  }

  async #clean(leftover: Leftover): Promise<void> {
    const connection = await this.#options.connections.find(leftover.accountId, leftover.connectionId);
    if (connection === undefined) return;
    await this.#use(connection, async (remote) => {
      if (leftover.kind === 'multipart') {
        await remote.abortMultipart?.(parseRemotePath(leftover.path, ROOT, 'path'), leftover.uploadId);
        return;
      }
      if (leftover.kind === 'aside') {
        const aside = parseRemotePath(leftover.aside, ROOT, 'path');
        return this.#settleAside(connection, remote, { aside, path: parseRemotePath(leftover.path, ROOT, 'path') });
      }
      const folder = parseRemotePath(leftover.folder, ROOT, 'folder');
      const names: string[] = [];
      for await (const { name, isDirectory } of listOneFolder(remote, folder, { mayBeGone: true })) {
        if (!isDirectory && isTemporaryName(name, leftover.tag)) names.push(name);
      }
      for (const name of names) {
        await remote.remove(joinPath(folder, name), { isLeftover: true }).catch((error: unknown) => {
          if (!hasCode(error, 'not_found')) throw error;
        });
      }
      if (names.length > 0) {
        this.#options.log('info', 'removed what a stopped process left', {
          connectionId: connection.id,
          folder,
          files: names.length,
        });
      }
    });
  }

  /** Afterwards the former file is back at `path`, unless something took its place: a file makes it superfluous. */
  async #settleAside(connection: Connection, remote: Remote, { aside, path }: Aside): Promise<void> {
    try {
      const there = await find(remote, path);
      if (there !== undefined) return there.isDirectory ? undefined : await remote.remove(aside, { isLeftover: true });
      await remote.move(aside, path, { replace: false });
      this.#options.log('info', 'moved back a file that another one should have replaced', {
        connectionId: connection.id,
        path,
      });
    } catch (error) {
      // It was moved back or removed before.
      if (!hasCode(error, 'not_found')) throw error;
    }
  }

  /** Never rejects. */
  async #removeLater(
    connection: Connection,
    path: RemotePath,
    remove: (remote: Remote) => Promise<void>,
  ): Promise<void> {
    const { signal } = this.#stopped;
    const mayPass = (error: unknown, failures: number): boolean =>
      failures < (hasCode(error, 'not_found') ? LAST_MISSES : MAX_REMOVE_ATTEMPTS);
    try {
      await pause(REMOVE_AFTER_MS, signal);
      await retrying(REMOVALS, () => this.#use(connection, remove), mayPass, signal);
    } catch (error) {
      if (signal.aborted || hasCode(error, 'not_found')) return;
      // It is noted: the node that finds this one dead removes it.
      this.#options.log('warn', 'a hidden file could not be removed', { connectionId: connection.id, path });
    }
  }

  #use<R>(connection: Connection, work: (remote: Remote) => Promise<R>): Promise<R> {
    return this.#options.remotes.use(
      connection,
      { signal: this.#stopped.signal, leftovers: (of) => this.for(of), priority: 'background' },
      work,
    );
  }
}

interface Aside {
  readonly aside: RemotePath;
  readonly path: RemotePath;
}
