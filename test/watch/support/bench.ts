/** Watched folders in this process: the test's own database, the real remotes, and all parts that work on folders. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { createValidator } from '../../../src/config/validate.js';
import type { Connection } from '../../../src/connections/connection.js';
import { CONNECTION_TYPES } from '../../../src/contract/connection/types.js';
import { createDialer } from '../../../src/remotes/dial/dial.js';
import { parseRemotePath, ROOT } from '../../../src/remotes/path.js';
import { createRemotes, type Remotes } from '../../../src/remotes/registry.js';
import { openStorage } from '../../../src/storage/open.js';
import type { Storage } from '../../../src/storage/storage.js';
import { createBudgets } from '../../../src/budgets/budgets.js';
import type { WatchedFolder } from '../../../src/contract/watched-folder.js';
import type { WatchCheck } from '../../../src/contract/watch-check.js';
import { LiveTransfers } from '../../../src/operations/live.js';
import { type OperationOutcome, Operations } from '../../../src/operations/operation.js';
import { Sweeper } from '../../../src/operations/leftovers.js';
import { createEventFiles, type EventFiles } from '../../../src/jobs/event-files.js';
import type { CheckFacts } from '../../../src/watch/scheduler.js';
import type { WatchService } from '../../../src/watch/service.js';
import type { FolderSettings } from '../../../src/watch/settings.js';
import { createWatching, type Watching } from '../../../src/watch/watching.js';
import type { AttemptFacts } from '../../../src/events/deliver.js';
import { createEvents, type EventsPart } from '../../../src/events/events.js';
import { testOptions } from '../../storage/databases.js';
import { PATIENCE_MS } from '../../support/eventually.js';

const KEY = 'ftg_key-of-the-watch-tests-0123';

export interface BenchOptions {
  readonly databaseUrl: string;
  /** Named as in the configuration file. */
  readonly connections: readonly object[];
  readonly watcher?: object;
  readonly webhooks?: object;
  readonly network?: object;
  readonly maxReports?: number;
}

export class Bench {
  readonly #sweeper: Sweeper;
  readonly #eventFiles: EventFiles;
  readonly checks: CheckFacts[] = [];
  readonly attempts: AttemptFacts[] = [];
  readonly accountId: string;
  readonly service: WatchService;
  readonly #looks = new Set<() => void>();

  private constructor(
    readonly storage: Storage,
    readonly remotes: Remotes,
    readonly watching: Watching,
    eventFiles: EventFiles,
    readonly events: EventsPart,
    heard: { check: (facts: CheckFacts) => void; attempt: (facts: AttemptFacts) => void },
    accountId: string,
    sweeper: Sweeper,
    readonly outcomes: readonly OperationOutcome[],
  ) {
    this.#sweeper = sweeper;
    this.#eventFiles = eventFiles;

    this.accountId = accountId;
    this.service = watching.service;
    heard.check = (facts) => {
      this.checks.push(facts);
      this.#tell();
    };
    heard.attempt = (facts) => {
      this.attempts.push(facts);
      this.#tell();
    };
  }

  static async open(options: BenchOptions): Promise<Bench> {
    const tree = {
      accounts: [
        {
          email: 'watch@example.com',
          plan: 'pro',
          apiKeys: [{ name: 'test', key: KEY }],
          connections: options.connections,
        },
      ],
      watcher: { settleMs: 200, ...options.watcher },
      webhooks: { retryMs: [50, 50], ...options.webhooks },
      network: { webhooks: { allow: ['127.0.0.0/8'] }, ...options.network },
    };
    const origin = { placeOf: () => undefined, isVariable: () => false, writtenAt: () => undefined };
    const outcome = createValidator(CONNECTION_TYPES)(tree, origin);
    if (!('config' in outcome)) throw new Error(JSON.stringify(outcome.mistakes));
    const { config } = outcome;
    const storage = await openStorage(testOptions(options.databaseUrl));
    await storage.provision(config.accounts);
    const dialer = createDialer(config.network, () => []);
    const remotes = createRemotes({
      dialer,
      limits: config.pools,
      tuning: config.streams,
      trust: { checkHostKey: async () => undefined },
      log: () => undefined,
      warn: () => undefined,
    });
    const log = (): void => undefined;
    const sweeper = new Sweeper({ store: storage.leftovers, connections: storage.connections, remotes, log });
    const heard = { check: (_: CheckFacts): void => undefined, attempt: (_: AttemptFacts): void => undefined };
    const outcomes: OperationOutcome[] = [];
    const operations = new Operations({
      storage,
      remotes,
      onOutcome: (outcome) => outcomes.push(outcome),
      live: new LiveTransfers(),
      plans: config.limits.plans,
      leftovers: (connection) => sweeper.for(connection),
    });
    const events = createEvents({
      storage,
      dialer,
      events: config.events,
      webhooks: config.webhooks,
      requireHttps: config.network.webhooks.requireHttps,
      log,
      onAttempt: (facts) => heard.attempt(facts),
    });
    const { retry, checkTarget } = events;
    const watching = createWatching({
      storage,
      operations,
      watcher: config.watcher,
      limits: config.webhooks,
      checkTarget,
      ...(options.maxReports === undefined ? {} : { maxReports: options.maxReports }),
      log,
      onCheck: (facts) => heard.check(facts),
    });
    const { memoryBytes } = createBudgets(config.budgets, 1);
    const eventFiles = createEventFiles({ storage, operations, memoryBytes, retry, log });
    const record = await storage.keys.findKey(KEY);
    if (record === undefined) throw new Error('the key of the tests is unknown');
    events.start();
    watching.start();
    eventFiles.start();
    return new Bench(storage, remotes, watching, eventFiles, events, heard, record.accountId, sweeper, outcomes);
  }

