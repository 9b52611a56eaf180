/**
 * Everything that API, dashboard and command line ask of watched folders. Each function takes the account and answers
 * unknown_watched_folder for what is another one's.
 */
import { validate as isUuid } from 'uuid';
import { GatewayError, refusal } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import type { Dialer } from '../remotes/dial/dial.js';
import { parseRemotePath, ROOT, type RemotePath } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { Leftovers, Remote } from '../remotes/remote.js';
import {
  type Attempt,
  type CheckRow,
  type Connections,
  type EventFilter,
  idsAt,
  targetGroup,
  type WatchedFolder,
  type WatchSettings,
  type WatchStorage,
  type WebhookEvent,
} from '../storage/storage.js';
import { checkTarget } from '../webhooks/target.js';
import type { FolderLooks } from './look.js';
import type { Reason } from './diff.js';
import { nameOfKey } from '../base/entry-key.js';
import { testEvent, type DetectedFile } from './event-bodies.js';
import { createNameFilter } from './name-filter.js';
import { nextRegular } from './schedule.js';
import {
  checkRights,
  relativeMoveTo,
  settingsOf,
  targetOf,
  type FolderSettings,
  type WatchRights,
} from './settings.js';
import { unpackReasons, type ExplainedEntry } from './reasons.js';

export interface Creation {
  readonly source: string;
  readonly rights: WatchRights;
  readonly signal: AbortSignal;
}

/** What is to be another one from now on; what is absent stays. */
export interface FolderChanges extends FolderSettings {
  /** Makes another path on an open remote. */
  readonly locate?: (remote: Remote) => Promise<RemotePath>;
  readonly isActive?: boolean;
}

export interface CreatedFolder {
  readonly folder: WatchedFolder;
  readonly webhookSecret: string;
}

export interface KnownFile {
  /** Below the folder. */
  readonly path: string;
  readonly rawName: string | undefined;
  readonly state: 'known' | 'waiting' | 'changing';
  readonly size: number;
  readonly modifiedMs: number;
}

export interface DryRun {
  readonly counts: Readonly<Record<string, number>>;
  /** What a check would report now, were it to go through. */
  readonly files: readonly DetectedFile[];
}

export interface WatchServiceOptions {
  readonly storage: WatchStorage;
  readonly connections: Pick<Connections, 'find'>;
  readonly remotes: Pick<Remotes, 'use'>;
  readonly leftovers: (connection: Connection) => Leftovers;
  readonly dialer: Pick<Dialer, 'check'>;
  readonly looks: FolderLooks;
  readonly skipNames: readonly string[];
  readonly requireHttps: boolean;
  /** Jobs wait: look at once. */
  wake(): void;
}

export class WatchService {
  constructor(private readonly options: WatchServiceOptions) {}

  list(accountId: string): Promise<readonly WatchedFolder[]> {
    return this.options.storage.folders.list(accountId);
  }

  /** @throws GatewayError unknown_watched_folder */
  async get(accountId: string, id: string): Promise<WatchedFolder> {
    const folder = isUuid(id) ? await this.options.storage.folders.find(accountId, id) : undefined;
    if (folder === undefined) throw unknownFolder(id);
    return folder;
  }

  /**
   * Creates a folder, whose first check follows at once: what is there then is its baseline. `locate` makes the path on
   * an open remote. Errors: bad_request, scope_missing, address_denied (of the webhook), not_found, not_a_folder, and the remote's own.
   */
  async create(
    connection: Connection,
    locate: (remote: Remote) => Promise<RemotePath>,
    input: FolderSettings,
    { source, rights, signal }: Creation,
  ): Promise<CreatedFolder> {
    checkRights(input.afterDelivery ?? 'keep', rights);
    await this.checkInput(connection.accountId, input, signal);
    const path = await this.findFolder(connection, locate, signal);
    const target = targetOf(input.webhookUrl);
    const settings = settingsOf(connection, path, { ...input, webhookUrl: target.url }, source);
    const { folders, secrets } = this.options.storage;
    let webhookSecret = '';
    const folder = await folders.create(
      connection.accountId,
      settings,
      (id, now) => new Date(nextRegular(id, settings.scheduleMinutes, now.getTime())),
      async (tx, id) => {
        webhookSecret = await secrets.add(tx, id);
        await secrets.setLogin(tx, id, target.login);
      },
    );
    this.options.wake();
    return { folder, webhookSecret };
  }

