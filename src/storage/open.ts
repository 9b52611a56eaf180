/** Puts the storage together, in order, and takes it apart in reverse. */
import { AccountStore } from './tables/accounts.js';
import { ConnectionStore } from './tables/connections.js';
import { type DatabaseTarget, parseDatabaseUrl } from './postgres/database-target.js';
import { Database } from './postgres/database.js';
import { type EmbeddedServer, startEmbedded } from './embedded/embedded.js';
import { TransferHistory } from './tables/history.js';
import { Housekeeping } from './cluster/housekeeping.js';
import { IdempotencyKeys } from './tables/idempotency.js';
import { JobEngine } from './cluster/jobs.js';
import { openMasterKey, rotateMasterKey } from './secrets/key-check.js';
import { LeftoverNotes } from './tables/leftovers.js';
import { AdvisoryLocks } from './cluster/locks.js';
import { AuditLog } from './tables/audit-log.js';
import { ConnectionEditor } from './tables/connection-editor.js';
import { Credentials } from './tables/credentials.js';
import { Figures } from './tables/figures.js';
import { KeyEditor } from './tables/key-editor.js';
import { KeyPairs } from './tables/key-pairs.js';
import { LoginSessions } from './tables/login-sessions.js';
import type { Management } from './management.js';
import { RunningTransfers } from './tables/running-transfers.js';
import { TransferPages } from './tables/transfer-pages.js';
import { type MasterKey, masterKeyFile, parseMasterKey, replaceMasterKeyFile } from './secrets/master-key.js';
import { migrate } from './postgres/migrate.js';
import { NODE_TIMING, NodeRegistry, type NodeTiming } from './cluster/nodes.js';
import { provisionAccounts } from './tables/provision.js';
import { MonthlyQuota } from './tables/quota.js';
import { SharedRates } from './cluster/request-rates.js';
import { Keyring } from './secrets/secrets.js';
import { SharedSessions } from './cluster/session-claims.js';
import { StartupError } from './startup-error.js';
import type { RequestRates, SessionClaims, Storage, StorageOptions } from './storage.js';
import { WatchFiles } from './tables/watch-files.js';
import { WatchSecrets } from './tables/watch-secrets.js';
import type { WatchStorage } from './tables/watch-storage.js';
import { WatchStore } from './tables/watches.js';
import { WebhookEvents } from './tables/webhook-events.js';

export interface OpenedStorage extends Storage {
  readonly watching: WatchStorage;
  readonly management: Management;
  /** What other processes share with this one; undefined where the database is this one's own. */
  readonly shared: { readonly rates: RequestRates; readonly sessions: SessionClaims } | undefined;
  /**
   * For other threads of this process, which open the same database by it: `url` as given, or that of the embedded
   * server. Holds a password.
   */
  readonly databaseUrl: string;
}

/**
 * Opens the database at `url`, or the embedded one in dataDir when it is "", migrated and with its master key proven.
 * Rejects with a StartupError, one line for the operator, and leaves nothing running then.
 */
export async function openStorage(options: StorageOptions, timing: NodeTiming = NODE_TIMING): Promise<OpenedStorage> {
  const opened = await openDatabase(options);
  const { database, embedded } = opened;
  try {
    const keyring = new Keyring(await openMasterKey(database, options));
    const node = new NodeRegistry(database, logOf(options), timing);
    await node.start(embedded !== undefined);
    const jobs = await JobEngine.open(database, logOf(options));
    const storage = assemble(opened, keyring, node, jobs, options);
    await storage.watching.secrets.sealLogins();
    // Nothing is served before what died with an earlier process has come to its end.
    await node.beatNow();
    return storage;
  } catch (error) {
    await closeDatabase(opened);
    throw asStartupError(error);
  }
}

/**
 * Changes the master key of the database that `options` describes, whose gateways should be stopped: every secret is
 * wrapped anew, and a key file is replaced. Resolves to the number of secrets.
 */
