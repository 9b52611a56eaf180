/**
 * A slice of a job's folders: some are listed at a time, compared if it is a sync, and the findings are written in
 * batches.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { entryKey } from '../base/entry-key.js';
import { type Pair, pairs } from '../base/entry-pairs.js';
import { EntrySorter, type SortedEntry } from '../base/entry-sorter.js';
import type { EndSignal } from '../base/ending.js';
import { type GatewayError, hasCode, toGatewayError } from '../base/errors.js';
import { OWN_TEMPORARY } from '../base/file-name.js';
import type { Connection } from '../connections/connection.js';
import { definitionOf } from '../contract/connection/types.js';
import { find, OntoItself } from '../operations/conflicts.js';
import { folderShownBy } from '../operations/onto-itself.js';
import { listOneFolder, NO_MARKS } from '../operations/tree/folder.js';
import { pathBelow, type RemotePath } from '../remotes/path.js';
import type { Attempt, Remotes } from '../remotes/registry.js';
import { HiddenNames, labelOf } from '../remotes/left-out.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { FileInfo, LeftOut, Remote } from '../remotes/remote.js';
import { isFiltered } from '../contract/job.js';
import type { JobFolder, JobTree, NewJobFile } from '../storage/storage.js';
import type { RunningJob, WorkerSlot } from '../storage/storage.js';
import { FOLDER, FOLDER_LINK, isUpToDate, kindOf } from './compare.js';
import { hasComeSince, isWholeTree, keyBelow } from './entries.js';
import { createFileFilter, type FileFilter } from './file-filter.js';
import type { JobPlaces } from './file-work.js';
import type { SliceEnd } from './file-slices.js';
import { FindingsBatch, type OpenFolder } from './findings-batch.js';
import { type Folding, foldingOf, NamesOfFolder } from './name-clashes.js';
import { type HiddenLinks, loopsIn, removedLink, repeated } from './hidden-links.js';
import { verdictOn } from './retry.js';
import { type RowBudget, rowsOf, TooManyRows } from './row-budget.js';
import type { ActiveRun } from './running-jobs.js';
import {
  badPath,
  CLASH,
  findingOf,
  folderProblem,
  left,
  mayBeWanted,
  nameIn,
  problemOf,
  targetProblem,
  storablePath,
} from './unusable-names.js';

interface ListingsOptions {
  readonly tree: Pick<JobTree, 'claimFolders' | 'add' | 'known' | 'retryFolder' | 'failFolder'>;
  readonly remotes: Pick<Remotes, 'use' | 'useBoth'>;
  readonly leftovers: (connection: Connection) => Leftovers;
  readonly links: Pick<HiddenLinks, 'wasOne'>;
  readonly budget: Pick<RowBudget, 'hasSpace' | 'take'>;
}

const SPACE_AGAIN_MS = 5_000;
const SLICE_FOLDERS = 64;
const PARALLEL_FOLDERS = 4;
/**
 * With more of them each waits for the database most of the time, and its data survives the quick garbage collections.
 */
const LONG_FOLDERS = 2;
/** Links may lead back up: a tree must end. */
const MAX_DEPTH = 64;
const KNOWN_AT_ONCE = 500;

/** A folder's listing under way. */
interface Listing {
  readonly job: RunningJob;
  readonly places: JobPlaces;
  readonly folder: JobFolder;
  readonly filter: FileFilter;
  readonly batch: FindingsBatch;
  readonly openFolder: OpenFolder;
  /** Present if the destination may treat some of them as equal. */
  readonly names: NamesOfFolder | undefined;
  /** Names that may exist in the folder, on either side, although no listing shows them: none of them is deleted. */
  readonly hidden: HiddenNames;
  readonly sorters: Sorters;
  readonly signal: EndSignal;
}

/**
 * They are reused for one folder after the other: the memory of new ones would survive the quick garbage collections.
 */
interface Sorters {
  readonly source: EntrySorter;
  readonly target: EntrySorter;
  /** Entries that the first listings of a folder showed only at the destination. */
  readonly extras: EntrySorter;
}

/** undefined: it is done. Of a million files hardly one has to wait, and each promise is garbage. */
type Added = Promise<void> | undefined;

interface Side {
  readonly sorter: EntrySorter;
  readonly resolutionMs: number;
  /** Listings show the times that files were written with. */
  readonly keepsTimes: boolean;
  readonly isThere: boolean;
  readonly isEmpty: boolean;
}

