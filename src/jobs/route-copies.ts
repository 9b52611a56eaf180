/**
 * The stage before the delivery of an event: its files are copied to the destination of their folder. The event is sent
 * when each of them has been copied, skipped or given up. Each copy is an operation like any other, except that only
 * its end is recorded.
 */
import { GatewayError, type ErrorCode } from '../base/errors.js';
import { retryDelay, type RetrySchedule } from '../base/retry-schedule.js';
import type { Connection } from '../connections/connection.js';
import type { RouteCopy } from '../contract/delivery.js';
import type { CopyTo, WatchedFolder } from '../contract/watched-folder.js';
import { requireActive, requireConnection } from '../connections/require.js';
import { isLeftAlone, refuseOlder } from '../operations/conflicts.js';
import { requireVerified } from '../operations/copy.js';
import type { Operations } from '../operations/operation.js';
import type { JobPart } from '../operations/part.js';
import { parseRemotePath, ROOT, withRawName, type RemotePath } from '../remotes/path.js';
import {
  type Connections,
  type CopyingEvent,
  isOtherCopyTo,
  type RouteCopies,
  type WatchedFolders,
  type WebhookEvents,
} from '../storage/storage.js';
import { withCopies } from '../watch/event-bodies.js';
import { copyPlace, refuseLoops } from '../watch/places.js';
import type { EventStage, Round } from './event-stage.js';
import type { CopyTask, FileEngine, FileRequest } from './file-engine.js';

interface RouteCopyOptions {
  readonly copies: RouteCopies;
  readonly events: Pick<WebhookEvents, 'postponeCopies' | 'settleCopies'>;
  readonly folders: Pick<WatchedFolders, 'routes'>;
  readonly connections: Pick<Connections, 'find'>;
  readonly operations: Pick<Operations, 'planOf' | 'remotes'>;
  readonly engine: FileEngine;
  /** The delay before each further round. */
  readonly retry: RetrySchedule;
}

/** Errors that no retry can repair. */
const FOR_GOOD: ReadonlySet<ErrorCode> = new Set(['unknown_connection', 'plan_required']);

/** The connections and the destination of an event's files, as they are now. */
interface CopyPlan {
  readonly copyTo: CopyTo;
  readonly folder: WatchedFolder;
  readonly connections: readonly [source: Connection, target: Connection];
}

type CopyRound = Round<CopyingEvent, CopyPlan>;

export function routeCopies(options: RouteCopyOptions): EventStage<CopyingEvent, CopyPlan, RouteCopy> {
  const { copies, events, retry } = options;
  return {
    queue: 'route-copy',
    lock: 'route',
    concurrency: 16,
    eventsOfAFolder: 2,
    done: 'copied',
    retriesAll: false,
    find: (id) => copies.find(id),
    dueAt: ({ nextAttemptAt }) => nextAttemptAt,
    delayOf: ({ rounds }) => retryDelay(retry, rounds + 1),
    plan: (event, folder) => planOf(options, event, folder),
    isOther: (former, now) => isOtherCopyTo(former.copyTo, now.copyTo),
    waiting: ({ id }) => copies.waiting(id),
    run: (round, file, part) => copy(options, round, file, part),
    isLeftAlone: ({ plan }, error) => isLeftAlone(plan.copyTo.onConflict, error),
    isForGood: ({ code, inJobs }) => FOR_GOOD.has(code) || !(inJobs === 'retry' || inJobs === 'stop'),
    skip: (round, file, error) => {
      const place = { connectionId: round.plan.connections[1].id, path: placeOf(round, file).toWellFormed() };
      return copies.end(file.id, 'skipped', reasonOf(error), place);
    },
    retry: async (file, error) => {
      await copies.retry(file.id, reasonOf(error));
      return file;
    },
    fail: (file, error) => copies.end(file.id, 'failed', reasonOf(error)),
    // Each file has a row of its own.
    interrupt: async ({ id }, _rest, until) => {
      if (until !== undefined) await events.postponeCopies(id, until);
    },
    endAll: ({ id }, error) => copies.endAll(id, reasonOf(error)),
    settle: (event) => events.settleCopies(event, withCopies),
  };
}

