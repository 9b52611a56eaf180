/**
 * One check of one folder: a scan (scan.ts), then one transaction with its result. A check never waits for a file to
 * settle: it stores since when the file has been unchanged, and schedules a follow-up check.
 */
import { MINUTE_MS } from '../contract/units.js';
import { GatewayError, toGatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { closedUntil } from '../connections/require.js';
import type { DeliveredFile, NewCopy } from '../contract/delivery.js';
import type { CopyTo, WatchedFolder } from '../contract/watched-folder.js';
import type { CheckKind, WatchCheck } from '../contract/watch-check.js';
import { templateFacts } from '../operations/names.js';
import { parseRemotePath, ROOT, withRawName, type RemotePath } from '../remotes/path.js';
import {
  type CheckResult,
  CheckSuperseded,
  type Connections,
  EntryChanges,
  idsAt,
  type Locks,
  type NewEvent,
  type TransferRow,
  type WatchedFiles,
  type WatchedFolders,
} from '../storage/storage.js';
import {
  eventAddressOf,
  copyBytes,
  deletedEvents,
  detectedEvents,
  lateEvent,
  type DetectedFile,
  type EventLimits,
  type EventSource,
} from './event-bodies.js';
import type { ScanFindings, FolderScanner } from './scan.js';
import { copyPlace } from './places.js';
import type { ReasonLog } from './reasons.js';
import { nextAfterFailure, nextRegular } from './schedule.js';

interface CheckDeps {
  readonly folders: WatchedFolders;
  readonly scanner: FolderScanner;
  readonly files: WatchedFiles;
  readonly connections: Pick<Connections, 'find'>;
  readonly locks: Locks;
  readonly limits: EventLimits;
}

export interface CheckOutcome {
  readonly folder: WatchedFolder;
  readonly check: WatchCheck;
  /** The number of reported files. */
  readonly detections: number;
  /** The number of written events. */
  readonly events: number;
  readonly error: GatewayError | undefined;
}

/** By path. */
interface Exact {
  readonly exact: ReadonlyMap<string, DeliveredFile>;
}

const LOCK_WAIT_MS = 2000;
/** The follow-up's clock must have passed the time at which the file settles. */
const FOLLOW_UP_MARGIN_MS = 50;
/** The delay of the next check if this one has reached the limit of reports. */
const AFTER_CUT_MS = 1000;

export class FolderChecks {
  readonly #deps: CheckDeps;

  constructor(deps: CheckDeps) {
    this.#deps = deps;
  }

  /**
   * Checks a folder and commits the result, failures included. Undefined if there was nothing to do: the folder is gone
   * or paused, or another check took over. Rejects with the signal's reason, with database_away, or with a TimeoutError
   * while another node holds the folder's lock; the caller then tries again.
   */
  async run(folderId: string, kind: CheckKind, signal: AbortSignal): Promise<CheckOutcome | undefined> {
    const patience = AbortSignal.timeout(LOCK_WAIT_MS);
    // The queue hands a folder to one node; the lock protects it even if the queue has wrongly freed a task.
    return this.#deps.locks.withLock(`watched-folder ${folderId}`, AbortSignal.any([signal, patience]), () =>
      this.#runLocked(folderId, kind, signal),
    );
  }

  async #runLocked(folderId: string, kind: CheckKind, signal: AbortSignal): Promise<CheckOutcome | undefined> {
    const clock = await this.#deps.folders.clock();
    const startedAt = clock.now();
    const begin = performance.now();
    const checkId = idsAt(startedAt)();
    const folder = await this.#deps.folders.beginCheck(folderId, checkId, kind);
    if (folder === undefined) return undefined;
    const connection = await this.#deps.connections.find(folder.accountId, folder.connectionId);
    if (connection === undefined) return undefined;
    const closed = connection.isActive ? closedUntil(connection) : undefined;
    if (closed !== undefined) {
      await this.#deps.folders.postponeCheck(folder.id, checkId, closed);
      return undefined;
    }
    const row = (outcome: WatchCheck['outcome'], error: GatewayError | undefined, reasons?: ReasonLog): WatchCheck => ({
      id: checkId,
      kind,
      outcome,
      startedAt,
      durationMs: Math.round(performance.now() - begin),
      errorCode: error?.code ?? null,
      errorMessage: error?.clientText ?? null,
      counts: reasons?.counts ?? {},
    });
    try {
      const findings = await this.#deps.scanner.scan({ folder, connection, kind, clock, signal }, (changes) =>
        this.#deps.files.apply(folder.id, checkId, changes),
      );
      const exact = await this.#deps.scanner.exactStates(folder, connection, findings.detected, signal);
      const check = row('succeeded', undefined, findings.reasons);
      return await this.#commit(folder, connection, clock.now(), check, { ...findings, exact });
    } catch (thrown) {
      if (thrown instanceof CheckSuperseded) return undefined;
      const error = toGatewayError(signal.aborted && !(thrown instanceof GatewayError) ? signal.reason : thrown);
      // A fault of the gateway, not of the folder: the task is given back, and the check is not recorded as failed.
      if (signal.aborted || error.code === 'database_away' || error.code === 'internal') throw thrown;
      return await this.#commitFailure(folder, connection, clock.now(), row('failed', error), error);
    }
  }

  async #commit(
    folder: WatchedFolder,
    connection: Connection,
    at: Date,
    check: WatchCheck,
    findings: ScanFindings & Exact,
  ): Promise<CheckOutcome> {
    const { detected, gone, reasons, settledAtMs, timeResolutionMs, isCut } = findings;
    const source = { folder, connection, at };
    const ids = idsAt(at);
    const isWanted = folder.webhookUrl !== null && folder.deliveriesEndedAt === null;
    const alarm = detected.length > 0 ? [] : this.#alarmOf(folder, connection, at, ids, isWanted);
    const events = [
      ...this.#fileEvents(source, ids, findings, isWanted),
      ...deletedEvents(source, gone, this.#deps.limits).map(({ body, files }) => ({
        ...eventAddressOf(folder),
        id: ids(),
        type: 'watched_folder.files_deleted',
        body,
        receiver: isWanted ? { watchedFolderId: folder.id } : undefined,
        fileCount: files.length,
        createdAt: at,
      })),
      ...alarm,
    ];
    const regular = nextRegular(folder.id, folder.scheduleMinutes, at.getTime());
    const extra = isCut
      ? at.getTime() + AFTER_CUT_MS
      : settledAtMs !== undefined && check.kind !== 'follow_up'
        ? Math.max(settledAtMs, at.getTime()) + FOLLOW_UP_MARGIN_MS
        : Infinity;
    const result: CheckResult = {
      folder,
      check,
      entries: await reasons.packed(),
      nextCheckAt: new Date(Math.min(regular, extra)),
      isFollowUp: extra < regular && !isCut,
      changes: findings.changes,
      history: detected.map((file) => historyRow(folder, check, at, ids(), file)),
      events,
      timeResolutionMs,
      storedFiles: findings.storedFiles,
      hasDetected: detected.length > 0,
      hasAlarmed: alarm.length > 0,
    };
    await this.#deps.folders.commitCheck(result);
    return { folder, check, detections: detected.length, events: events.length, error: undefined };
  }

  async #commitFailure(
    folder: WatchedFolder,
    connection: Connection,
    at: Date,
    check: WatchCheck,
    error: GatewayError,
  ): Promise<CheckOutcome | undefined> {
    const ids = idsAt(at);
    const isWanted = folder.webhookUrl !== null && folder.deliveriesEndedAt === null;
    const events = this.#alarmOf(folder, connection, at, ids, isWanted);
    try {
      await this.#deps.folders.commitCheck({
        folder,
        check,
        entries: undefined,
        nextCheckAt: new Date(nextAfterFailure(folder.id, folder.scheduleMinutes, folder.failures + 1, at.getTime())),
        isFollowUp: false,
        changes: new EntryChanges(),
        history: [failedRow(folder, check, at, ids(), error)],
        events,
        timeResolutionMs: undefined,
        storedFiles: undefined,
        hasDetected: false,
        hasAlarmed: events.length > 0,
      });
    } catch (thrown) {
      if (thrown instanceof CheckSuperseded) return undefined;
      throw thrown;
    }
    return { folder, check, detections: 0, events: events.length, error };
  }

  #fileEvents(
    source: EventSource & { readonly folder: WatchedFolder },
    ids: () => string,
    { detected, exact }: ScanFindings & Exact,
    isSent: boolean,
  ): NewEvent[] {
    const { id: watchedFolderId, copyTo, path: watched } = source.folder;
    const facts = templateFacts(source.at);
    const reserved = (file: DetectedFile): number => {
      if (copyTo === null) return 0;
      return copyBytes(
        copyTo.connectionId,
        placeOrNone(() => copyPlace(watched, copyTo, pathOf(file), facts)),
      );
    };
    return detectedEvents(source, detected, this.#deps.limits, reserved).map(({ body, files }) => ({
      ...eventAddressOf(source.folder),
      id: ids(),
      type: 'watched_folder.files_detected',
      body,
      receiver: isSent || copyTo !== null ? { watchedFolderId } : undefined,
      fileCount: files.length,
      files: files.map(({ path }) => exact.get(path)).filter((state) => state !== undefined),
      ...(copyTo === null ? {} : { copies: files.map((file) => newCopy(ids(), file, copyTo)) }),
      createdAt: source.at,
    }));
  }

  /**
   * The events for a folder without new files for too long, once a period. The folder's own webhook gets an older event
   * type.
   */
  #alarmOf(folder: WatchedFolder, connection: Connection, at: Date, ids: () => string, isWanted: boolean): NewEvent[] {
    const { expectEveryMinutes, lastDetectionAt } = folder;
    if (expectEveryMinutes === null) return [];
    const since = [folder.createdAt, lastDetectionAt, folder.alarmedAt].map((time) => time?.getTime() ?? 0);
    if (at.getTime() - Math.max(...since) < expectEveryMinutes * MINUTE_MS) return [];
    const event = (type: 'watched_folder.files_missing' | 'watched_folder.late', isSent: boolean): NewEvent => ({
      ...eventAddressOf(folder),
      id: ids(),
      type,
      receiver: isSent ? { watchedFolderId: folder.id } : undefined,
      createdAt: at,
      body: lateEvent(type, { folder, connection, at }, expectEveryMinutes, lastDetectionAt ?? undefined),
    });
    const late = event('watched_folder.late', false);
    return isWanted ? [event('watched_folder.files_missing', true), late] : [late];
  }
}

