/** Opens the parts of the storage in order, and closes them in reverse. */
import type { AccountConfig } from '../config/schema.js';
import { PostgresQueue } from './queue/queue.js';
import { AdvisoryLocks } from './cluster/locks.js';
import { NODE_TIMING, NodeRegistry, type NodeTiming } from './cluster/nodes.js';
import { forgetDeadClaims, forgetRates, SharedRates, SharedSessions } from './cluster/shared-limits.js';
import type { BegunServer } from './embedded/begun.js';
import { type EmbeddedServer, startEmbedded } from './embedded/embedded.js';
import { firstIdAt } from './postgres/clock.js';
import { Database } from './postgres/database.js';
import { migrate } from './postgres/migrate.js';
import { checkRequirements } from './postgres/requirements.js';
import type { Queryable, Transaction } from './postgres/sql.js';
import { parseDatabaseUrl } from './postgres/target.js';
import { openMasterKey, rotateMasterKey } from './secrets/key-check.js';
import { masterKeyFile, parseMasterKey, replaceMasterKeyFile } from './secrets/master-key.js';
import { ReceiptKeys } from './secrets/receipt-keys.js';
import { FolderSecrets, NamedSecrets } from './secrets/sealed-rows.js';
import { Keyring } from './secrets/secrets.js';
import { Signatures } from './secrets/signatures.js';
import { WebhookSecret } from './secrets/webhook-secret.js';
import { StartupError, type StorageOptions } from './startup.js';
import type { Storage } from './storage.js';
import { Accounts, forgetFailures, provisionAccount } from './tables/accounts.js';
import { AlarmRecipients } from './tables/alarm-recipients.js';
import { Alarms } from './tables/alarms.js';
import { ApiKeys, markConfiguredKeys, provisionKeys, touchKeys } from './tables/api-keys.js';
import { AuditLog } from './tables/audit-log.js';
import { ConnectionChecks } from './tables/connection-checks.js';
import { ConnectionFigures } from './tables/connection-figures.js';
import { ConnectionOutages } from './tables/connection-outages.js';
import {
  ConnectionEditor,
  Connections,
  markConfiguredConnections,
  prepareConnection,
  provisionConnections,
} from './tables/connections.js';
import { EventFeeds } from './tables/event-feeds.js';
import { Outbox } from './tables/outbox.js';
import { SuccessSubscriptions } from './tables/transfer-events.js';
import { EventNumbers } from './tables/event-numbers.js';
import { Figures } from './tables/figures.js';
import {
  deleteEmptyDays,
  deleteOlder,
  deleteSurplus,
  failPendingOf,
  findSurplus,
  forgetHeld,
  hasPendingOf,
} from './tables/history-statements.js';
import { TransferHistory } from './tables/history.js';
import { HostKeys } from './tables/host-keys.js';
import { IdempotencyKeys } from './tables/idempotency.js';
import { JobTree } from './tables/job-tree.js';
import { Jobs } from './tables/jobs.js';
import { KeyPairs } from './tables/key-pairs.js';
import { KeyUses } from './tables/key-records.js';
import { LeftoverNotes } from './tables/leftovers.js';
import { deleteEndedLinks, forgetHeldUses, Links } from './tables/links.js';
import { LoginSessions } from './tables/login-sessions.js';
import { MonthlyQuota } from './tables/quota.js';
import { Receipts } from './tables/receipts.js';
import { RouteCopies } from './tables/route-copies.js';
import { S3AccessKeys } from './tables/s3-access-keys.js';
import { RunningTransfers } from './tables/running-transfers.js';
import { Schedules } from './tables/schedules.js';
import { deleteOldHours } from './tables/transfer-hours.js';
import { TransferPages } from './tables/transfer-pages.js';
import { MultipartParts } from './tables/multipart.js';
import { Uploads } from './tables/uploads.js';
import { WatchChecks } from './tables/watch-checks.js';
import { WatchedFiles } from './tables/watched-files.js';
import { WatchedFolders } from './tables/watched-folders.js';
import { Deliveries } from './tables/deliveries.js';
import { WebhookEvents } from './tables/webhook-events.js';
import { Webhooks } from './tables/webhooks.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../contract/units.js';

/**
 * Opens the database at `url`, or the embedded one in dataDir if it is "": migrated, and with a verified master key.
 * Rejects with a StartupError, one line for the operator; then nothing is left running.
 */