  async close(): Promise<void> {
    await this.watching.stop();
    await this.#eventFiles.stop();
    await this.events.stop();
    await this.#sweeper.stop();
    this.remotes.close();
    await this.storage.close();
  }

  readonly leftovers = (connection: Connection) => this.#sweeper.for(connection);

  async connection(id: string): Promise<Connection> {
    const connection = await this.storage.connections.find(this.accountId, id);
    if (connection === undefined) throw new Error(`no connection ${id}`);
    return connection;
  }

  /** Deletes a file, as another client of the server would. */
  async remove(connectionId: string, path: string): Promise<void> {
    const leftovers = (connection: Connection) => this.#sweeper.for(connection);
    const use = { signal: new AbortController().signal, leftovers };
    await this.remotes.use(await this.connection(connectionId), use, (remote) =>
      remote.remove(parseRemotePath(path, ROOT, 'path')),
    );
  }

  /**
   * A folder with a baseline, and a day between its regular checks, the longest interval: the test requests its checks.
   */
  async watch(connectionId: string, path: string, input: FolderSettings = {}): Promise<WatchedFolder> {
    const connection = await this.connection(connectionId);
    const { folder } = await this.service.create(
      connection,
      async () => parseRemotePath(path, ROOT, 'path'),
      { scheduleMinutes: 1440, ...input },
      { source: 'test', rights: 'copy_too', signal: new AbortController().signal },
    );
    await this.until(() => this.checksOf(folder).length > 0, `the first check of ${path}`);
    return folder;
  }

  checksOf({ id }: WatchedFolder): CheckFacts[] {
    return this.checks.filter(({ outcome }) => outcome.folder.id === id);
  }

  /**
   * Requests a check and waits for the end of one that began after the request. It need not be a manual one: a
   * follow-up whose task had not begun serves the request.
   */
  async check(folder: WatchedFolder): Promise<WatchCheck> {
    const asked = new Date();
    // A check that is already running may have begun before the test's last change.
    while (!(await this.service.checkNow(this.accountId, folder.id)).queued) await delay(5);
    return this.#checkOf(folder, ({ outcome }) => outcome.check.startedAt >= asked, 'a check');
  }

  /** Requests a check, and waits for the follow-up check that settles its files. */
  async settle(folder: WatchedFolder): Promise<WatchCheck> {
    const check = await this.check(folder);
    if (!isUnsettled(check)) return check;
    // If another check was already due when this one ended, it settles the files.
    const settles = ({ kind, outcome: { check: later } }: CheckFacts): boolean =>
      later.id !== check.id && later.startedAt >= check.startedAt && (kind === 'follow_up' || !isUnsettled(later));
    return this.#checkOf(folder, settles, 'a check that settles');
  }

  /** Waits for the end of the first matching check. */
  async #checkOf(folder: WatchedFolder, isWanted: (facts: CheckFacts) => boolean, what: string): Promise<WatchCheck> {
    const found = (): WatchCheck | undefined => this.checksOf(folder).find(isWanted)?.outcome.check;
    await this.until(() => found() !== undefined, `${what} of ${folder.path}`);
    return found() ?? assert.fail('no check');
  }

  async reasonsOf(folder: WatchedFolder, check: WatchCheck): Promise<Record<string, string>> {
    const entries = await this.service.reasons(this.accountId, folder.id, check.id);
    return Object.fromEntries(entries.map(({ path, reason }) => [path, reason]));
  }

  /** Waits until `look` is true; evaluates it after each check and delivery, and from time to time. */
  async until(look: () => boolean | Promise<boolean>, what: string): Promise<void> {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
      if (await look()) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 50);
        const wake = (): void => {
          clearTimeout(timer);
          this.#looks.delete(wake);
          resolve();
        };
        this.#looks.add(wake);
      });
    }
    throw new Error(`not within ${PATIENCE_MS} ms: ${what}`);
  }

  #tell(): void {
    for (const look of [...this.#looks]) look();
  }
}

/** Whether the check saw files that are growing, or too young to report. */
function isUnsettled({ counts: { settling = 0, growing = 0 } }: WatchCheck): boolean {
  return settling + growing > 0;
}
