/** Moves or deletes files once their event has been delivered, each as it was reported or not at all. */
import { GatewayError, toGatewayError } from '../base/errors.js';
import type { EndSignal } from '../base/ending.js';
import type { Connection } from '../connections/connection.js';
import type { DeliveredFile } from '../contract/delivery.js';
import { MINUTE_MS } from '../contract/units.js';
import type { WatchedFolder } from '../contract/watched-folder.js';
import { deleteFile, moveFile } from '../operations/change.js';
import type { Operation, Operations } from '../operations/operation.js';
import { fixed, type PathReference } from '../operations/path-reference.js';
import { baseName, parseRemotePath, ROOT, type RemotePath } from '../remotes/path.js';
import {
  type ClaimedTask,
  clockAt,
  type Connections,
  type TaskOutcome,
  type Queue,
  QueueWorker,
  type StorageOptions,
  type WatchedFolders,
  type WebhookEvents,
} from '../storage/storage.js';
import { exactState, isReported } from './exact.js';
import { withinCheckTime } from './scan.js';
import { samePlace } from './places.js';

interface AfterDeliveryOptions {
  readonly events: Pick<WebhookEvents, 'find' | 'finishAfter'>;
  readonly folders: Pick<WatchedFolders, 'findForDelivery'>;
  readonly connections: Pick<Connections, 'find'>;
  readonly operations: Operations;
  readonly queue: Queue;
  /** For the files of one event. */
  readonly timeoutMs: number;
  readonly log: StorageOptions['log'];
}

/** The file stays where it is: it is not the one that was reported, or that cannot be known. */
class LeftInPlace extends GatewayError {
  constructor(text: string) {
    super('unsupported_operation', text, { step: 'verify' });
  }
}

const CONCURRENCY = 4;
const RETRY_EVERY_MS = 60_000;
/** After that its files stay where they are. They are known, and are not reported again. */
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

  async #run(task: ClaimedTask, signal: AbortSignal): Promise<TaskOutcome> {
    const { events, folders, connections, timeoutMs, log } = this.#options;
    const event = await events.find(task.key);
    if (event === undefined || event.afterAction !== 'pending') return 'done';
    const clock = clockAt(event.readAt);
    const folder = event.watchedFolderId === null ? undefined : await folders.findForDelivery(event.watchedFolderId);
    const connection = folder === undefined ? undefined : await connections.find(folder.accountId, folder.connectionId);
    if (folder !== undefined && folder.afterDelivery !== 'keep' && connection?.isActive === true) {
      try {
        await withinCheckTime('the files of the event', timeoutMs, signal, async (limited) => {
          for (const file of event.files) await this.#act(folder, connection, file, limited);
        });
      } catch (thrown) {
        const error = toGatewayError(thrown);
        // Nothing is wrong with the files: the task is given back.
        if (signal.aborted || error.inJobs === 'again') throw error;
        log('warn', 'files could not be moved or deleted after their delivery', {
          watchedFolderId: folder.id,
          reason: error.clientText,
        });
        const now = clock.earliestMs();
        const isFresh = now - (event.deliveredAt?.getTime() ?? 0) < GIVE_UP_AFTER_MS;
        if (isFresh) return { again: new Date(now + RETRY_EVERY_MS) };
      }
    }
    await events.finishAfter(event.id);
    return 'done';
  }

  /** Moves or deletes one file. One that has changed since it was reported, or is gone, leaves no trace. */
  async #act(folder: WatchedFolder, connection: Connection, reported: DeliveredFile, signal: EndSignal): Promise<void> {
    const { accountId, afterDelivery } = folder;
    const path = parseRemotePath(reported.path, ROOT, 'path');
    const type = afterDelivery === 'move' ? 'move' : 'delete';
    const request = {
      // Neither a key nor a plan: it follows from a delivery, and counts no action.
      caller: { accountId, keyId: '', plan: '' },
      connection,
      type,
      path,
      filename: baseName(path),
      signal,
      isFree: true,
      isTentative: true,
      priority: 'background',
    } as const;
    const expected = reported.etag === undefined ? {} : { etag: reported.etag };
    try {
      await this.#options.operations.run(request, async (operation) => {
        const asReported = referToReported(operation, folder, path, reported);
        if (type === 'delete') await deleteFile(operation, asReported, expected);
        else {
          const target = fixed(targetOf(folder, path));
          await moveFile(operation, asReported, target, { replace: true, ...expected, showsSource: true });
        }
        operation.fileSize = reported.size;
      });
    } catch (error) {
      if (!(error instanceof LeftInPlace)) throw error;
    }
  }
}

/** The path, on the session that acts on it at once. @throws LeftInPlace */
function referToReported(
  operation: Operation,
  folder: WatchedFolder,
  path: RemotePath,
  reported: DeliveredFile,
): PathReference {
  return async (remote) => {
    const found = await exactState(remote, path);
    if (found === undefined || !isReported(found, reported)) throw new LeftInPlace(`${path} has changed`);
    operation.confirm();
    // Events of version 1.0 have the time of a listing.
    const wasExact = reported.isExact ?? folder.timeResolutionMs < MINUTE_MS;
    if (wasExact && found.isExact === true) return path;
    throw new LeftInPlace(
      `left alone: the server tells no exact time of ${path}, so that a file which replaced it could not be told from it`,
    );
  };
}

/** The same place below moveTo as below the watched folder. */
function targetOf(folder: WatchedFolder, path: RemotePath): RemotePath {
  const root = parseRemotePath(folder.path, ROOT, 'path');
  return samePlace(root, path, parseRemotePath(folder.moveTo ?? '', root, 'moveTo'));
}
