/**
 * The stage after the delivery of an event: its files are moved or deleted. Files that have changed since the report
 * are left alone.
 */
import { GatewayError } from '../base/errors.js';
import { retryDelay, type RetrySchedule } from '../base/retry-schedule.js';
import type { Connection } from '../connections/connection.js';
import type { DeliveredFile, OutgoingDelivery } from '../contract/delivery.js';
import { DAY_MS, MINUTE_MS } from '../contract/units.js';
import type { WatchedFolder } from '../contract/watched-folder.js';
import { deleteFile } from '../operations/change.js';
import type { Operation } from '../operations/operation.js';
import type { JobPart } from '../operations/part.js';
import { fixedPath, type PathReference } from '../operations/path-reference.js';
import { parseRemotePath, ROOT, type RemotePath } from '../remotes/path.js';
import { clockAt, type Connections, type WebhookEvents } from '../storage/storage.js';
import { exactState, isReported } from '../watch/exact.js';
import { samePlace } from '../watch/places.js';
import { type EventStage, isOfGateway, type Round } from './event-stage.js';
import type { FileEngine } from './file-engine.js';

interface AfterDeliveryOptions {
  readonly events: Pick<WebhookEvents, 'find' | 'keepForLater' | 'finishAfter'>;
  readonly connections: Pick<Connections, 'find'>;
  readonly engine: FileEngine;
}

type AfterKind = Exclude<WatchedFolder['afterDelivery'], 'keep'>;

/** What happens to a file that is the reported one. */
interface Change {
  readonly engine: FileEngine;
  readonly folder: WatchedFolder;
  readonly connection: Connection;
  readonly path: RemotePath;
  /** The path, checked on the session that then changes the file. */
  readonly asReported: PathReference;
  /** What the server itself can check. */
  readonly expected: { readonly etag?: string };
}

const KINDS: Readonly<Record<AfterKind, (operation: Operation, change: Change) => Promise<unknown>>> = {
  move: (operation, { engine, folder, connection, path, asReported, expected }) =>
    engine.move(operation, {
      connection,
      from: asReported,
      to: fixedPath(targetOf(folder, path)),
      replace: true,
      ...expected,
      showsSource: true,
    }),
  delete: (operation, { asReported, expected }) => deleteFile(operation, asReported, expected),
};

interface AfterPlan {
  readonly kind: AfterKind;
  readonly folder: WatchedFolder;
  readonly connections: readonly [Connection];
}

/** The file is left alone: it is not, or may not be, the reported one. */
class LeftInPlace extends GatewayError {
  constructor(text: string) {
    super('unsupported_operation', text, { step: 'verify' });
  }
}

const RETRIES: RetrySchedule = { delaysMs: [MINUTE_MS], isEndless: true };
/** After this time, the files of an event are left alone. Their entries are stored, so they are not reported again. */
const GIVE_UP_AFTER_MS = DAY_MS;

type AfterDelivery = EventStage<OutgoingDelivery, AfterPlan, DeliveredFile>;

export function afterDelivery({ events, connections, engine }: AfterDeliveryOptions): AfterDelivery {
  return {
    queue: 'after-delivery',
    lock: 'after',
    concurrency: 4,
    eventsOfAFolder: 1,
    done: 'moved or deleted',
    retriesAll: true,
    find: async (id) => {
      const event = await events.find(id);
      return event?.afterAction === 'pending' ? event : undefined;
    },
    dueAt: () => null,
    delayOf: ({ deliveredAt, readAt }) => {
      const sinceMs = clockAt(readAt).earliestMs() - (deliveredAt ?? readAt).getTime();
      return sinceMs < GIVE_UP_AFTER_MS ? retryDelay(RETRIES, 1) : undefined;
    },
    plan: async (_event, folder) => {
      const { accountId, connectionId, afterDelivery: kind } = folder;
      const connection = kind === 'keep' ? undefined : await connections.find(accountId, connectionId);
      if (kind === 'keep' || connection?.isActive !== true) return undefined;
      return { kind, folder, connections: [connection] };
    },
    isOther: (former, now) => former.afterDelivery !== now.afterDelivery || former.moveTo !== now.moveTo,
    waiting: async ({ files }) => files,
    run: (round, file, part) => act(engine, round, file, part),
    isLeftAlone: (_round, error) => error instanceof LeftInPlace,
    isForGood: ({ inJobs }) => inJobs !== 'retry' && inJobs !== 'stop',
    skip: async () => undefined,
    retry: async (file, { code }) => ({ ...file, errorCode: code }),
    fail: async () => undefined,
    interrupt: ({ id }, rest) => events.keepForLater(id, rest),
    endAll: async () => undefined,
    settle: ({ id }) => events.finishAfter(id),
  };
}

/**
 * Moves or deletes one file. A file that is gone, or has changed since the report, leaves no trace in the history; an
 * error that repeats the former one of the file leaves no second one.
 */
function act(
  engine: FileEngine,
  { plan, delayMs, signal }: Round<OutgoingDelivery, AfterPlan>,
  reported: DeliveredFile,
  { passesOver, worked }: Pick<JobPart, 'passesOver' | 'worked'>,
): Promise<void> {
  const {
    kind,
    folder,
    connections: [connection],
  } = plan;
  const path = parseRemotePath(reported.path, ROOT, 'path');
  const isRecorded = (error: GatewayError): boolean => {
    if (isOfGateway(error, signal)) return false;
    return error instanceof LeftInPlace || delayMs === undefined || error.code !== reported.errorCode;
  };
  const part: JobPart = {
    passesOver: (error) => {
      passesOver(error);
      return !isRecorded(error);
    },
    worked,
  };
  // A delivery causes it, not a key: it counts no action of a plan.
  const owner = { accountId: folder.accountId, plan: '', keyId: null };
  const request = { owner, type: kind, connection, path, signal, part } as const;
  return engine.run({ ...request, isFree: true, isTentative: true }, async (operation) => {
    const asReported = referToReported(operation, folder, path, reported);
    const expected = reported.etag === undefined ? {} : { etag: reported.etag };
    await KINDS[kind](operation, { engine, folder, connection, path, asReported, expected });
    operation.fileSize = reported.size;
  });
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