export async function openStorage(
  options: StorageOptions & { readonly begun?: BegunServer | undefined },
  timing: NodeTiming = NODE_TIMING,
): Promise<Storage> {
  const opened = await openDatabase(options, options.begun);
  const { database, embedded } = opened;
  try {
    const keyring = new Keyring(await openMasterKey(database, options));
    const node = new NodeRegistry(database, options.log, timing);
    await node.start(embedded !== undefined);
    const queue = await PostgresQueue.open(database, options.log);
    const storage = assemble(opened, keyring, node, queue, options);
    await storage.watching.folders.sealLogins(storage.watching.secrets);
    await new ReceiptKeys(database, new NamedSecrets(keyring, 'receipt_key_secrets')).ensure();
    // Nothing is served before the leftovers of an earlier process are cleaned up.
    await node.beatNow();
    return storage;
  } catch (error) {
    await closeDatabase(opened);
    throw asStartupError(error);
  }
}

/**
 * Changes the master key of the database in `options`, whose gateways should be stopped: every secret is wrapped again,
 * and a key file is replaced. Resolves to the number of secrets.
 */
export async function changeMasterKey(options: StorageOptions, nextKey: string): Promise<number> {
  const next = parseMasterKey(nextKey, 'the new master key');
  const opened = await openDatabase(options);
  try {
    const former = await openMasterKey(opened.database, options);
    const secrets = await rotateMasterKey(opened.database, former, next);
    if (options.masterKey === '') await replaceMasterKeyFile(masterKeyFile(options.dataDir), next);
    return secrets;
  } finally {
    await closeDatabase(opened);
  }
}

/** From now on a new key signs receipts, on all nodes; resolves to its id. */
export async function changeReceiptKey(options: StorageOptions): Promise<string> {
  const opened = await openDatabase(options);
  try {
    const keyring = new Keyring(await openMasterKey(opened.database, options));
    return await new ReceiptKeys(opened.database, new NamedSecrets(keyring, 'receipt_key_secrets')).rotate();
  } finally {
    await closeDatabase(opened);
  }
}

interface OpenedDatabase {
  readonly database: Database;
  readonly embedded: EmbeddedServer | undefined;
}

async function openDatabase(options: StorageOptions, begun?: BegunServer): Promise<OpenedDatabase> {
  const embedded =
    options.url === '' ? await (begun?.take() ?? startEmbedded(options.dataDir, options.log)) : undefined;
  let database: Database | undefined;
  try {
    const target = embedded?.target ?? (await parseDatabaseUrl(options.url));
    database = new Database(target, options);
    await database.connect();
    if (embedded === undefined) await checkRequirements(database);
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
  queue: PostgresQueue,
  options: StorageOptions,
): Storage {
  const { database, embedded } = opened;
  const connectionSecrets = new NamedSecrets(keyring, 'connection_secrets');
  const accountSecrets = new NamedSecrets(keyring, 'account_secrets');
  const accounts = new Accounts(database, accountSecrets);
  const keyUses = new KeyUses((ids) => touchKeys(database, ids));
  const s3Secrets = new NamedSecrets(keyring, 's3_access_key_secrets');
  const s3AccessKeys = new S3AccessKeys(database, s3Secrets, keyUses);
  const keys = new ApiKeys(database, keyUses, s3AccessKeys);
  const keyPairs = new KeyPairs(database, accountSecrets);
  const connections = new Connections(database, connectionSecrets);
  const feeds = new EventFeeds(database);
  const outbox = new Outbox(database, queue);
  const receiptKeys = new ReceiptKeys(database, new NamedSecrets(keyring, 'receipt_key_secrets'));
  const receipts = new Receipts(database, receiptKeys);
  const webhookSecrets = new NamedSecrets(keyring, 'webhook_secrets');
  const subscriptions = new SuccessSubscriptions(database);
  const signing = new WebhookSecret(database, webhookSecrets, 'webhooks');
  const webhooks = new Webhooks(database, webhookSecrets, signing, subscriptions);
  const jobRows = new Jobs(database, queue, new NamedSecrets(keyring, 'job_secrets'), outbox);
  const urls = new NamedSecrets(keyring, 'transfer_secrets');
  const history = new TransferHistory({ database, nodeId: node.id, outbox, receipts, subscriptions, urls, options });
  const checks = new WatchChecks(database, node.id);
  const folders = new WatchedFolders(database, queue, checks, outbox, node.id);
  const outgoing = new WebhookEvents(database, queue, outbox, folders, webhooks);
  const connectionChecks = new ConnectionChecks(database, queue.agenda, outbox);
  const housekeeping = new Housekeeping(database, node, receipts, outbox, connectionChecks, options);
  const idempotency = new IdempotencyKeys(database, node, options.idempotencyKeys ?? 1_000_000);
  const locks = new AdvisoryLocks(database, options.log, () => queue.agenda.pollNow());
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await queue.close();
    await history.close();
    await keys.close();
    await housekeeping.close();
    await node.stop().catch(() => options.log('warn', 'the node could not sign off: the database is away'));
    await locks.close();
    await closeDatabase(opened);
  };
  const { agenda } = queue;
  return {
    accounts,
    agenda,
    alarms: new Alarms(database, outbox),
    alarmRecipients: new AlarmRecipients(database),
    keys,
    s3AccessKeys,
    connections,
    hostKeys: new HostKeys(database, connections, options.log),
    outages: new ConnectionOutages(database, outbox),
    checks: connectionChecks,
    history,
    quota: new MonthlyQuota(database, node.id),
    idempotency,
    leftovers: new LeftoverNotes(database, node),
    links: new Links(database, node),
    locks,
    receipts,
    signatures: new Signatures(keyring),
    multipart: new MultipartParts(database),
    uploads: new Uploads(database),
    watching: {
      folders,
      checks,
      files: new WatchedFiles(database),
      secrets: new FolderSecrets(database, keyring),
      outbox,
      events: outgoing,
      copies: new RouteCopies(database),
      queue,
      agenda,
    },
    events: {
      feeds,
      numbers: new EventNumbers(database, queue, feeds),
      webhooks,
      accountSecret: new WebhookSecret(database, accountSecrets, 'accounts'),
      outgoing,
      deliveries: new Deliveries(database, queue, folders, webhooks),
      queue,
      agenda,
    },
    jobs: {
      rows: jobRows,
      tree: new JobTree(database, queue),
      schedules: new Schedules(database, jobRows),
      queue,
      agenda,
    },
    management: {
      audit: new AuditLog(database),
      connections: new ConnectionEditor(database, connectionSecrets, keyPairs, connections, keys),
      health: new ConnectionFigures(database),
      figures: new Figures(database),
      keyPairs,
      sessions: new LoginSessions(database),
      running: new RunningTransfers(database, node.id),
      transfers: new TransferPages(database),
    },
    shared:
      embedded === undefined
        ? { rates: new SharedRates(database, node), sessions: new SharedSessions(database, node) }
        : undefined,
    databaseUrl: embedded?.url ?? options.url,
    provision: async (configured, sandboxId) => {
      await provisionAccounts(database, { connectionSecrets, s3Secrets }, configured, sandboxId);
      connections.forgetAll();
      keys.forgetAll();
    },
    ready: async () => {
      await database.ready(history.isStalled);
      await locks.ready();
      if (history.refusal !== undefined) throw history.refusal;
    },
    close: () => (closing ??= close()),
  };
}

