/**
 * Moves or deletes files after the delivery of their event. Files that have changed since the report are left alone.
 */
import { GatewayError, toGatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { closedUntil, nextLookMs } from '../connections/require.js';
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
import { exactState, isReported } from '../watch/exact.js';
import { samePlace } from '../watch/places.js';
import { withinCheckTime } from '../watch/scan.js';
import { type FileVerdict, runSlice } from './file-list.js';

interface AfterDeliveryOptions {
  readonly events: Pick<WebhookEvents, 'find' | 'finishAfter'>;
  readonly folders: Pick<WatchedFolders, 'findForDelivery'>;
  readonly connections: Pick<Connections, 'find'>;
  readonly operations: Operations;
  readonly queue: Queue;
  /** The time limit for all files of one event. */
  readonly timeoutMs: number;
  readonly log: StorageOptions['log'];
}

/** The file is left alone: it is not, or may not be, the reported one. */
class LeftInPlace extends GatewayError {
  constructor(text: string) {
    super('unsupported_operation', text, { step: 'verify' });
  }
}

/** Concurrent events on this node, and files of one event. */
const CONCURRENCY = 4;
const PARALLEL_FILES = 4;
const RETRY_EVERY_MS = 60_000;
/** After this time, the files of an event are left alone. Their entries are stored, so they are not reported again. */
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
      run: (task, signal) => this.#run(task, signal),
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
    const { events, folders, connections, log } = this.#options;
    const event = await events.find(task.key);
    if (event === undefined || event.afterAction !== 'pending') return 'done';
    const clock = clockAt(event.readAt);
    const folder = event.watchedFolderId === null ? undefined : await folders.findForDelivery(event.watchedFolderId);
    const connection = folder === undefined ? undefined : await connections.find(folder.accountId, folder.connectionId);
    if (folder !== undefined && folder.afterDelivery !== 'keep' && connection?.isActive === true) {
      const closed = closedUntil(connection);
      if (closed !== undefined) return { again: nextLookMs(closed) };
      const trouble = await this.#actOnAll(folder, connection, event.files, signal);
      if (trouble !== undefined) {
        log('warn', 'files could not be moved or deleted after their delivery', {
          watchedFolderId: folder.id,
          reason: trouble.clientText,
        });
        const now = clock.earliestMs();
        const isFresh = now - (event.deliveredAt?.getTime() ?? 0) < GIVE_UP_AFTER_MS;
        if (isFresh) return { again: new Date(now + RETRY_EVERY_MS) };
      }
    }
    await events.finishAfter(event.id);
    return 'done';
  }

  /** Returns the last error of a file; the others are moved or deleted nevertheless. */
  async #actOnAll(
    folder: WatchedFolder,
    connection: Connection,
    reported: readonly DeliveredFile[],
    signal: AbortSignal,
  ): Promise<GatewayError | undefined> {
    const { timeoutMs } = this.#options;
    const waiting = [...reported];
    let trouble: GatewayError | undefined;
    const note = async (_: DeliveredFile, error: GatewayError): Promise<void> => void (trouble = error);
    const work = (limited: AbortSignal): Promise<unknown> =>
      runSlice<DeliveredFile>(
        {
          next: async (mayClaim) => (mayClaim() ? waiting.shift() : undefined),
          run: (file) => this.#act(folder, connection, file, limited),
          verdictOn,
          skip: async () => undefined,
          retry: note,
          fail: note,
        },
        { parallelFiles: PARALLEL_FILES, turnMs: timeoutMs, signal: limited },
      );
    try {
      await withinCheckTime('the files of the event', timeoutMs, signal, work);
    } catch (thrown) {
      const error = toGatewayError(thrown);
      // The error does not concern the files: the task is given back.
      if (signal.aborted || error.inJobs === 'again') throw error;
      return error;
    }
    return trouble;
  }

  /**
   * Moves or deletes one file. A file that is gone, or has changed since the report, leaves no trace in the history.
   */
  async #act(
    folder: WatchedFolder,
    connection: Connection,
    reported: DeliveredFile,
    signal: AbortSignal,
  ): Promise<void> {
    const { accountId, afterDelivery } = folder;
    const path = parseRemotePath(reported.path, ROOT, 'path');
    const type = afterDelivery === 'move' ? 'move' : 'delete';
    const request = {
      // A delivery causes it, not a key: it counts no action of a plan.
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
    await this.#options.operations.run(request, async (operation) => {
      const asReported = referToReported(operation, folder, path, reported);
      if (type === 'delete') await deleteFile(operation, asReported, expected);
      else {
        const target = fixed(targetOf(folder, path));
        await moveFile(operation, asReported, target, { replace: true, ...expected, showsSource: true });
      }
      operation.fileSize = reported.size;
    });
  }
}

function verdictOn(error: GatewayError): FileVerdict {
  if (error instanceof LeftInPlace) return { kind: 'skipped' };
  const { inJobs } = error;
  if (inJobs === 'again') return { kind: 'stop', isFatal: false };
  return inJobs === 'stop' || inJobs === 'retry' ? { kind: 'again', afterMs: RETRY_EVERY_MS } : { kind: 'failed' };
}

/** Checks the file on the session that then changes it. @throws LeftInPlace */
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
    // Events of version 1.0 contain the time of a listing.
    const wasExact = reported.isExact ?? folder.timeResolutionMs < MINUTE_MS;
    if (wasExact && found.isExact === true) return path;
    throw new LeftInPlace(
      `left alone: the server reports no exact time of ${path}, so a file that replaced it could not be recognized`,
    );
  };
}

/** The path below moveTo that corresponds to the path below the watched folder. */
function targetOf(folder: WatchedFolder, path: RemotePath): RemotePath {
  const root = parseRemotePath(folder.path, ROOT, 'path');
  return samePlace(root, path, parseRemotePath(folder.moveTo ?? '', root, 'moveTo'));
}