function newCopy(id: string, { path, rawName }: DetectedFile, { connectionId }: CopyTo): NewCopy {
  return { id, path, rawName: rawName ?? null, connectionId };
}

function pathOf({ path, rawName }: DetectedFile): RemotePath {
  const shown = parseRemotePath(path, ROOT, 'path');
  return rawName === undefined ? shown : withRawName(shown, rawName, 'rawName');
}

/** Empty if the copy has no valid path; its event will contain the error. */
function placeOrNone(place: () => RemotePath): string {
  try {
    return place().toWellFormed();
  } catch {
    return '';
  }
}

function historyRow(folder: WatchedFolder, check: WatchCheck, at: Date, id: string, file: DetectedFile): TransferRow {
  return { ...pollRow(folder, check, at, id), filename: file.name, path: file.path, fileSize: file.size };
}

function failedRow(folder: WatchedFolder, check: WatchCheck, at: Date, id: string, error: GatewayError): TransferRow {
  return {
    ...pollRow(folder, check, at, id),
    status: 'failed',
    errorMessage: error.clientText,
    errorCode: error.code,
  };
}

function pollRow(folder: WatchedFolder, check: WatchCheck, createdAt: Date, id: string): TransferRow {
  return {
    id,
    accountId: folder.accountId,
    connectionId: folder.connectionId,
    keyId: null,
    requestId: null,
    type: 'poll',
    direction: 'inbound',
    status: 'success',
    filename: folder.path.slice(folder.path.lastIndexOf('/') + 1),
    path: folder.path,
    fileSize: 0,
    errorMessage: null,
    errorCode: null,
    durationMs: check.durationMs,
    digest: null,
    noDigest: null,
    unverified: null,
    digestReadBytes: null,
    stages: null,
    receipt: null,
    countsAction: false,
    createdAt,
    job: null,
    copyId: null,
    uploadId: null,
    linkId: null,
    request: null,
    url: null,
  };
}