const PROVISION_LOCK = 4_702_111_234_002;
/** Other nodes may be provisioning the same accounts at this moment. */
const PATIENCE_MS = 120_000;

/** The StartupError names the entry that cannot be applied; then nothing is changed. */
async function provisionAccounts(
  database: Database,
  { connectionSecrets, s3Secrets }: Readonly<Record<'connectionSecrets' | 's3Secrets', NamedSecrets>>,
  accounts: readonly AccountConfig[],
  sandboxId: string | undefined,
): Promise<void> {
  // Files are read before the lock is taken.
  const prepared = await Promise.all(
    accounts.map(async (account) => ({
      account,
      connections: await Promise.all(account.connections.map(prepareConnection)),
    })),
  );
  await database.transaction(async (tx) => {
    await tx`select set_config('statement_timeout', ${String(PATIENCE_MS)}, true)`;
    await tx`select pg_advisory_xact_lock(${PROVISION_LOCK}::bigint)`;
    const connectionIds: string[] = [];
    for (const { account, connections } of prepared) {
      const accountId = await provisionAccount(tx, account);
      await provisionKeys(tx, s3Secrets, accountId, account);
      connectionIds.push(
        ...(await provisionConnections(tx, connectionSecrets, accountId, account, connections, sandboxId)),
      );
    }
    await markConfiguredConnections(tx, connectionIds);
    await markConfiguredKeys(
      tx,
      accounts.flatMap(({ apiKeys }) => apiKeys),
    );
  }, PATIENCE_MS);
}

/** The interval of sweeps while no node is known to have died. */
const SWEEP_EVERY_MS = MINUTE_MS;
const RETENTION_LOCK = 4_702_111_234_003;
const RETENTION_BATCH = 2000;

class Housekeeping {
  readonly #database: Database;
  readonly #node: NodeRegistry;
  readonly #receipts: Pick<Receipts, 'deleteOlder'>;
  readonly #outbox: Outbox;
  readonly #checks: Pick<ConnectionChecks, 'deleteOld'>;
  readonly #options: Pick<StorageOptions, 'retentionDays' | 'freeItems' | 'log'>;
  #cleanedAt = -Infinity;
  #trimmedAt = -Infinity;
  #sweptAt = -Infinity;
  #cleaning: Promise<void> | undefined;
  #stopped = false;