/** Returns the reason if nothing can be copied now. Rejects while the database is away. */
async function planOf(
  { connections, operations, folders }: RouteCopyOptions,
  event: CopyingEvent,
  folder: WatchedFolder,
): Promise<CopyPlan | GatewayError> {
  const { copyTo, accountId } = folder;
  try {
    if (copyTo === null) {
      throw new GatewayError('cancelled', 'copyTo was taken from the watched folder before the file was copied');
    }
    if (operations.planOf(event).connections === 1) {
      throw new GatewayError('plan_required', 'copies between connections need a plan with more than one');
    }
    const [source, target] = await Promise.all([
      requireConnection(connections, accountId, folder.connectionId),
      requireConnection(connections, accountId, copyTo.connectionId),
    ]);
    requireActive(source);
    requireActive(target);
    // Checked again: the connections may have changed since the folder was created.
    await refuseLoops(folder, await folders.routes(accountId), {
      remotes: operations.remotes,
      find: (id) => connections.find(accountId, id),
    });
    return { copyTo, folder, connections: [source, target] };
  } catch (error) {
    if (error instanceof GatewayError && error.inJobs !== 'again') return error;
    throw error;
  }
}

function copy(
  { copies, engine }: RouteCopyOptions,
  round: CopyRound,
  file: RouteCopy,
  { passesOver, worked }: Pick<JobPart, 'passesOver' | 'worked'>,
): Promise<void> {
  const { event, plan, signal } = round;
  const { connections, copyTo, folder } = plan;
  const [source, target] = connections;
  const { onConflict: rule } = copyTo;
  const from = pathOf(file);
  const to = placeOf(round, file);
  const task: CopyTask = {
    source,
    target,
    from,
    to,
    rule,
    scope: { id: folder.id },
    former: formerCopy(file, target),
    check: async ({ source: reading, target: writing }, _from, place) => {
      // With `replace` a copy can be repeated; otherwise its path is recorded, to recognize it after a crash.
      if (rule === 'replace') return;
      const { size, modifiedAt } = await reading.stat(from);
      if (rule === 'newer') await refuseOlder(writing, place, modifiedAt.getTime());
      await copies.intend(file.id, target.id, place, size);
    },
  };
  const owner = { id: event.id, accountId: event.accountId, plan: event.plan, keyId: null };
  const part = { reference: { copyId: file.id }, passesOver, worked };
  const request: FileRequest = { owner, type: 'copy', connection: target, path: to, signal, part };
  return engine.run(request, async (operation) => {
    operation.evidence.readFrom(from, source);
    await engine.copyUnlessCopied(operation, task);
    if (folder.afterDelivery !== 'keep') requireVerified(operation, from);
  });
}

/** The same path in every try, so that a copy left by a crash is found or replaced by its name. */
function placeOf({ event, plan }: CopyRound, file: RouteCopy): RemotePath {
  return copyPlace(plan.folder.path, plan.copyTo, pathOf(file), { now: event.createdAt, uuid: file.id });
}

function pathOf({ path, rawName }: RouteCopy): RemotePath {
  const shown = parseRemotePath(path, ROOT, 'path');
  return rawName === null ? shown : withRawName(shown, rawName, 'rawName');
}

/** The path that an earlier try, which ended without a known result, has recorded. */
function formerCopy({ connectionId, targetPath }: RouteCopy, target: Connection) {
  if (targetPath === null || connectionId !== target.id) return undefined;
  return { to: parseRemotePath(targetPath, ROOT, 'path'), isRenamed: false };
}

function reasonOf({ code, clientText: message }: GatewayError) {
  return { code, message };
}
