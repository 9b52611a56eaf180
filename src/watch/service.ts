/**
 * Operations on watched folders for the API, the dashboard and the command line. Each takes the account, and rejects
 * with unknown_watched_folder for another account's folder.
 */
import { GatewayError, refusal, unknown } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { checkTemplate } from '../operations/names.js';
import { requireActive, requireCommonHours, requireConnection, requireOpen } from '../connections/require.js';
import { referTo } from '../operations/path-reference.js';
import { parseRemotePath, ROOT, type RemotePath } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { Remote } from '../remotes/remote.js';
import { type Connections, idsAt, type Locks, type WatchRoute, type WatchStorage } from '../storage/storage.js';
import type { FolderScanner } from './scan.js';
import type { Reason } from './decide.js';
import { nameOfKey } from '../base/entry-key.js';
import { isUuid } from '../base/uuid.js';
import type { CopyTo, WatchSettings, WatchedFolder } from '../contract/watched-folder.js';
import type { KNOWN_FILE_STATES, WatchCheck } from '../contract/watch-check.js';
import { eventAddressOf, testEvent, type DetectedFile } from './event-bodies.js';
import { createNameFilter } from './name-filter.js';
import { refuseLoops } from './places.js';
import { nextRegular } from './schedule.js';
import {
  checkRights,
  type CheckedSettings,
  relativeMoveTo,
  watchSettingsOf,
  webhookTargetOf,
  type FolderSettings,
  type WatchRights,
} from './settings.js';
import { unpackReasons, type ExplainedEntry } from './reasons.js';

interface Creation {
  readonly source: string;
  readonly rights: WatchRights;
  readonly signal: AbortSignal;
}

/** New values; absent fields keep theirs. */
interface FolderChanges extends FolderSettings {
  /** Resolves the new path on an open remote. */
  readonly locate?: (remote: Remote) => Promise<RemotePath>;
  readonly isActive?: boolean;
}

interface CreatedFolder {
  readonly folder: WatchedFolder;
  readonly webhookSecret: string;
}

interface KnownFile {
  /** Below the folder. */
  readonly path: string;
  readonly rawName: string | undefined;
  readonly state: (typeof KNOWN_FILE_STATES)[number];
  readonly size: number;
  readonly modifiedMs: number;
}

interface DryRun {
  readonly counts: Readonly<Record<string, number>>;
  /** The files that a check would report now. */
  readonly files: readonly DetectedFile[];
}

export interface WatchServiceOptions {
  readonly storage: WatchStorage;
  readonly connections: Pick<Connections, 'find'>;
  readonly remotes: Pick<Remotes, 'use' | 'placeInTree'>;
  readonly leftovers: (connection: Connection) => Leftovers;
  readonly locks: Locks;
  readonly scanner: FolderScanner;
  readonly skipNames: readonly string[];
  /** Checks the URL of a receiver. Errors: bad_request, address_denied */
  readonly checkTarget: (webhookUrl: string, owner: string, signal: AbortSignal) => Promise<URL>;
}

export class WatchService {
  readonly #options: WatchServiceOptions;

  constructor(options: WatchServiceOptions) {
    this.#options = options;
  }

  list(accountId: string): Promise<readonly WatchedFolder[]> {
    return this.#options.storage.folders.list(accountId);
  }

  /** @throws GatewayError unknown_watched_folder */
  async get(accountId: string, id: string): Promise<WatchedFolder> {
    const folder = isUuid(id) ? await this.#options.storage.folders.find(accountId, id) : undefined;
    if (folder === undefined) throw unknown('watched folder', id);
    return folder;
  }

