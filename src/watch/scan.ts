/**
 * One scan of one folder: lists it and compares the listing with the stored entries. Reports nothing, and writes only
 * changes that belong to no report.
 */
import { withDeadline } from '../base/deadline.js';
import { definitionOf } from '../contract/connection/types.js';
import { GatewayError, hasCode } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { requireActive } from '../connections/require.js';
import { type FolderRules, walk } from '../operations/tree/walk.js';
import { pathKeyOf, parseRemotePath, ROOT } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { LeftOut } from '../remotes/remote.js';
import { type Clock, type EntryChange, EntryChanges, UNKNOWN_SIZE, type WatchedFiles } from '../storage/storage.js';
import { type Decision, type DiffRules, isReport, type ListedEntry } from './decide.js';
import { diff, type Unlisted } from './diff.js';
import { nameOfKey } from '../base/entry-key.js';
import { pairs } from '../base/entry-pairs.js';
import { EntrySorter } from '../base/entry-sorter.js';
import type { DeliveredFile } from '../contract/delivery.js';
import type { WatchedFolder } from '../contract/watched-folder.js';
import type { DeletedFile } from '../contract/event.js';
import type { DetectedFile } from './event-bodies.js';
import { agedStates } from './exact.js';
import { type MissingEntry, MissingEntries } from './missing.js';
import { createNameFilter, type NameFilter } from './name-filter.js';
import { ReasonLog } from './reasons.js';
import { UnsureEntries } from './unsure.js';
import { zoneShift } from './zone-shift.js';
import { MINUTE_MS } from '../contract/units.js';
import type { CheckKind } from '../contract/watch-check.js';

interface ScannerDeps {
  readonly files: WatchedFiles;
  readonly remotes: Pick<Remotes, 'use'>;
  readonly leftovers: (connection: Connection) => Leftovers;
  readonly settleMs: number;
  /** The time limit for listing and comparing. */
  readonly timeoutMs: number;
  readonly skipNames: readonly string[];
  /** The limit for all folders of one account together. */
  readonly filesPerAccount: number;
  /** Files that one check reports; default 10,000. */
  readonly maxReports?: number;
}

interface Scan {
  readonly folder: WatchedFolder;
  readonly connection: Connection;
  readonly kind: CheckKind;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The result of a scan, not written yet. */
export interface ScanFindings {
  readonly reasons: ReasonLog;
  readonly detected: readonly DetectedFile[];
  /** Files that are gone, if the folder reports them. */
  readonly gone: readonly DeletedFile[];
  /** Changes for the transaction of the report. */
  readonly changes: EntryChanges;
  /** The earliest time at which a waiting file may have settled; undefined if none waits. */
  readonly settledAtMs: number | undefined;
  readonly timeResolutionMs: number;
  readonly isCut: boolean;
  /** The number of stored entries once the changes are written. */
  readonly storedFiles: number;
}

interface Listing {
  readonly sorter: EntrySorter;
  /** Paths, below the folder, of files that can be markers. */
  readonly markers: ReadonlySet<string>;
  readonly unsure: UnsureEntries;
  readonly beganMs: number;
  readonly endedMs: number;
  readonly timeResolutionMs: number;
}

interface ListRules {
  /** The limit of listed files; beyond it: too_large. */
  readonly room: number;
  /** Lists twice if a listing may end early unnoticed: a file exists if either listing shows it. */
  readonly isTwice: boolean;
  /** The sub-folders to list; absent = all. */
  readonly concerns?: (below: string) => boolean;
}

const MAX_REPORTS = 10_000;
/** The limit of reports if files are moved or deleted after delivery: each of them costs a stat. */
const MAX_ACTED_ON = 1000;
const CHANGES_AT_ONCE = 1000;
/** A loop of links ends there. */
const TREE_LIMITS = { mostFolders: 100_000, mostLevels: 32 };

/** Limits the time of `work`, which a slow server could prolong for ever. Errors: those of `work`, command_timeout. */
function withinCheckTime<T>(
  what: string,
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const text = `${what} took longer than ${ms} ms (watcher.checkTimeoutMs)`;
  const late = (): GatewayError => new GatewayError('command_timeout', text, { step: 'transfer' });
  return withDeadline({ signal, ms, late }, (limit) => work(limit.signal));
}

export class FolderScanner {
  readonly #deps: ScannerDeps;

