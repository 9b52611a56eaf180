/** What becomes of files once their event has been delivered: moved or deleted, each as it was reported or not at all. */
import { toGatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import type { DeliveredFile } from '../contract/delivery.js';
import type { WatchedFolder } from '../contract/watched-folder.js';
import { Evidence } from '../operations/evidence.js';
import { baseName, parseRemotePath, ROOT, type RemotePath } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { Remote } from '../remotes/remote.js';
import {
  type ClaimedTask,
  clockAt,
  type Connections,
  type History,
  type TaskOutcome,
  type Queue,
  QueueWorker,
  type StorageOptions,
  type WatchedFolders,
  type WebhookEvents,
} from '../storage/storage.js';
import { withinCheckTime } from './look.js';
import { exactState, isReported } from './exact.js';
import { samePlace } from './places.js';
import { MINUTE_MS } from '../contract/units.js';

interface AfterDeliveryOptions {
  readonly events: Pick<WebhookEvents, 'find' | 'finishAfter'>;
  readonly folders: Pick<WatchedFolders, 'findForDelivery'>;
  readonly connections: Pick<Connections, 'find'>;
  readonly history: Pick<History, 'admit' | 'begin'>;
  readonly remotes: Pick<Remotes, 'use' | 'host'>;
  readonly leftovers: (connection: Connection) => Leftovers;
  readonly queue: Queue;
  /** For the files of one event. */
  readonly timeoutMs: number;
  readonly log: StorageOptions['log'];
}

const CONCURRENCY = 4;
const RETRY_EVERY_MS = 60_000;
/** A folder's connection that stays away: its files keep their place, and are known already. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;

export class AfterDelivery {
  readonly #options: AfterDeliveryOptions;
  readonly #worker: QueueWorker;

  constructor(options: AfterDeliveryOptions) {
    this.#options = options;
    this.#worker = new QueueWorker({
      claims: options.queue,
      queue: 'after-delivery',
      concurrency: CONCURRENCY,
      groupConcurrency: 1,
      run: (job, signal) => this.#run(job, signal),
      log: options.log,
    });
  }

  start(): void {
    this.#worker.start();
  }

  stop(): Promise<void> {
    return this.#worker.stop(0);
  }

  async #run(job: ClaimedTask, signal: AbortSignal): Promise<TaskOutcome> {
    // What cannot be recorded is not begun: the job is given back.
    await this.#options.history.admit();
    const { events, folders, connections, remotes, leftovers, log } = this.#options;
    const event = await events.find(job.key);
    if (event === undefined || event.afterAction !== 'pending') return 'done';
    const clock = clockAt(event.readAt);
    const folder = event.watchedFolderId === null ? undefined : await folders.findForDelivery(event.watchedFolderId);
    const connection = folder === undefined ? undefined : await connections.find(folder.accountId, folder.connectionId);
    if (folder !== undefined && folder.afterDelivery !== 'keep' && connection?.isActive === true) {
      try {
        await withinCheckTime('the files of the event', this.#options.timeoutMs, signal, (limited) =>
          remotes.use(connection, { signal: limited, leftovers, priority: 'background' }, async (remote) => {
            for (const file of event.files) await this.#treat(remote, folder, connection, file);
          }),
        );
      } catch (error) {
        if (signal.aborted) throw error;
        log('warn', 'files could not be moved or deleted after their delivery', {
          watchedFolderId: folder.id,
          reason: toGatewayError(error).clientText,
        });
        const now = clock.earliestMs();
        const isFresh = now - (event.deliveredAt?.getTime() ?? 0) < GIVE_UP_AFTER_MS;
        if (isFresh) return { again: new Date(now + RETRY_EVERY_MS) };
      }
    }
    await events.finishAfter(event.id);
    return 'done';
  }

  /** One file, and its history item; a file that changed since, or went, is left alone. */
  async #treat(remote: Remote, folder: WatchedFolder, connection: Connection, reported: DeliveredFile): Promise<void> {
    const path = parseRemotePath(reported.path, ROOT, 'path');
    const found = await exactState(remote, path);
    if (found === undefined || !isReported(found, reported)) return;
    const isMove = folder.afterDelivery === 'move';
    const type = isMove ? 'move' : 'delete';
    const transfer = this.#options.history.begin({
      accountId: folder.accountId,
      connectionId: connection.id,
      keyId: undefined,
      requestId: undefined,
      type,
      direction: 'outbound',
      filename: baseName(path),
      path,
      countsAction: false,
    });
    // Events of version 1.0 hold what a listing told.
    const wasExact = reported.isExact ?? folder.timeResolutionMs < MINUTE_MS;
    if (!wasExact || found.isExact !== true) {
      const errorMessage = `left alone: the server tells no exact time of ${path}, so that a file which replaced it could not be told from it`;
      await transfer.finish({ status: 'failed', fileSize: 0, errorMessage, errorCode: 'unsupported_operation' });
      return;
    }
    const expected = reported.etag === undefined ? {} : { etag: reported.etag };
    const evidence = new Evidence(connection, false);
    try {
      await evidence.witness(remote, undefined, async () => {
        if (!isMove) return remote.remove(path, expected);
        const target = targetOf(folder, path);
        evidence.moves(path, target);
        await remote.move(path, target, { replace: true, ...expected });
      });
      await transfer.finish({
        status: 'success',
        fileSize: reported.size,
        errorMessage: null,
        errorCode: null,
        noDigest: evidence.gap ?? null,
        stages: {},
        receipt: evidence.receiptOf(type, this.#options.remotes),
      });
    } catch (thrown) {
      const error = toGatewayError(thrown);
      const errorMessage = error.clientText;
      await transfer.finish({ status: 'failed', fileSize: 0, errorMessage, errorCode: error.code });
      throw error;
    }
  }
}

/** The same place below moveTo as below the watched folder. */
function targetOf(folder: WatchedFolder, path: RemotePath): RemotePath {
  const root = parseRemotePath(folder.path, ROOT, 'path');
  return samePlace(root, path, parseRemotePath(folder.moveTo ?? '', root, 'moveTo'));
}
