/**
 * One look at one folder: list → diff → settle → commit. Nothing waits in here for a file to settle: what is still
 * moving is stored with the moment since when, and the folder's row gets a follow-up check.
 */
import { GatewayError, hasCode, toGatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { parseRemotePath, ROOT } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { Leftovers } from '../remotes/remote.js';
import {
  type CheckKind,
  type CheckResult,
  type CheckRow,
  CheckSuperseded,
  type Clock,
  type Connections,
  type DeliveredFile,
  type EntryChange,
  EntryChanges,
  idsAt,
  type Locks,
  type NewEvent,
  type TransferRow,
  type WatchedFiles,
  type WatchedFolder,
  type WatchedFolders,
} from '../storage/storage.js';
import { diff, isReport, type Decision, type DiffRules, type Gone, type ListedEntry } from './diff.js';
import { entryKey, nameOfKey } from './entry-key.js';
import { EntrySorter } from './entry-sorter.js';
import { filesEvents, missingEvent, type DetectedFile, type EventLimits } from './event-bodies.js';
import { withinDeadline } from './deadline.js';
import { createNameFilter, type NameFilter } from './name-filter.js';
import { ReasonLog } from './reasons.js';
import { nextAfterFailure, nextRegular } from './schedule.js';
import { walk } from './walk.js';
import { agedStates } from './exact.js';
import { zoneShift } from './zone-shift.js';

export interface CheckDeps {
  readonly folders: WatchedFolders;
  readonly files: WatchedFiles;
  readonly connections: Pick<Connections, 'find'>;
  readonly locks: Locks;
  readonly remotes: Pick<Remotes, 'use'>;
  readonly leftovers: (connection: Connection) => Leftovers;
  readonly settleMs: number;
  /** For listing and comparing. */
  readonly timeoutMs: number;
  readonly skipNames: readonly string[];
  readonly limits: EventLimits;
  /** Files that one check reports; 10,000 where nothing is said. */
  readonly maxReports?: number;
}

export interface CheckOutcome {
  readonly folder: WatchedFolder;
  readonly check: CheckRow;
  /** Files that were reported. */
  readonly detections: number;
  /** Events that wait for delivery now. */
  readonly events: number;
  readonly error: GatewayError | undefined;
}

/** One look, by the database's clock. */
export interface Look {
  readonly folder: WatchedFolder;
  readonly connection: Connection;
  readonly kind: CheckKind;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What a check found, not written yet. */
export interface Findings {
  readonly reasons: ReasonLog;
  readonly detected: readonly DetectedFile[];
  /** Changes that belong into the transaction of the report. */
  readonly changes: EntryChanges;
  /** When the first of the files that wait may have settled; undefined when none waits. */
  readonly settledAtMs: number | undefined;
  readonly timeResolutionMs: number;
  readonly isCut: boolean;
}

/** By path. */
interface Exact {
  readonly exact: ReadonlyMap<string, DeliveredFile>;
}

const MAX_REPORTS = 10_000;
/** Of files that are moved or deleted later: each is asked for by itself. */
const MAX_ACTED_ON = 1000;
const MINUTE_MS = 60_000;
const CHANGES_AT_ONCE = 1000;
const LOCK_WAIT_MS = 2000;
/** A little after the moment itself: the clock of the follow-up must have passed it. */
const FOLLOW_UP_MARGIN_MS = 50;
/** The rest of a report that was cut follows at once. */
const AFTER_CUT_MS = 1000;

export class FolderChecks {
  constructor(private readonly deps: CheckDeps) {}

  /**
   * Checks a folder and commits what came out, failures too. Undefined when there was nothing to do: the folder is
   * gone or paused, or another check took over. Rejects with the signal's reason, with database_away, or with a
   * TimeoutError while another node holds the folder's lock; then the check is to be tried again.
   */
  async run(folderId: string, kind: CheckKind, signal: AbortSignal): Promise<CheckOutcome | undefined> {
    const patience = AbortSignal.timeout(LOCK_WAIT_MS);
    // The job engine hands a folder to one node; the lock holds even where it has freed a job wrongly.
    return this.deps.locks.withLock(`watched-folder ${folderId}`, AbortSignal.any([signal, patience]), () =>
      this.runLocked(folderId, kind, signal),
    );
  }

  private async runLocked(folderId: string, kind: CheckKind, signal: AbortSignal): Promise<CheckOutcome | undefined> {
    const clock = await this.deps.folders.clock();
    const startedAt = clock.now();
    const begin = performance.now();
    const checkId = idsAt(startedAt)();
    const folder = await this.deps.folders.beginCheck(folderId, checkId, kind);
    if (folder === undefined) return undefined;
    const connection = await this.deps.connections.find(folder.accountId, folder.connectionId);
    if (connection === undefined) return undefined;
    const row = (outcome: CheckRow['outcome'], error: GatewayError | undefined, reasons?: ReasonLog): CheckRow => ({
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
      const findings = await this.look({ folder, connection, kind, clock, signal }, (changes) =>
        this.deps.files.apply(folder.id, checkId, changes),
      );
      const exact = await this.exactStates(folder, connection, findings.detected, signal);
      const check = row('succeeded', undefined, findings.reasons);
      return await this.commit(folder, connection, clock.now(), check, { ...findings, exact });
    } catch (thrown) {
      if (thrown instanceof CheckSuperseded) return undefined;
      const error = toGatewayError(signal.aborted && !(thrown instanceof GatewayError) ? signal.reason : thrown);
      // Ours, not the folder's: the job is given back and says nothing about the remote.
      if (signal.aborted || error.code === 'database_away' || error.code === 'internal') throw thrown;
      return await this.commitFailure(folder, connection, clock.now(), row('failed', error), error);
    }
  }

  /** Lists and compares; `apply` writes, in small steps, what no report hangs on. */
  look(what: Look, apply: (changes: EntryChanges) => Promise<void>): Promise<Findings> {
    return withinDeadline('the check', this.deps.timeoutMs, what.signal, (signal) =>
      this.lookNow({ ...what, signal }, apply),
    );
  }

  private async lookNow(what: Look, apply: (changes: EntryChanges) => Promise<void>): Promise<Findings> {
    const { folder, connection, kind } = what;
    if (!connection.isActive) {
      throw new GatewayError('connection_inactive', `connection ${connection.id} is not active`, { step: 'request' });
    }
    const filter = createNameFilter({ ...folder, skipNames: this.deps.skipNames });
    const listing = await this.list(what, filter);
    try {
      const resolutionMs = Math.max(folder.timeResolutionMs, listing.timeResolutionMs);
      const hasShifts = resolutionMs >= MINUTE_MS && folder.baselineAt !== null;
      const zoneShiftMs = hasShifts
        ? await zoneShift(listing.sorter.batches(), this.deps.files.pages(folder.id), listing.endedMs)
        : 0;
      const rules: DiffRules = {
        isBaseline: this.baselineOf(folder),
        detectModified: folder.detectModified,
        settleMs: Math.max(this.deps.settleMs, folder.minAgeSeconds * 1000),
        resolutionMs,
        zoneShiftMs,
        beganMs: listing.beganMs,
        endedMs: listing.endedMs,
        mayReportEmpty: kind !== 'follow_up',
        maxReports: this.deps.maxReports ?? (folder.afterDelivery === 'keep' ? MAX_REPORTS : MAX_ACTED_ON),
        filter: (key) => filter.reasonAgainst(nameOfKey(key).path),
        hasMarker: (key) => {
          const marker = filter.markerOf(nameOfKey(key).path);
          return marker === undefined || listing.markers.has(marker);
        },
      };
      return await this.compare(folder, listing, rules, apply);
    } finally {
      await listing.sorter.close();
    }
  }

  /** All at the first check; later what a change of the names has let in, and was there already. */
  private baselineOf(folder: WatchedFolder): (key: Buffer) => boolean {
    const { initial, baselineAt, formerNames } = folder;
    if (initial === 'report') return () => false;
    if (baselineAt === null) return () => true;
    if (formerNames === null) return () => false;
    const former = createNameFilter({ ...formerNames, skipNames: this.deps.skipNames });
    return (key) => {
      const { path } = nameOfKey(key);
      return former.reasonAgainst(path) !== undefined || (!former.isDeep && path.includes('/'));
    };
  }

  /** Of files that are moved or deleted once they have been reported. */
  private async exactStates(
    folder: WatchedFolder,
    connection: Connection,
    detected: readonly DetectedFile[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, DeliveredFile>> {
    if (folder.afterDelivery === 'keep' || detected.length === 0) return new Map();
    const paths = detected.filter(({ rawName }) => rawName === undefined).map(({ path }) => path);
    return withinDeadline('the exact look at new files', this.deps.timeoutMs, signal, (limited) => {
      const options = { signal: limited, leftovers: this.deps.leftovers, priority: 'background' as const };
      return this.deps.remotes.use(connection, options, (remote) => agedStates(remote, paths, limited));
    });
  }

  private async list({ folder, connection, clock, signal }: Look, filter: NameFilter): Promise<Listing> {
    const root = parseRemotePath(folder.path, ROOT, 'path');
    const moveTo = folder.moveTo === null ? undefined : parseRemotePath(folder.moveTo, root, 'moveTo');
    const options = { signal, leftovers: this.deps.leftovers, priority: 'background' as const };
    return this.deps.remotes.use(connection, options, async (remote) => {
      const sorter = new EntrySorter();
      const markers = new Set<string>();
      const beganMs = clock.earliestMs();
      try {
        const walked = walk(remote, root, {
          isDeep: filter.isDeep,
          skipsFolder: (below, path) => path === moveTo || filter.skipsFolder(below),
        });
        for await (const { folder: inside, file } of walked) {
          const key = entryKey(inside, file);
          if (folder.doneFile !== null) {
            const { path } = nameOfKey(key);
            if (filter.isMarker(path)) markers.add(path);
          }
          await sorter.add({ key, size: file.size, modifiedMs: file.modifiedAt.getTime() });
        }
      } catch (error) {
        // On object stores a folder is its keys: with the last file it goes, and comes back with the next one.
        const isEmptied = connection.type === 's3' && hasCode(error, 'not_found');
        if (!isEmptied) {
          await sorter.close();
          throw error;
        }
      }
      return { sorter, markers, beganMs, endedMs: clock.latestMs(), timeResolutionMs: remote.can.timeResolutionMs };
    });
  }

  private async compare(
    folder: WatchedFolder,
    listing: Listing,
    rules: DiffRules,
    apply: (changes: EntryChanges) => Promise<void>,
  ): Promise<Findings> {
    const reasons = new ReasonLog();
    const detected: DetectedFile[] = [];
    const reported: EntryChange[] = [];
    const changes = new EntryChanges();
    let isCut = false;
    let settledAtMs: number | undefined;
    const take = (decision: Decision | Gone): void => {
      reasons.add(decision);
      const { change, reason } = decision;
      if (isReport(reason) && change !== undefined) {
        reported.push(change);
        detected.push(detectedFile(folder, decision as Decision, reason));
        return;
      }
      if (change !== undefined) changes.add(change);
      if (reason === 'over_cap') isCut = true;
      if (reason !== 'settling' && reason !== 'growing') return;
      const at = (change?.seen?.sinceMs ?? decision.stored?.seen?.sinceMs ?? 0) + rules.settleMs;
      settledAtMs = Math.min(settledAtMs ?? at, at);
    };
    for await (const batch of diff(listing.sorter.batches(), this.deps.files.pages(folder.id), rules)) {
      for (const decision of batch) take(decision);
      if (changes.count < CHANGES_AT_ONCE) continue;
      await apply(changes);
      changes.clear();
    }
    for (const change of reported) changes.add(change);
    // Few changes go along with the report; many have gone ahead, and a repeated check finds them done.
    return {
      reasons,
      detected,
      changes,
      settledAtMs,
      timeResolutionMs: listing.timeResolutionMs,
      isCut,
    };
  }

  private async commit(
    folder: WatchedFolder,
    connection: Connection,
    at: Date,
    check: CheckRow,
    findings: Findings & Exact,
  ): Promise<CheckOutcome> {
    const { detected, reasons, settledAtMs, timeResolutionMs, isCut } = findings;
    const source = { folder, connection, at };
    const ids = idsAt(at);
    const isWanted = folder.webhookUrl !== null && folder.deliveriesEndedAt === null;
    const alarm = detected.length > 0 ? undefined : this.alarmOf(folder, connection, at, ids);
    const events: NewEvent[] = isWanted ? [...this.fileEvents(source, ids, findings)] : [];
    if (isWanted && alarm !== undefined) events.push(alarm);
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
      hasDetected: detected.length > 0,
      hasAlarmed: alarm !== undefined,
    };
    await this.deps.folders.commitCheck(result);
    return { folder, check, detections: detected.length, events: events.length, error: undefined };
  }

  private async commitFailure(
    folder: WatchedFolder,
    connection: Connection,
    at: Date,
    check: CheckRow,
    error: GatewayError,
  ): Promise<CheckOutcome | undefined> {
    const ids = idsAt(at);
    const isWanted = folder.webhookUrl !== null && folder.deliveriesEndedAt === null;
    const alarm = this.alarmOf(folder, connection, at, ids);
    const events = isWanted && alarm !== undefined ? [alarm] : [];
    try {
      await this.deps.folders.commitCheck({
        folder,
        check,
        entries: undefined,
        nextCheckAt: new Date(nextAfterFailure(folder.id, folder.scheduleMinutes, folder.failures + 1, at.getTime())),
        isFollowUp: false,
        changes: new EntryChanges(),
        history: [failedRow(folder, check, at, ids(), error)],
        events,
        timeResolutionMs: undefined,
        hasDetected: false,
        hasAlarmed: alarm !== undefined,
      });
    } catch (thrown) {
      if (thrown instanceof CheckSuperseded) return undefined;
      throw thrown;
    }
    return { folder, check, detections: 0, events: events.length, error };
  }

  private fileEvents(
    source: Parameters<typeof filesEvents>[0],
    ids: () => string,
    { detected, exact }: Findings & Exact,
  ): NewEvent[] {
    return filesEvents(source, detected, this.deps.limits).map(({ body, files }) => ({
      id: ids(),
      type: 'watched_folder.files_detected',
      body,
      fileCount: files.length,
      files: files.map(({ path }) => exact.get(path)).filter((state) => state !== undefined),
      createdAt: source.at,
    }));
  }

  /** The event that says that nothing came for too long; once a period. */
  private alarmOf(folder: WatchedFolder, connection: Connection, at: Date, ids: () => string): NewEvent | undefined {
    if (folder.expectEveryMinutes === null) return undefined;
    const last = folder.lastDetectionAt ?? undefined;
    const since = [folder.createdAt, folder.lastDetectionAt, folder.alarmedAt].map((time) => time?.getTime() ?? 0);
    if (at.getTime() - Math.max(...since) < folder.expectEveryMinutes * 60_000) return undefined;
    return {
      id: ids(),
      type: 'watched_folder.files_missing',
      body: missingEvent({ folder, connection, at }, folder.expectEveryMinutes, last),
      fileCount: 0,
      files: [],
      createdAt: at,
    };
  }
}

interface Listing {
  readonly sorter: EntrySorter;
  /** Paths below the folder of what can be a marker. */
  readonly markers: ReadonlySet<string>;
  readonly beganMs: number;
  readonly endedMs: number;
  readonly timeResolutionMs: number;
}

function detectedFile(folder: WatchedFolder, { key, entry }: Decision, event: 'new' | 'modified'): DetectedFile {
  const { path, name, rawName } = nameOfKey(key);
  const { size, modifiedMs }: ListedEntry = entry;
  const below = folder.path === '/' ? `/${path}` : `${folder.path}/${path}`;
  return { name, path: below, size, modifiedMs, rawName, event };
}

function historyRow(folder: WatchedFolder, check: CheckRow, at: Date, id: string, file: DetectedFile): TransferRow {
  return { ...pollRow(folder, check, at, id), filename: file.name, path: file.path, fileSize: file.size };
}

function failedRow(folder: WatchedFolder, check: CheckRow, at: Date, id: string, error: GatewayError): TransferRow {
  return {
    ...pollRow(folder, check, at, id),
    status: 'failed',
    errorMessage: error.clientText,
    errorCode: error.code,
  };
}

function pollRow(folder: WatchedFolder, check: CheckRow, createdAt: Date, id: string): TransferRow {
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
    countsAction: false,
    createdAt,
  };
}