export async function changeMasterKey(options: StorageOptions, nextKey: string): Promise<number> {
  const next = parseMasterKey(nextKey, 'the new master key');
  const opened = await openDatabase(options);
  try {
    const former = await openMasterKey(opened.database, options);
    const secrets = await rotateMasterKey(opened.database, former, next);
    if (options.masterKey === '') await replaceKeyFile(options.dataDir, next);
    return secrets;
  } finally {
    await closeDatabase(opened);
  }
}

async function replaceKeyFile(dataDir: string, next: MasterKey): Promise<void> {
  await replaceMasterKeyFile(masterKeyFile(dataDir), next);
}

function logOf(options: StorageOptions): StorageOptions['log'] {
  return (level, message, facts) => options.log(level, message, facts);
}

interface OpenedDatabase {
  readonly database: Database;
  readonly embedded: EmbeddedServer | undefined;
}

async function openDatabase(options: StorageOptions): Promise<OpenedDatabase> {
  const embedded = options.url === '' ? await startEmbedded(options.dataDir, logOf(options)) : undefined;
  let database: Database | undefined;
  try {
    const target: DatabaseTarget = embedded?.target ?? (await parseDatabaseUrl(options.url));
    database = new Database(target, options);
    await database.connect();
    await migrate(database);
    return { database, embedded };
  } catch (error) {
    await database?.close();
    await embedded?.stop();
    throw asStartupError(error);
  }
}

function asStartupError(error: unknown): StartupError {
  if (error instanceof StartupError) return error;
  const reason = error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error);
  return new StartupError(`the database cannot be used: ${reason}`, { cause: error });
}

async function closeDatabase({ database, embedded }: OpenedDatabase): Promise<void> {
  await database.close();
  await embedded?.stop();
}

function assemble(
  opened: OpenedDatabase,
  keyring: Keyring,
  node: NodeRegistry,
  jobs: JobEngine,
  options: StorageOptions,
): OpenedStorage {
  const { database } = opened;
  const connections = new ConnectionStore(database, keyring);
  const accounts = new AccountStore(database, async (configured, sandboxId) => {
    await provisionAccounts(database, keyring, configured, sandboxId);
    connections.forgetAll();
  });
  const history = new TransferHistory(database, node.id, options);
  const housekeeping = new Housekeeping(database, node, options);
  const idempotency = new IdempotencyKeys(database, node);
  const locks = new AdvisoryLocks(database);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await jobs.close();
    await history.close();
    await accounts.close();
    await housekeeping.close();
    await node.stop().catch(() => options.log('warn', 'the node could not sign off: the database is away'));
    await locks.close();
    await closeDatabase(opened);
  };
  return {
    accounts,
    connections,
    history,
    quota: new MonthlyQuota(database),
    idempotency,
    leftovers: new LeftoverNotes(database, node),
    locks,
    watching: {
      folders: new WatchStore(database, jobs, node.id),
      files: new WatchFiles(database),
      secrets: new WatchSecrets(database, keyring),
      events: new WebhookEvents(database, jobs),
      jobs,
    },
    management: assembleManagement(database, keyring, node, accounts, connections),
    shared:
      opened.embedded === undefined
        ? { rates: new SharedRates(database, () => node.processes), sessions: new SharedSessions(database, node) }
        : undefined,
    databaseUrl: opened.embedded?.url ?? options.url,
    ready: async () => {
      await database.ready(history.isStalled);
      if (history.refusal !== undefined) throw history.refusal;
    },
    close: () => (closing ??= close()),
  };
}

function assembleManagement(
  database: Database,
  keyring: Keyring,
  node: NodeRegistry,
  accounts: AccountStore,
  connections: ConnectionStore,
): Management {
  const keysChanged = (): void => accounts.forgetKeys();
  return {
    audit: new AuditLog(database),
    connections: new ConnectionEditor(database, keyring, {
      connectionChanged: () => connections.forgetAll(),
      keysChanged,
    }),
    credentials: new Credentials(database, keyring),
    figures: new Figures(database),
    keys: new KeyEditor(database, keysChanged),
    keyPairs: new KeyPairs(database, keyring),
    sessions: new LoginSessions(database),
    running: new RunningTransfers(database, node.id),
    transfers: new TransferPages(database),
  };
}