  /** Changes a folder; see editFolder for what becomes of what it knows. Errors: as create(). */
  async edit(
    accountId: string,
    id: string,
    { locate, isActive, ...changes }: FolderChanges,
    { rights, signal }: Pick<Creation, 'rights' | 'signal'>,
  ): Promise<WatchedFolder> {
    const before = await this.get(accountId, id);
    const connection = await this.connectionOf(before);
    const path = locate === undefined ? undefined : await this.findFolder(connection, locate, signal);
    const target = targetOf(changes.webhookUrl);
    const webhook = target.url === undefined ? {} : { webhookUrl: target.url };
    const settingsFrom = (former: WatchedFolder): WatchSettings => {
      const input = { ...former, moveTo: relativeMoveTo(former), ...changes, ...webhook };
      const settings = settingsOf(connection, path ?? parseRemotePath(former.path, ROOT, 'path'), input, former.source);
      checkRights(settings.afterDelivery, rights);
      return settings;
    };
    await this.checkInput(accountId, settingsFrom(before), signal);
    const hasOtherTarget = target.login !== undefined || (target.url !== undefined && target.url !== before.webhookUrl);
    const folder = await this.options.storage.folders.edit(
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
        if (hasOtherTarget) await this.options.storage.secrets.setLogin(tx, before.id, target.login);
      },
    );
    if (folder === undefined) throw unknownFolder(id);
    this.options.wake();
    return folder;
  }

  /** Ends checks and undelivered events. */
  async remove(accountId: string, id: string): Promise<void> {
    if (!isUuid(id) || !(await this.options.storage.folders.remove(accountId, id))) throw unknownFolder(id);
  }

  async pause(accountId: string, id: string): Promise<void> {
    await this.setActive(accountId, id, false);
  }

  /** The folder is due at once. */
  async resume(accountId: string, id: string): Promise<void> {
    await this.setActive(accountId, id, true);
  }

  /** Asks for a check out of turn, of a paused folder too; `queued` is false when one waits or runs already. */
  async checkNow(accountId: string, id: string): Promise<{ readonly queued: boolean }> {
    const queued = await this.options.storage.folders.checkNow(await this.get(accountId, id));
    this.options.wake();
    return { queued };
  }

  /** Looks and compares without writing, reporting or sending anything. */
  async dryRun(accountId: string, id: string, signal: AbortSignal): Promise<DryRun> {
    const folder = await this.get(accountId, id);
    const connection = await this.connectionOf(folder);
    const clock = await this.options.storage.folders.clock();
    const look = { folder, connection, kind: 'manual', clock, signal } as const;
    const findings = await this.options.looks.look(look, async () => {});
    return { counts: findings.reasons.counts, files: findings.detected };
  }

  /** Known files in the order of their bytes; `after` is the last path of the page before. */
  async knownFiles(
    accountId: string,
    id: string,
    { after = '', limit }: { readonly after?: string; readonly limit: number },
  ): Promise<{ readonly files: readonly KnownFile[]; readonly total: number }> {
    const folder = await this.get(accountId, id);
    const { files } = this.options.storage;
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

  /** Forgets a file (`path` below the folder), or all: what is there at the next check is then reported as new. */
  async forget(accountId: string, id: string, path: string | undefined): Promise<{ readonly forgotten: number }> {
    const folder = await this.get(accountId, id);
    const key = path === undefined ? undefined : Buffer.from(path);
    return { forgotten: await this.options.storage.files.forget(folder.id, key) };
  }

  /** The last checks, newest first. */
  async checks(accountId: string, id: string): Promise<readonly CheckRow[]> {
    return this.options.storage.checks.list((await this.get(accountId, id)).id);
  }

  /** One reason for each entry of a check, as far as they were written (see reasons.ts). */
  async reasons(accountId: string, id: string, checkId: string): Promise<readonly ExplainedEntry[]> {
    const folder = await this.get(accountId, id);
    const packed = isUuid(checkId) ? await this.options.storage.checks.entries(folder.id, checkId) : undefined;
    return packed === undefined ? [] : unpackReasons(packed);
  }

  /** Why a path below the folder is, or is not, reported, by its name and what is known; undefined = nothing is known. */
  async explain(accountId: string, id: string, path: string): Promise<Reason | undefined> {
    const folder = await this.get(accountId, id);
    const filter = createNameFilter({ ...folder, skipNames: this.options.skipNames });
    const filtered = filter.reasonAgainst(path);
    if (filtered !== undefined) return filtered;
    const entry = await this.options.storage.files.find(folder.id, Buffer.from(path));
    if (entry === undefined) return undefined;
    return entry.seen === undefined ? 'unchanged' : 'settling';
  }

  /** Events, newest first. */
  async deliveries(accountId: string, filter: EventFilter): Promise<readonly WebhookEvent[]> {
    return this.options.storage.events.list(accountId, filter);
  }

  async attempts(accountId: string, eventId: string): Promise<readonly Attempt[]> {
    return this.options.storage.events.attempts((await this.event(accountId, eventId)).id);
  }

  /** Sends an event again under its old id; `queued` is false when it is under way. */
  async replay(accountId: string, eventId: string): Promise<{ readonly queued: boolean }> {
    const event = await this.event(accountId, eventId);
    const { webhookUrl } = event.folderId === null ? event : await this.get(accountId, event.folderId);
    const queued = await this.options.storage.events.replay(event, targetGroup(webhookUrl));
    this.options.wake();
    return { queued };
  }

  /** The signing secret. */
  async secret(accountId: string, id: string): Promise<string> {
    const [current] = await this.options.storage.secrets.current((await this.get(accountId, id)).id);
    if (current === undefined) throw new GatewayError('internal', `watched folder ${id} has no signing secret`);
    return current;
  }

  /** Makes a new secret; for 24 hours the one before signs along. */
  async rotateSecret(accountId: string, id: string): Promise<string> {
    return this.options.storage.secrets.rotate((await this.get(accountId, id)).id);
  }

  /** Sends an event of its own type to try the webhook out; resolves to its id. */
  async sendTest(accountId: string, id: string): Promise<{ readonly eventId: string }> {
    const folder = await this.get(accountId, id);
    if (folder.webhookUrl === null) {
      throw refusal('bad_request', 'this watched folder has no webhookUrl');
    }
    const connection = await this.connectionOf(folder);
    const at = (await this.options.storage.folders.clock()).now();
    const eventId = idsAt(at)();
    await this.options.storage.events.add(folder, {
      id: eventId,
      type: 'watched_folder.test',
      body: testEvent({ folder, connection, at }),
      fileCount: 0,
      files: [],
      createdAt: at,
    });
    this.options.wake();
    return { eventId };
  }

  private async setActive(accountId: string, id: string, isActive: boolean): Promise<void> {
    const done = isUuid(id) && (await this.options.storage.folders.setActive(accountId, id, isActive));
    if (!done) throw unknownFolder(id);
    this.options.wake();
  }

  private async event(accountId: string, id: string): Promise<WebhookEvent> {
    const event = isUuid(id) ? await this.options.storage.events.findOf(accountId, id) : undefined;
    if (event !== undefined) return event;
    throw refusal('not_found', `there is no webhook event ${id.slice(0, 64)}`);
  }

  private async connectionOf(folder: WatchedFolder): Promise<Connection> {
    const connection = await this.options.connections.find(folder.accountId, folder.connectionId);
    if (connection !== undefined) return connection;
    throw refusal('unknown_connection', `there is no connection ${folder.connectionId}`);
  }

  private async checkInput(owner: string, input: FolderSettings, signal: AbortSignal): Promise<void> {
    createNameFilter({
      filePattern: input.filePattern ?? null,
      excludePattern: input.excludePattern ?? null,
      doneFile: input.doneFile ?? null,
      recursive: false,
      skipNames: this.options.skipNames,
    });
    const { webhookUrl } = input;
    if (webhookUrl === undefined || webhookUrl === null) {
      const after = input.afterDelivery ?? 'keep';
      if (after === 'keep') return;
      throw refusal('bad_request', `afterDelivery "${after}" needs a webhookUrl`);
    }
    await checkTarget(this.options, webhookUrl, { owner, signal });
  }

  private async findFolder(
    connection: Connection,
    locate: (remote: Remote) => Promise<RemotePath>,
    signal: AbortSignal,
  ): Promise<RemotePath> {
    if (!connection.isActive) {
      throw refusal('connection_inactive', `connection ${connection.id} is not active`);
    }
    return this.options.remotes.use(connection, { signal, leftovers: this.options.leftovers }, async (remote) => {
      const path = await locate(remote);
      if (path === ROOT) return path;
      const info = await remote.stat(path);
      if (info.isDirectory) return path;
      throw new GatewayError('not_a_folder', `${path} is a file, not a folder`, { step: 'open' });
    });
  }
}

function unknownFolder(id: string): GatewayError {
  return refusal('unknown_watched_folder', `there is no watched folder ${id.slice(0, 64)}`);
}