  constructor(
    database: Database,
    node: NodeRegistry,
    receipts: Pick<Receipts, 'deleteOlder'>,
    outbox: Outbox,
    checks: Pick<ConnectionChecks, 'deleteOld'>,
    options: Pick<StorageOptions, 'retentionDays' | 'freeItems' | 'log'>,
  ) {
    this.#database = database;
    this.#node = node;
    this.#receipts = receipts;
    this.#outbox = outbox;
    this.#checks = checks;
    this.#options = options;

    node.afterBeat(async () => {
      await this.#sweepIfDue();
      const now = performance.now();
      if (this.#cleaning !== undefined || now - this.#trimmedAt < MINUTE_MS) return;
      this.#trimmedAt = now;
      const isHourly = now - this.#cleanedAt >= HOUR_MS;
      // Not awaited: a first run over months of items must not delay the heartbeat.
      this.#cleaning = this.trim()
        .then(async () => {
          if (!isHourly) return;
          await this.clean();
          this.#cleanedAt = now;
        })
        .catch((error: unknown) => this.#options.log('warn', 'cleaning the history failed', { reason: String(error) }))
        .finally(() => (this.#cleaning = undefined));
    });
  }

  async #sweepIfDue(): Promise<void> {
    if (!this.#node.takeLoss() && performance.now() - this.#sweptAt < SWEEP_EVERY_MS) return;
    // Until a sweep succeeds, each heartbeat tries again.
    this.#sweptAt = -Infinity;
    await this.sweep();
    this.#sweptAt = performance.now();
  }

  /** Fails the pending transfers of dead nodes and deletes nodes that left nothing to clean up. */
  async sweep(): Promise<void> {
    await this.#failPending();
    await this.#database.run((sql) => forgetHeld(sql, this.#node.isDead(sql, sql`held.key::uuid`)));
    await this.#database.run((sql) => forgetHeldUses(sql, this.#node.isDead(sql, sql`held.key::uuid`)));
    await this.#database.run((sql) => forgetDeadClaims(sql, this.#node));
    await this.#node.forgetDead();
  }

  async #failPending(): Promise<void> {
    const isDead = (sql: Queryable) => this.#node.isDead(sql, sql`p.node_id`);
    if (!(await this.#database.run((sql) => hasPendingOf(sql, isDead(sql))))) return;
    const failed = await this.#database.transaction((tx) => failPendingOf(tx, this.#outbox, isDead(tx)));
    if (failed === 0) return;
    this.#options.log('warn', 'transfers of a node that died are marked as failed', { transfers: failed });
  }

  /**
   * Deletes items older than retentionDays, in small batches, on one node at a time. Also deletes expired login
   * failures, rates, old checks and hours, and ended links.
   */
  async clean(): Promise<void> {
    await this.#database.run(forgetFailures);
    await this.#database.run(forgetRates);
    await this.#checks.deleteOld();
    await this.#database.run(deleteOldHours);
    await this.#database.run(deleteEndedLinks);
    if (this.#options.retentionDays === 0) return;
    const before = firstIdAt(new Date(Date.now() - this.#options.retentionDays * DAY_MS));
    while ((await this.#delete((tx) => deleteOlder(tx, before, RETENTION_BATCH))) === RETENTION_BATCH);
    await this.#database.run(deleteEmptyDays);
    const oldest = new Date(Date.now() - this.#options.retentionDays * DAY_MS);
    while ((await this.#receipts.deleteOlder(oldest, RETENTION_BATCH)) > 0 && !this.#stopped);
  }

  /** Listings and look-ups cost no action of the month: an account keeps only the newest of them. */
  async trim(): Promise<void> {
    const { freeItems = 0 } = this.#options;
    if (freeItems === 0) return;
    const surpluses = await this.#database.run((sql) => findSurplus(sql, freeItems));
    for (const surplus of surpluses) {
      let left = surplus.items;
      while (left > 0) {
        const rest = { ...surplus, items: left };
        const deleted = await this.#delete((tx) => deleteSurplus(tx, rest, RETENTION_BATCH));
        if (deleted === 0) break;
        left -= deleted;
      }
    }
    if (surpluses.length > 0) await this.#database.run(deleteEmptyDays);
  }

  /** Resolves to the number of deleted items; 0 while another node deletes. */
  async #delete(items: (tx: Transaction) => Promise<number>): Promise<number> {
    if (this.#stopped) return 0;
    return this.#database.transaction(async (tx) => {
      const [row] = await tx<{ mine: boolean }[]>`select pg_try_advisory_xact_lock(${RETENTION_LOCK}::bigint) as mine`;
      return row?.mine === true ? items(tx) : 0;
    });
  }

  async close(): Promise<void> {
    this.#stopped = true;
    await this.#cleaning;
  }
}