  constructor(deps: ScannerDeps) {
    this.#deps = deps;
  }

  /** Lists and compares; `apply` writes changes that belong to no report, in small steps. */
  scan(what: Scan, apply: (changes: EntryChanges) => Promise<void>): Promise<ScanFindings> {
    return withinCheckTime('the check', this.#deps.timeoutMs, what.signal, (signal) =>
      this.#scanNow({ ...what, signal }, apply),
    );
  }

  async #scanNow(what: Scan, apply: (changes: EntryChanges) => Promise<void>): Promise<ScanFindings> {
    const { folder, connection, kind } = what;
    requireActive(connection);
    const filter = createNameFilter({ ...folder, skipNames: this.#deps.skipNames });
    const room = this.#deps.filesPerAccount - (await this.#deps.files.countOthers(folder));
    // Files that the first listing misses would be reported as new at the next check: no stored entry shows that they
    // are old.
    const takesBaseline = folder.initial !== 'report' && (folder.baselineAt === null || folder.formerNames !== null);
    const listing = await this.#list(what, filter, { room, isTwice: takesBaseline });
    try {
      const resolutionMs = Math.max(folder.timeResolutionMs, listing.timeResolutionMs);
      const hasShifts = resolutionMs >= MINUTE_MS && folder.baselineAt !== null;
      const zoneShiftMs = hasShifts
        ? await zoneShift(listing.sorter.batches(), this.#deps.files.pages(folder.id), listing.endedMs)
        : 0;
      const rules: DiffRules = {
        isBaseline: this.#baselineOf(folder),
        detectModified: folder.detectModified,
        settleMs: Math.max(this.#deps.settleMs, folder.minAgeSeconds * 1000),
        resolutionMs,
        zoneShiftMs,
        beganMs: listing.beganMs,
        endedMs: listing.endedMs,
        mayReportEmpty: kind !== 'follow_up',
        maxReports: this.#deps.maxReports ?? (folder.afterDelivery === 'keep' ? MAX_REPORTS : MAX_ACTED_ON),
        mayBeThere: (key) => listing.unsure.mayHold(key),
        filter: (key) => filter.reasonAgainst(nameOfKey(key).path),
        hasMarker: (key) => {
          const marker = filter.markerOf(nameOfKey(key).path);
          return marker === undefined || listing.markers.has(marker);
        },
      };
      return await this.#compare(what, filter, listing, rules, apply);
    } finally {
      await listing.sorter.close();
    }
  }

  /** All files at the first check; later the files that only a change of the name rules lets in. */
  #baselineOf(folder: WatchedFolder): (key: Buffer) => boolean {
    const { initial, baselineAt, formerNames } = folder;
    if (initial === 'report') return () => false;
    if (baselineAt === null) return () => true;
    if (formerNames === null) return () => false;
    const former = createNameFilter({ ...formerNames, skipNames: this.#deps.skipNames });
    return (key) => {
      const { path } = nameOfKey(key);
      return former.reasonAgainst(path) !== undefined || (!former.isDeep && path.includes('/'));
    };
  }

  /** The exact states of reported files by path, if they are moved or deleted after delivery. */
  async exactStates(
    folder: WatchedFolder,
    connection: Connection,
    detected: readonly DetectedFile[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, DeliveredFile>> {
    if (folder.afterDelivery === 'keep' || detected.length === 0) return new Map();
    const paths = detected.filter(({ rawName }) => rawName === undefined).map(({ path }) => path);
    return withinCheckTime('the exact look at new files', this.#deps.timeoutMs, signal, (limited) => {
      const options = { signal: limited, leftovers: this.#deps.leftovers, priority: 'background' as const };
      return this.#deps.remotes.use(connection, options, (remote) => agedStates(remote, paths, limited));
    });
  }

  async #list(
    { folder, connection, clock, signal }: Scan,
    filter: NameFilter,
    { room, isTwice, concerns }: ListRules,
  ): Promise<Listing> {
    const root = parseRemotePath(folder.path, ROOT, 'path');
    const moveTo = folder.moveTo === null ? undefined : parseRemotePath(folder.moveTo, root, 'moveTo');
    const options = { signal, leftovers: this.#deps.leftovers, priority: 'background' as const };
    return this.#deps.remotes.use(connection, options, async (remote) => {
      const sorter = new EntrySorter();
      const markers = new Set<string>();
      const unsure = new UnsureEntries();
      const folders: FolderRules = {
        ...TREE_LIMITS,
        listing: (below) => unsure.listing(below),
        // The paths of files in a folder whose name is not UTF-8 could not be reported.
        enters: ({ file, path, key }) => {
          if (file.rawName !== undefined || path === moveTo) return false;
          const below = key.slice(0, -1);
          return !filter.skipsFolder(below) && concerns?.(below) !== false;
        },
      };
      const beganMs = clock.earliestMs();
      try {
        const walks = isTwice && remote.can.listingsMayEndEarly === true ? 2 : 1;
        for (let number = 0; number < walks; number++) {
          const leftOut = (below: string, what: LeftOut): void => unsure.add(below, what);
          let files = 0;
          for await (const { file, key: below } of walk(remote, root, { isDeep: filter.isDeep, folders, leftOut })) {
            if (++files > room) throw tooManyFiles(folder, this.#deps.filesPerAccount);
            const key = pathKeyOf(below);
            if (folder.doneFile !== null) {
              const { path } = nameOfKey(key);
              if (filter.isMarker(path)) markers.add(path);
            }
            // The sorter returns a key once, even if it was added twice.
            const adding = sorter.add({ key, size: file.size, modifiedMs: file.modifiedAt.getTime() });
            if (adding !== undefined) await adding;
          }
        }
      } catch (error) {
        // A folder of an object store exists only while it has files.
        const isEmptied = definitionOf(connection).can.isObjectStore && hasCode(error, 'not_found');
        if (!isEmptied) {
          await sorter.close();
          throw error;
        }
      }
      const { timeResolutionMs } = remote.can;
      return { sorter, markers, unsure, beganMs, endedMs: clock.latestMs(), timeResolutionMs };
    });
  }

  /**
   * Lists the folders of the missing entries again. A data connection of plain FTP that ends early, at the end of a
   * line, gives a listing that seems complete; the missing files would be reported as new when they reappear.
   */
  async *#rescan(what: Scan, filter: NameFilter, missing: MissingEntries): AsyncGenerator<readonly Unlisted[]> {
    const concerns = (below: string): boolean => missing.mayBeIn(below);
    const listing = await this.#list(what, filter, { room: Infinity, isTwice: false, concerns });
    const verdict = (missed: MissingEntry, isListed: boolean): Unlisted => {
      const { key, sinceMs } = missed;
      if (isListed) return { ...missed, reason: sinceMs === undefined ? 'unchanged' : 'settling', change: undefined };
      if (listing.unsure.mayHold(key)) return { ...missed, reason: 'unreadable', change: undefined };
      return { ...missed, reason: 'gone', change: { key, known: undefined, seen: undefined } };
    };
    try {
      for await (const batch of pairs(missing.batches(), listing.sorter.batches())) {
        yield batch.flatMap(({ source, target }) =>
          source === undefined ? [] : [verdict(source, target !== undefined)],
        );
      }
    } finally {
      await listing.sorter.close();
    }
  }

  /**
   * Keys (Latin-1) of entries that the first check could not read. They belong to the baseline, and are not new once
   * they are readable.
   */
  #unreadBaseline(folder: WatchedFolder, { unsure }: Listing, rules: DiffRules): Set<string> {
    const keys = new Set<string>();
    if (folder.baselineAt !== null) return keys;
    for (const key of unsure.keys()) {
      const isTaken = typeof rules.isBaseline === 'boolean' ? rules.isBaseline : rules.isBaseline(key);
      if (isTaken && rules.filter(key) === undefined) keys.add(key.toString('latin1'));
    }
    return keys;
  }

  async #compare(
    what: Scan,
    filter: NameFilter,
    listing: Listing,
    rules: DiffRules,
    apply: (changes: EntryChanges) => Promise<void>,
  ): Promise<ScanFindings> {
    const { folder } = what;
    const reasons = new ReasonLog();
    reasons.addUnreadable(listing.unsure);
    const detected: DetectedFile[] = [];
    const reported: EntryChange[] = [];
    const changes = new EntryChanges();
    let isCut = false;
    let settledAtMs: number | undefined;
    const unread = this.#unreadBaseline(folder, listing, rules);
    let storedFiles = 0;
    const gone: DeletedFile[] = [];
    const isReportedGone = (decision: Decision | Unlisted): boolean =>
      folder.detectDeleted &&
      decision.reason === 'gone' &&
      decision.isKnown &&
      rules.filter(decision.key) === undefined;
    const mayTake = (decision: Unlisted): boolean => !isReportedGone(decision) || gone.length < rules.maxReports;
    const take = (decision: Decision | Unlisted): void => {
      reasons.add(decision);
      if (isStoredAfter(decision)) storedFiles += 1;
      if (unread.size > 0) unread.delete(decision.key.toString('latin1'));
      const { change, reason } = decision;
      if (isReport(reason) && change !== undefined) {
        reported.push(change);
        detected.push(detectedFile(folder, decision as Decision, reason));
        return;
      }
      if (change !== undefined && isReportedGone(decision)) {
        reported.push(change);
        gone.push(placeOf(folder, decision.key));
        return;
      }
      if (change !== undefined) changes.add(change);
      if (reason === 'over_cap') isCut = true;
      if (reason !== 'settling' && reason !== 'growing') return;
      const sinceMs = 'entry' in decision ? (change ?? decision.stored)?.seen?.sinceMs : decision.sinceMs;
      const at = (sinceMs ?? 0) + rules.settleMs;
      settledAtMs = Math.min(settledAtMs ?? at, at);
    };
    const applyMany = async (): Promise<void> => {
      if (changes.count < CHANGES_AT_ONCE) return;
      await apply(changes);
      changes.clear();
    };
    const missing = new MissingEntries();
    try {
      for await (const batch of diff(listing.sorter.batches(), this.#deps.files.pages(folder.id), rules)) {
        for (const decision of batch) {
          if (decision.reason !== 'gone') take(decision);
          else await missing.add(decision);
        }
        await applyMany();
      }
      if (missing.count > 0) {
        for await (const batch of this.#rescan(what, filter, missing)) {
          for (const decision of batch) take(mayTake(decision) ? decision : later(decision));
          await applyMany();
        }
      }
    } finally {
      await missing.close();
    }
    for (const key of unread) {
      const known = { size: UNKNOWN_SIZE, modifiedMs: 0 };
      changes.add({ key: Buffer.from(key, 'latin1'), known, seen: undefined });
      storedFiles += 1;
      await applyMany();
    }
    for (const change of reported) changes.add(change);
    // A few changes are left for the transaction of the report. The others are written already; a repeated check finds
    // them done.
    return {
      reasons,
      detected,
      gone,
      changes,
      settledAtMs,
      timeResolutionMs: listing.timeResolutionMs,
      isCut,
      storedFiles,
    };
  }
}

/** Its stored entry stays until a check reports it. */
function later(decision: Unlisted): Unlisted {
  return { ...decision, reason: 'over_cap', change: undefined };
}

function isStoredAfter(decision: Decision | Unlisted): boolean {
  const { change } = decision;
  if (change !== undefined) return change.known !== undefined || change.seen !== undefined;
  return 'entry' in decision ? decision.stored !== undefined : true;
}

function tooManyFiles(folder: WatchedFolder, most: number): GatewayError {
  const text = `with ${folder.path} the watched folders of this account hold more than ${most} files (watcher.filesPerAccount): watch fewer or smaller folders`;
  return new GatewayError('too_large', text, { step: 'transfer' });
}

function detectedFile(folder: WatchedFolder, { key, entry }: Decision, event: 'new' | 'modified'): DetectedFile {
  const { size, modifiedMs }: ListedEntry = entry;
  return { rawName: undefined, ...placeOf(folder, key), size, modifiedMs, event };
}

function placeOf(folder: WatchedFolder, key: Buffer): DeletedFile {
  const { path, name, rawName } = nameOfKey(key);
  const below = folder.path === '/' ? `/${path}` : `${folder.path}/${path}`;
  return { name, path: below, ...(rawName === undefined ? {} : { rawName }) };
}