export class Listings {
  readonly #options: ListingsOptions;

  constructor(options: ListingsOptions) {
    this.#options = options;
  }

  async run(job: RunningJob, slot: WorkerSlot, places: JobPlaces, activeRun: ActiveRun): Promise<SliceEnd> {
    if (!(await this.#options.budget.hasSpace())) return { kind: 'done', afterMs: SPACE_AGAIN_MS };
    try {
      return await this.#slice(job, slot, places, activeRun);
    } catch (error) {
      if (error instanceof TooManyRows) return { kind: 'fatal', error };
      throw error;
    }
  }

  async #slice(job: RunningJob, slot: WorkerSlot, places: JobPlaces, activeRun: ActiveRun): Promise<SliceEnd> {
    const { tree } = this.#options;
    const folders = await tree.claimFolders(job, slot, SLICE_FOLDERS);
    if (folders.length === 0) return { kind: 'nothing' };
    const filter = createFileFilter(job.definition, (job.startedAt ?? job.createdAt).getTime());
    const batch = new FindingsBatch(async (findings) => {
      const rows = rowsOf(findings);
      await this.#options.budget.take(job, rows);
      await tree.add(job, findings, rows);
    });
    let fatal: GatewayError | undefined;
    let gatewayFault: GatewayError | undefined;
    const queue = folders.values();
    const work = async (sorters: Sorters): Promise<void> => {
      for (const folder of queue) {
        if (!activeRun.isWanted || fatal !== undefined || gatewayFault !== undefined) return;
        const openFolder = batch.begin(folder.path);
        try {
          const hidden = new HiddenNames();
          const listing = { job, places, folder, filter, batch, openFolder, hidden, sorters, signal: activeRun.signal };
          await this.#list({ ...listing, names: this.#namesIn(listing) });
          await batch.end(openFolder);
        } catch (thrown) {
          batch.drop(openFolder);
          const error = toGatewayError(activeRun.signal.aborted ? activeRun.signal.reason : thrown);
          if (activeRun.signal.aborted) return;
          const verdict = verdictOn(error, folder.tries);
          if (error instanceof OntoItself || error instanceof TooManyRows) fatal = error;
          else if (verdict.kind === 'stop' && verdict.isFatal) fatal = error;
          else if (verdict.kind === 'stop') gatewayFault = error;
          else if (verdict.kind === 'again') await tree.retryFolder(job.id, folder.path, verdict.afterMs);
          else await tree.failFolder(job, folder.path, error.code, error.clientText);
        }
        if (batch.longFolders >= LONG_FOLDERS) return;
      }
    };
    const worker = async (): Promise<void> => {
      const sorters = { source: new EntrySorter(), target: new EntrySorter(), extras: new EntrySorter() };
      try {
        await work(sorters);
      } finally {
        await sorters.source.close();
        await sorters.target.close();
        await sorters.extras.close();
      }
    };
    try {
      await Promise.all(Array.from({ length: PARALLEL_FOLDERS }, worker));
    } finally {
      if (gatewayFault === undefined && !activeRun.signal.aborted) await batch.flush();
      else await batch.written();
    }
    if (fatal !== undefined) return { kind: 'fatal', error: fatal };
    if (gatewayFault !== undefined) throw gatewayFault;
    return { kind: 'done', afterMs: 0 };
  }

  async #list(listing: Listing): Promise<void> {
    const { job, folder } = listing;
    if (folder.isExtra) return this.#listExtra(listing);
    if (await this.#options.links.wasOne(listing)) return this.#record(listing, removedLink(folder.path));
    if (job.type === 'sync') return this.#compare(listing);
    let end = await this.#stream(listing);
    for (; end === 'ask'; end = await this.#stream(listing)) {
      // The destination may use the session that lists: it is asked now, and the listing begins again.
      await listing.names?.learn();
      listing.names?.startOver();
    }
    if (listing.openFolder.below === undefined) return this.#record(listing, repeated(listing.folder.path));
    if (end !== 'empty') return;
    listing.openFolder.isLeft = job.type === 'move' && !listing.filter.takesEmpty(folder.path.toString());
    await this.#makeEmpty(listing);
  }

  /** How it ended; `ask`: the destination must be asked first. */
  #stream(listing: Listing): Promise<'whole' | 'empty' | 'ask'> {
    const { job, folder, places, names } = listing;
    return this.#use(places.source, listing, async (remote, attempt) => {
      const root = pathBelow(places.sourceRoot, folder.path);
      if (folder.depth === 0) {
        const info = await remote.stat(root);
        // A file, not a folder: the job's only one.
        if (!info.isDirectory) {
          await this.#addFile(listing, Buffer.alloc(0), info.size, info.modifiedAt.getTime());
          return 'whole';
        }
      }
      // The target of a link is copied; a deletion removes the link.
      const followLinks = job.type === 'copy';
      let isEmpty = true;
      const leftOut = (what: LeftOut): Promise<void> => {
        isEmpty = false;
        return this.#addLeftOut(listing, what, false);
      };
      for await (const info of listOneFolder(remote, root, { followLinks, leftOut, loops: loopsIn(listing) })) {
        attempt.committed();
        isEmpty &&= OWN_TEMPORARY.test(info.name);
        // A folder that is listed once more because it is not empty.
        const isLate = folder.tries > 0 && folder.isBegun && isWholeTree(job) && !info.isDirectory;
        if (isLate && hasComeSince(job, info.modifiedAt.getTime(), remote.can.timeResolutionMs)) continue;
        const adding = this.#found(listing, info);
        if (adding !== undefined) await adding;
        if (names?.mustAsk === true) return 'ask';
      }
      return isEmpty ? 'empty' : 'whole';
    });
  }

  /** A tree without files is equal only with its folders. */
  async #makeEmpty(listing: Listing): Promise<void> {
    const { job, places, folder, filter } = listing;
    if (job.type === 'delete' || job.definition.dryRun || !filter.takesEmpty(folder.path.toString())) return;
    const path = pathBelow(places.targetRoot, folder.path);
    await this.#use(places.target, listing, (remote) => remote.makeFolder(path, { isLasting: true }));
  }

  /** Keys of a store are never equal; a name that is not written overwrites nothing. */
  #namesIn(listing: Omit<Listing, 'names'>): NamesOfFolder | undefined {
    const { job, places, folder } = listing;
    const isWritten = job.type !== 'delete' && !job.definition.dryRun && !folder.isExtra;
    if (!isWritten || definitionOf(places.target).can.isObjectStore) return undefined;
    const target = pathBelow(places.targetRoot, folder.path);
    let folding: Promise<Folding> | undefined;
    return new NamesOfFolder(
      () =>
        (folding ??= this.#use(places.target, listing, (remote) =>
          foldingOf(remote, target, this.#options.leftovers(places.target)),
        )),
    );
  }

  /** Whether the destination would treat it as another name of its folder. */
  #isClash({ job, names }: Listing, path: Buffer): boolean | Promise<boolean> {
    if (names === undefined || path.length === 0) return false;
    if (job.type === 'sync') return isLikeOne(names, nameIn(path));
    names.add(nameIn(path));
    return names.isClash;
  }

  /**
   * The names of the source, to compare with entries that only the destination seems to have: one may be the same name
   * in another spelling.
   */
  async #namesOf(listing: Listing, { sorter }: Side): Promise<NamesOfFolder | undefined> {
    const names = this.#namesIn(listing);
    if (names === undefined) return undefined;
    for await (const entries of sorter.batches()) {
      for (const { key } of entries) names.add(key);
      if (names.mustAsk) await names.learn();
      await turn();
    }
    for (const name of listing.hidden.names()) names.add(name);
    if (names.mustAsk) await names.learn();
    return names;
  }

  #found(listing: Listing, info: FileInfo): Added {
    const key = keyBelow(listing.folder.path, entryKey('', info));
    const kind = kindOf(info);
    if (kind === FOLDER_LINK) return this.#addFolderLink(listing, key);
    if (kind === FOLDER) return this.#addFolder(listing, key, false);
    return this.#addFile(listing, key, info.size, info.modifiedAt.getTime());
  }

  /** A folder that only the destination has: everything in it is deleted, unless the source shows the folder by now. */
  async #listExtra(listing: Listing): Promise<void> {
    const { folder, places, job } = listing;
    const inSource = pathBelow(places.sourceRoot, folder.path);
    if ((await this.#use(places.source, listing, (remote) => find(remote, inSource))) !== undefined) {
      listing.openFolder.isLeft = true;
      return;
    }
    const { sorter } = await this.#sorted(places.target, pathBelow(places.targetRoot, folder.path), listing, true);
    let isProven = job.definition.dryRun;
    for await (const entries of sorter.batches()) {
      if (!isProven) await this.#refuseSourceBelow(listing);
      isProven = true;
      for (const entry of entries) await this.#extra(listing, entry);
    }
  }

  async #compare(listing: Listing): Promise<void> {
    const { job, folder } = listing;
    const { extras } = listing.sorters;
    extras.clear();
    const { source, target } = await this.#bothSides(listing);
    if (listing.openFolder.below === undefined) return this.#record(listing, repeated(listing.folder.path));
    const times = {
      sourceResolutionMs: source.resolutionMs,
      targetResolutionMs: target.resolutionMs,
      areKept: target.keepsTimes,
      nowMs: Date.now(),
    };
    let others: Promise<NamesOfFolder | undefined> | undefined;
    let hasExtras = false;
    const unchanged: Buffer[] = [];
    for await (const some of pairs(source.sorter.batches(), target.sorter.batches())) {
      for (const pair of some) {
        const isUnchanged = this.#isUnchanged(listing, pair, times);
        if (isUnchanged && !(await this.#isClash(listing, pair.key))) {
          unchanged.push(keyBelow(folder.path, pair.key));
          if (unchanged.length >= KNOWN_AT_ONCE) await this.#countUnchanged(listing, unchanged.splice(0));
        } else if (pair.source !== undefined) {
          const adding = this.#differs(listing, pair.key, pair.source);
          if (adding !== undefined) await adding;
        } else if (job.definition.deleteExtra) {
          others ??= this.#namesOf(listing, source);
          if (await isLikeOne(await others, pair.key)) continue;
          hasExtras = true;
          const adding = extras.add(pair.target);
          if (adding !== undefined) await adding;
        }
      }
      await turn();
    }
    await this.#countUnchanged(listing, unchanged);
    // Everything in the destination's folder may be deleted, and in a store the folder with it.
    if (source.isEmpty && (!target.isThere || !target.isEmpty)) await this.#makeEmpty(listing);
    if (hasExtras) await this.#confirmExtras(listing);
  }

  /**
   * Lists both sides once more: a file is deleted only if it was missing at the source, and unchanged at the
   * destination, twice.
   */
  async #confirmExtras(listing: Listing): Promise<void> {
    const { job, sorters } = listing;
    if (!job.definition.dryRun) await this.#refuseSourceBelow(listing);
    const { source, target } = await this.#bothSides(listing);
    for await (const some of pairs(sorters.extras.batches(), extrasOf(source, target))) {
      for (const { source: first, target: second } of some) {
        const isSame = first?.size === second?.size && first?.modifiedMs === second?.modifiedMs;
        if (first !== undefined && isSame) await this.#extra(listing, first);
      }
      await turn();
    }
  }

  async #bothSides(listing: Listing): Promise<{ readonly source: Side; readonly target: Side }> {
    const { folder, places } = listing;
    const source = await this.#sorted(places.source, pathBelow(places.sourceRoot, folder.path), listing, false);
    const target = await this.#sorted(places.target, pathBelow(places.targetRoot, folder.path), listing, true);
    return { source, target };
  }

  /**
   * A source that is below the destination, under any name, must not be deleted as one of its extra files. @throws
   * OntoItself
   */
  async #refuseSourceBelow({ folder, places, signal }: Listing): Promise<void> {
    const { source, target, sourceRoot, targetRoot } = places;
    const use = { signal, leftovers: this.#options.leftovers, priority: 'background' as const };
    // If the source is the destination's folder p, then p/q there is q of the source.
    const suspects = suffixesOf(folder.path).map((path) => pathBelow(sourceRoot, path));
    const same = await this.#options.remotes.useBoth(source, target, use, (reading, writing) =>
      folderShownBy(
        { source: reading, target: writing },
        suspects,
        pathBelow(targetRoot, folder.path),
        this.#options.leftovers(target),
      ),
    );
    if (same !== undefined) throw new OntoItself(same, ': it lies in the destination. Nothing was deleted');
  }

  #isUnchanged(
    { job, folder, filter }: Listing,
    { key, source, target }: Pair<SortedEntry, SortedEntry>,
    times: Parameters<typeof isUpToDate>[3],
  ): boolean {
    if (source === undefined || target === undefined || source.size < 0 || target.size < 0) return false;
    const isWanted = filter.takes(keyBelow(folder.path, key).toString(), source.size, source.modifiedMs);
    return isWanted && isUpToDate(source, target, job.definition.compare, times);
  }

  #differs(listing: Listing, key: Buffer, source: SortedEntry): Added {
    const below = keyBelow(listing.folder.path, key);
    if (source.size === FOLDER_LINK) return this.#addFolderLink(listing, below);
    if (source.size === FOLDER) return this.#addFolder(listing, below, false);
    return this.#addFile(listing, below, source.size, source.modifiedMs);
  }

  /** In a folder that was begun before, files that are in the job already were found changed then, and are counted. */
  async #countUnchanged({ job, folder, openFolder }: Listing, keys: readonly Buffer[]): Promise<void> {
    if (keys.length === 0) return;
    const known = folder.isBegun ? await this.#options.tree.known(job.id, keys) : undefined;
    openFolder.unchanged += keys.length - (known?.size ?? 0);
  }

  async #extra(listing: Listing, { key, size, modifiedMs }: SortedEntry): Promise<void> {
    const { job, folder, filter } = listing;
    if (OWN_TEMPORARY.test(key.toString())) return;
    const path = keyBelow(folder.path, key);
    if (listing.hidden.has(key)) {
      const kept = left('kept: a listing of its folder has an entry that cannot be read, and that may be this one');
      return this.#record(listing, { path, action: 'delete', phase: 2, size: Math.max(size, 0), modifiedMs, ...kept });
    }
    if (size === FOLDER) return this.#addFolder(listing, path, true);
    if (!filter.takes(path.toString(), size, modifiedMs)) return;
    await this.#addNow(listing, { path, action: 'delete', phase: 2, size, modifiedMs, state: stateOf(job) });
  }

  async #addFolder(listing: Listing, path: Buffer, isExtra: boolean): Promise<void> {
    const { job, folder, filter, batch, openFolder } = listing;
    if (!filter.enters(path.toString(), folder.depth)) return;
    const isClash = await this.#isClash(listing, path);
    if (listing.names?.mustAsk === true) return;
    const isWritten = job.type !== 'delete' && !isExtra;
    const problem =
      folder.depth >= MAX_DEPTH
        ? `lies more than ${MAX_DEPTH} folders deep; does a link lead back?`
        : (problemOf(path) ?? (isWritten ? folderProblem(listing.places, path) : undefined));
    const entry = { path, action: 'list', phase: 1, size: 0, modifiedMs: 0 } as const;
    if (isClash) return this.#record(listing, { ...entry, ...CLASH });
    if (problem !== undefined) return this.#record(listing, { ...entry, ...badPath(`the folder ${problem}`) });
    const isRemoved = isExtra || job.type === 'move' || (job.type === 'delete' && !isFiltered(job.definition));
    const above = openFolder.below ?? NO_MARKS;
    await batch.addFolder({ path, depth: folder.depth + 1, isExtra, isRemoved, above });
  }

  /** It may lead back up, and its target may be copied elsewhere: it is reported and left. */
  async #addFolderLink(listing: Listing, path: Buffer): Promise<void> {
    const { folder, filter } = listing;
    if (!filter.enters(path.toString(), folder.depth)) return;
    const entry = { path, action: 'list', phase: 1, size: 0, modifiedMs: 0 } as const;
    await this.#record(listing, { ...entry, ...left('a link to a folder, which is not entered') });
  }

  #addFile(listing: Listing, path: Buffer, size: number, modifiedMs: number): Added {
    const { job, places, filter } = listing;
    const text = path.toString();
    if (OWN_TEMPORARY.test(text.slice(text.lastIndexOf('/') + 1))) return undefined;
    if (!filter.takes(text, size, modifiedMs)) return undefined;
    const action = actionOf(job);
    // Built in one piece: spread objects go straight to the old generation, with a hundred bytes per file and more.
    const file: NewJobFile = { path, action, phase: 1, size, modifiedMs, state: stateOf(job) };
    const add = (isClash: boolean): Added => {
      if (listing.names?.mustAsk === true) return undefined;
      const problem = action === 'delete' ? undefined : targetProblem(places, path);
      if (isClash) return this.#record(listing, { ...file, ...CLASH });
      if (problem === undefined) return this.#addNow(listing, file);
      return this.#record(listing, { ...file, ...badPath(`the name ${problem}`) });
    };
    const isClash = this.#isClash(listing, path);
    return typeof isClash === 'boolean' ? add(isClash) : isClash.then(add);
  }

  /** An entry that no request can name fails, and is not moved. */
  async #addLeftOut(listing: Listing, what: LeftOut, isTarget: boolean): Promise<void> {
    const { job, folder, filter, hidden } = listing;
    hidden.add(what);
    if (isTarget && !job.definition.deleteExtra) return;
    const { name, isDirectory } = what;
    const path = keyBelow(folder.path, name ?? Buffer.from(labelOf(what)));
    if (name !== undefined && !mayBeWanted(filter, path.toString(), folder.depth, what)) return;
    const [action, phase] = isTarget ? (['delete', 2] as const) : [isDirectory ? 'list' : actionOf(job), 1 as const];
    await this.#record(listing, { path, action, phase, size: 0, modifiedMs: 0, ...findingOf(what) });
  }

  #addNow(listing: Listing, file: NewJobFile): Added {
    const { batch, openFolder } = listing;
    const problem = problemOf(file.path);
    if (problem !== undefined) return this.#record(listing, { ...file, ...badPath(`the name ${problem}`) });
    return batch.add(openFolder, file);
  }

  /** Reports it without doing any work. */
  #record({ batch, openFolder }: Listing, file: NewJobFile): Added {
    return batch.add(openFolder, { ...file, path: storablePath(file.path) });
  }

  async #sorted(connection: Connection, path: RemotePath, listing: Listing, isTarget: boolean): Promise<Side> {
    const sorter = isTarget ? listing.sorters.target : listing.sorters.source;
    sorter.clear();
    let isEmpty = true;
    try {
      const side = await this.#use(connection, listing, async (remote, attempt) => {
        // Links of the destination are not followed: their targets do not belong to the destination.
        const leftOut = (what: LeftOut): Promise<void> => this.#addLeftOut(listing, what, isTarget);
        const loops = isTarget === listing.folder.isExtra ? loopsIn(listing) : undefined;
        for await (const info of listOneFolder(remote, path, { followLinks: !isTarget, leftOut, loops })) {
          attempt.committed();
          isEmpty &&= OWN_TEMPORARY.test(info.name);
          const size = kindOf(info) ?? info.size;
          const adding = sorter.add({ key: entryKey('', info), size, modifiedMs: info.modifiedAt.getTime() });
          if (adding !== undefined) await adding;
        }
        const { timeResolutionMs: resolutionMs, keepsTimes } = remote.can;
        return { resolutionMs, keepsTimes: keepsTimes === 'listed' };
      });
      return { sorter, ...side, isThere: true, isEmpty };
    } catch (error) {
      // A file in place of a folder: copying into it will report it.
      if (isTarget && hasCode(error, 'not_found', 'not_a_folder'))
        return { sorter, resolutionMs: 0, keepsTimes: false, isThere: false, isEmpty };
      throw error;
    }
  }

  #use<T>(
    connection: Connection,
    { signal }: Pick<Listing, 'signal'>,
    work: (remote: Remote, attempt: Attempt) => Promise<T>,
  ): Promise<T> {
    const options = { signal, leftovers: this.#options.leftovers, priority: 'background' as const };
    return this.#options.remotes.use(connection, options, work);
  }
}