  /**
   * Creates a folder; its first check follows at once and takes the baseline. `locate` resolves the path on an open
   * remote. Errors: bad_request, scope_missing, address_denied (of the webhook), not_found, not_a_folder, those of the
   * remote.
   */
  async create(
    connection: Connection,
    locate: (remote: Remote) => Promise<RemotePath>,
    input: FolderSettings,
    { source, rights, signal }: Creation,
  ): Promise<CreatedFolder> {
    const { accountId } = connection;
    const { folders, secrets } = this.#options.storage;
    // The rights are checked before any request to a server.
    checkRights({ afterDelivery: input.afterDelivery ?? 'keep', copyTo: input.copyTo ?? null }, rights);
    const copyTo = await this.#copyToOf(connection, input.copyTo ?? null, signal);
    await this.#checkInput(accountId, { ...input, copyTo }, signal);
    const path = await this.#findFolder(connection, locate, signal);
    const target = webhookTargetOf(input.webhookUrl);
    const settings = watchSettingsOf(connection, path, { ...input, copyTo, webhookUrl: target.url }, source);
    let webhookSecret = '';
    const folder = await this.#withoutLoops(accountId, { id: '', ...settings }, signal, () =>
      folders.create(
        accountId,
        settings,
        (id, now) => new Date(nextRegular(id, settings.scheduleMinutes, now.getTime())),
        async (tx, id) => {
          webhookSecret = await secrets.add(tx, id);
          await secrets.setLogin(tx, id, target.login);
        },
      ),
    );
    return { folder, webhookSecret };
  }

  /** Changes a folder; editFolder decides which stored entries stay. Errors: those of create(). */
  async edit(
    accountId: string,
    id: string,
    { locate, isActive, copyTo: wantedCopyTo, ...changes }: FolderChanges,
    { rights, signal }: Pick<Creation, 'rights' | 'signal'>,
  ): Promise<WatchedFolder> {
    const before = await this.get(accountId, id);
    checkRights({ afterDelivery: 'keep', copyTo: wantedCopyTo ?? null }, rights);
    const connection = await this.#connectionOf(before);
    const copyTo = wantedCopyTo && (await this.#copyToOf(connection, wantedCopyTo, signal));
    const path = locate === undefined ? undefined : await this.#findFolder(connection, locate, signal);
    const target = webhookTargetOf(changes.webhookUrl);
    const webhook = target.url === undefined ? {} : { webhookUrl: target.url };
    const settingsFrom = (former: WatchedFolder): WatchSettings => {
      const route = copyTo === undefined ? {} : { copyTo };
      const input = { ...former, moveTo: relativeMoveTo(former), ...changes, ...webhook, ...route };
      const settings = watchSettingsOf(
        connection,
        path ?? parseRemotePath(former.path, ROOT, 'path'),
        input,
        former.source,
      );
      checkRights(settings, rights);
      return settings;
    };
    const wanted = settingsFrom(before);
    await this.#checkInput(accountId, wanted, signal);
    const hasOtherTarget = target.login !== undefined || (target.url !== undefined && target.url !== before.webhookUrl);
    const folder = await this.#withoutLoops(accountId, { id: before.id, ...wanted }, signal, () =>
      this.#options.storage.folders.edit(
        accountId,
        before.id,
        (former) => {
          const settings = settingsFrom(former);
          return {
            settings,
            isActive: isActive ?? former.isActive,
            nextCheckAt: (now) => new Date(nextRegular(former.id, settings.scheduleMinutes, now.getTime())),
          };
        },
        async (tx) => {
          if (hasOtherTarget) await this.#options.storage.secrets.setLogin(tx, before.id, target.login);
        },
      ),
    );
    if (folder === undefined) throw unknown('watched folder', id);
    return folder;
  }

  /** Ends checks and undelivered events. */
  async remove(accountId: string, id: string): Promise<void> {
    if (!isUuid(id) || !(await this.#options.storage.folders.remove(accountId, id)))
      throw unknown('watched folder', id);
  }

  async pause(accountId: string, id: string): Promise<void> {
    await this.#setActive(accountId, id, false);
  }

  /** The folder is due at once. */
  async resume(accountId: string, id: string): Promise<void> {
    await this.#setActive(accountId, id, true);
  }

  /** Requests an extra check, even of a paused folder; `queued` is false if a check is already waiting or running. */
  async checkNow(accountId: string, id: string): Promise<{ readonly queued: boolean }> {
    const queued = await this.#options.storage.folders.checkNow(await this.get(accountId, id));
    return { queued };
  }

  /** Scans the folder without writing, reporting or sending anything. */
  async dryRun(accountId: string, id: string, signal: AbortSignal): Promise<DryRun> {
    const folder = await this.get(accountId, id);
    const connection = await this.#connectionOf(folder);
    const clock = await this.#options.storage.folders.clock();
    const scan = { folder, connection, kind: 'manual', clock, signal } as const;
    const findings = await this.#options.scanner.scan(scan, async () => {});
    return { counts: findings.reasons.counts, files: findings.detected };
  }

  /** Known files, sorted by the bytes of their paths; `after` is the last path of the page before. */
  async knownFiles(
    accountId: string,
    id: string,
    { after = '', limit }: { readonly after?: string; readonly limit: number },
  ): Promise<{ readonly files: readonly KnownFile[]; readonly total: number }> {
    const folder = await this.get(accountId, id);
    const { files } = this.#options.storage;
    const [page, total] = await Promise.all([files.page(folder.id, Buffer.from(after), limit), files.count(folder.id)]);
    const shown = page.flatMap(({ key, known, seen }): KnownFile[] => {
      const state = seen ?? known;
      if (state === undefined) return [];
      const { path, rawName } = nameOfKey(key);
      const { size, modifiedMs } = state;
      const word = seen === undefined ? 'known' : known === undefined ? 'waiting' : 'changing';
      return [{ path, rawName, state: word, size, modifiedMs }];
    });
    return { files: shown, total };
  }

  /** Forgets a file (`path` below the folder), or all files: the next check reports those that exist as new. */
  async forget(accountId: string, id: string, path: string | undefined): Promise<{ readonly forgotten: number }> {
    const folder = await this.get(accountId, id);
    const key = path === undefined ? undefined : Buffer.from(path);
    return { forgotten: await this.#options.storage.files.forget(folder.id, key) };
  }

  /** The last checks, newest first. */
  async checks(accountId: string, id: string): Promise<readonly WatchCheck[]> {
    return this.#options.storage.checks.list((await this.get(accountId, id)).id);
  }

  /** The reason for each entry of a check, within the bounds of reasons.ts. */
  async reasons(accountId: string, id: string, checkId: string): Promise<readonly ExplainedEntry[]> {
    const folder = await this.get(accountId, id);
    const packed = isUuid(checkId) ? await this.#options.storage.checks.entries(folder.id, checkId) : undefined;
    return packed === undefined ? [] : unpackReasons(packed);
  }

  /**
   * Why a path below the folder is or is not reported, derived from its name and its stored entry; undefined if it has
   * no entry.
   */
  async explain(accountId: string, id: string, path: string): Promise<Reason | undefined> {
    const folder = await this.get(accountId, id);
    const filter = createNameFilter({ ...folder, skipNames: this.#options.skipNames });
    const filtered = filter.reasonAgainst(path);
    if (filtered !== undefined) return filtered;
    const entry = await this.#options.storage.files.find(folder.id, Buffer.from(path));
    if (entry === undefined) return undefined;
    return entry.seen === undefined ? 'unchanged' : 'settling';
  }

  /** The signing secret. */
  async secret(accountId: string, id: string): Promise<string> {
    const [current] = await this.#options.storage.secrets.current((await this.get(accountId, id)).id);
    if (current === undefined) throw new GatewayError('internal', `watched folder ${id} has no signing secret`);
    return current;
  }

  /** Makes a new secret. For 24 hours, events are also signed with the former one. */
  async rotateSecret(accountId: string, id: string): Promise<string> {
    return this.#options.storage.secrets.rotate((await this.get(accountId, id)).id);
  }

  /** Sends a test event to the webhook; resolves with its id. */
  async sendTest(accountId: string, id: string): Promise<{ readonly eventId: string }> {
    const folder = await this.get(accountId, id);
    if (folder.webhookUrl === null) {
      throw refusal('bad_request', 'this watched folder has no webhookUrl');
    }
    const connection = await this.#connectionOf(folder);
    const at = (await this.#options.storage.folders.clock()).now();
    const eventId = idsAt(at)();
    const event = {
      ...eventAddressOf(folder),
      id: eventId,
      type: 'watched_folder.test',
      body: testEvent({ folder, connection, at }),
      receiver: { watchedFolderId: folder.id },
      createdAt: at,
    };
    await this.#options.storage.outbox.add(undefined, [event]);
    return { eventId };
  }

  async #setActive(accountId: string, id: string, isActive: boolean): Promise<void> {
    const done = isUuid(id) && (await this.#options.storage.folders.setActive(accountId, id, isActive));
    if (!done) throw unknown('watched folder', id);
  }

  #connectionOf({ accountId, connectionId }: WatchedFolder): Promise<Connection> {
    return requireConnection(this.#options.connections, accountId, connectionId);
  }

  /** Resolves the target path, which may be below a login folder that only the server knows. */
  async #copyToOf(
    source: Connection,
    wanted: NonNullable<FolderSettings['copyTo']> | null,
    signal: AbortSignal,
  ): Promise<CopyTo | null> {
    if (wanted === null) return null;
    const { connections, remotes, leftovers } = this.#options;
    const { onConflict = 'replace', filename_template: template } = wanted;
    if (template !== undefined) checkTemplate(template);
    const connection = await requireConnection(connections, source.accountId, wanted.connectionId);
    requireActive(connection);
    requireCommonHours(source, connection);
    const reference = referTo(connection, wanted.path, 'copyTo.path');
    if (reference.known === undefined) requireOpen(connection);
    const path = reference.known ?? (await remotes.use(connection, { signal, leftovers }, reference));
    return { ...wanted, connectionId: connection.id, path, onConflict };
  }

  /** Writes a folder unless its files would return to it. The folders of one account are written one after another. */
  async #withoutLoops<T>(
    accountId: string,
    route: WatchRoute,
    signal: AbortSignal,
    write: () => Promise<T>,
  ): Promise<T> {
    if (route.copyTo === null && route.moveTo === null) return write();
    const { locks, storage, remotes, connections } = this.#options;
    return locks.withLock(`routes ${accountId}`, signal, async () => {
      const find = (id: string): Promise<Connection | undefined> => connections.find(accountId, id);
      await refuseLoops(route, await storage.folders.routes(accountId), { remotes, find });
      return write();
    });
  }

  async #checkInput(owner: string, input: CheckedSettings, signal: AbortSignal): Promise<void> {
    createNameFilter({
      filePattern: input.filePattern ?? null,
      excludePattern: input.excludePattern ?? null,
      doneFile: input.doneFile ?? null,
      recursive: false,
      skipNames: this.#options.skipNames,
    });
    const { webhookUrl } = input;
    if (webhookUrl === undefined || webhookUrl === null) {
      const after = input.afterDelivery ?? 'keep';
      // Without a webhook, a completed copy counts as the delivery.
      if (after === 'keep' || (input.copyTo ?? null) !== null) return;
      throw refusal('bad_request', `afterDelivery "${after}" needs a webhookUrl or copyTo`);
    }
    await this.#options.checkTarget(webhookUrl, owner, signal);
  }

  async #findFolder(
    connection: Connection,
    locate: (remote: Remote) => Promise<RemotePath>,
    signal: AbortSignal,
  ): Promise<RemotePath> {
    requireActive(connection);
    requireOpen(connection);
    return this.#options.remotes.use(connection, { signal, leftovers: this.#options.leftovers }, async (remote) => {
      const path = await locate(remote);
      if (path === ROOT) return path;
      const info = await remote.stat(path);
      if (info.isDirectory) return path;
      throw new GatewayError('not_a_folder', `${path} is a file, not a folder`, { step: 'open' });
    });
  }
}