const SLASH = Buffer.from('/');

/** The suffixes of a path: for `a/b` itself, `b`, and the empty one. */
function suffixesOf(path: Buffer): readonly Buffer[] {
  const suffixes = [path];
  for (let rest = path; rest.length > 0; suffixes.push(rest)) {
    const slash = rest.indexOf(SLASH);
    rest = slash === -1 ? Buffer.alloc(0) : rest.subarray(slash + 1);
  }
  return suffixes;
}

/** Entries that only the target has. */
async function* extrasOf(source: Side, target: Side): AsyncGenerator<readonly SortedEntry[]> {
  for await (const some of pairs(source.sorter.batches(), target.sorter.batches())) {
    yield some.flatMap(({ source: one, target: other }) => (one === undefined && other !== undefined ? [other] : []));
  }
}

function isLikeOne(names: NamesOfFolder | undefined, key: Buffer): boolean | Promise<boolean> {
  if (names === undefined) return false;
  names.add(key);
  return names.mustAsk ? names.learn().then(() => names.isClash) : names.isClash;
}

function actionOf({ type }: RunningJob): NewJobFile['action'] {
  return type === 'sync' ? 'copy' : type;
}

const stateOf = ({ definition }: RunningJob): 'planned' | undefined => (definition.dryRun ? 'planned' : undefined);
