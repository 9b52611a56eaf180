/** LIST of the working folder. It is made for people, so dot files, times and zones each need care. */
import { LeftOuts } from '../../left-out.js';
import { entryPath } from '../../listing.js';
import { joinPath, type RemotePath } from '../../path.js';
import { byOwnName, type FtpEntry } from './entries.js';
import { ListReader } from './list-reader.js';
import { isExactTime } from './list-times.js';
import { isReply, notListed, openListLines } from './lines.js';
import { offsetBetween } from './list-zone.js';
import type { FtpMemory } from '../memory.js';
import type { FtpOperation } from '../session/operation.js';
import { GatewayError } from '../../../base/errors.js';
import { momentsIn, offsetIn } from '../../../base/time-zone.js';
import { refusedBy, saysMissing, type Reply } from '../session/replies.js';
import { MINUTE_MS } from '../../../contract/units.js';

/** Entries buffered while the offset of the server's clock is unknown; a longer first listing is read twice. */
const MAX_HELD = 2_000;
const MAX_FRUITLESS_LISTINGS = 3;
/** Queries for exact times after one listing; times that are still unknown are queried after the next one. */
const MAX_ASKED = 40;
const MAX_FRUITLESS = 3;

/**
 * Yields the entries of the folder that was just entered, in batches as they arrive, with times in UTC as far as the
 * server's zone is given or can be learned. LIST gets no path: servers take "-la" for options and "*" for a pattern.
 */
export async function* listEntered(operation: FtpOperation, folder: RemotePath): AsyncGenerator<FtpEntry[]> {
  const { memory } = operation.lease;
  const { timeZone } = operation.connection;
  if (timeZone !== undefined) {
    const momentOf = momentsIn(timeZone);
    for await (const entries of listAll(operation)) yield inUtc(entries, momentOf);
    return;
  }
  const learned = (listedMs: number): number => listedMs - (memory.zone.offsetAt(listedMs) ?? 0);
  const samples = new Samples(folder, memory);
  const mustWait = memory.hasMdtm && memory.zone.isUnknown && memory.fruitlessListings < MAX_FRUITLESS_LISTINGS;
  let held: FtpEntry[] | undefined = memory.hasMdtm ? [] : undefined;
  let isTooLong = false;
  const unusable = new LeftOuts(folder, undefined);
  let isCertain = !mustWait;
  for await (const entries of listAll(operation)) {
    for (const entry of entries) {
      isCertain = !samples.offer(entry) && isCertain;
      // A first listing that is read for its times only passes nothing on, so unreadable entries are counted here.
      if (isTooLong && (entry.kind === 'unreadable' || entryPath(folder, entry.name) === undefined))
        await unusable.add({ name: undefined, isDirectory: false, why: 'unreadable', line: entry.name });
    }
    // What no sample can change is passed on as it arrives.
    if (held === undefined || isCertain) yield inUtc(entries, learned);
    else if (held.length + entries.length <= MAX_HELD) held.push(...entries);
    else if (mustWait) isTooLong = true;
    else {
      yield inUtc([...held, ...entries], learned);
      held = undefined;
    }
  }
  // The control connection is free now. What a long listing teaches helps the next one.
  if (memory.hasMdtm) await samples.learn(operation);
  if (held === undefined) return;
  if (!isTooLong) {
    yield inUtc(held, learned);
    return;
  }
  if (memory.zone.isUnknown && samples.isEmpty) memory.fruitlessListings++;
  for await (const entries of listAll(operation)) yield inUtc(entries, learned);
}

/** Files of one listing whose exact times can be asked for. */
class Samples {
  readonly #folder: RemotePath;
  readonly #memory: FtpMemory;
  readonly #files = new Map<number, string>();

  constructor(folder: RemotePath, memory: FtpMemory) {
    this.#folder = folder;
    this.#memory = memory;
  }

  get isEmpty(): boolean {
    return this.#files.size === 0;
  }

  /** Whether a sample of this listing can change the time of the entry. */
  offer({ kind, name, rawName, time }: FtpEntry): boolean {
    if (time === undefined || isExactTime(time) || this.#memory.zone.isCertain(time.ms)) return false;
    const isSample = kind === 'file' && time.resolutionMs === MINUTE_MS && rawName === undefined;
    if (isSample && this.#files.size < MAX_HELD && entryPath(this.#folder, name) !== undefined)
      this.#files.set(time.ms, name);
    return true;
  }

  /** Queries as many times as needed to know the zone at each of them, within bounds. */
  async learn(operation: FtpOperation): Promise<void> {
    const { control } = operation.lease;
    const memory = this.#memory;
    const { zone } = memory;
    if (zone.isUnknown && memory.fruitlessListings >= MAX_FRUITLESS_LISTINGS) return;
    let times = [...this.#files.keys()].sort((a, b) => a - b);
    let fruitless = 0;
    for (let asked = 0; asked < MAX_ASKED && memory.hasMdtm && control.alive; asked++) {
      const listedMs = zone.nextToAsk(times);
      if (listedMs === undefined) return;
      const exact = await operation.askModifiedAt(joinPath(this.#folder, this.#files.get(listedMs) as string));
      const offsetMs = exact === undefined ? undefined : offsetBetween(new Date(listedMs), exact);
      if (offsetMs === undefined) {
        // The two times may not belong to one state of the file: it is being written, or the server uses two clocks.
        if (++fruitless === MAX_FRUITLESS) break;
        times = times.filter((time) => time !== listedMs);
      } else {
        zone.add({ listedMs, offsetMs });
        operation.deps.log('FTP server clock compared', { host: operation.host, listAheadOfUtcMs: offsetMs });
      }
    }
    if (fruitless > 0 && zone.isUnknown) memory.fruitlessListings++;
  }
}

const isNoSelf = ({ kind }: FtpEntry): boolean => kind !== 'self';

/** Where LIST may take "-a", as `ls` does. */
const KNOWS_OPTIONS: ReadonlySet<string> = new Set(['auto', 'unix', 'dos']);

/** Includes dot files, if the server can list them. */
async function* listAll(operation: FtpOperation): AsyncGenerator<FtpEntry[]> {
  const { memory } = operation.lease;
  if (memory.listsAll && KNOWS_OPTIONS.has(operation.connection.listing)) {
    let isEmpty = true;
    const opened = await openListLines(operation, 'LIST -a');
    if (!isReply(opened)) {
      for await (const entries of parse(operation, opened)) {
        isEmpty &&= entries.length === 0;
        yield entries.filter(isNoSelf);
      }
      if (!isEmpty) return;
    }
    // Nothing at all, not even ".": the server may have looked for a file called "-a".
    isEmpty = true;
    for await (const entries of listPlain(operation)) {
      isEmpty &&= entries.length === 0;
      yield entries;
    }
    if (!isEmpty) memory.listsAll = false;
    return;
  }
  yield* listPlain(operation);
}

async function* listPlain(operation: FtpOperation): AsyncGenerator<FtpEntry[]> {
  const opened = await openListLines(operation, 'LIST');
  if (isReply(opened)) {
    if (meansEmpty(opened)) return;
    throw notListed(operation, opened, () =>
      refusedBy(opened, 'transfer', 'listing the folder (LIST)', 'permission_denied'),
    );
  }
  for await (const entries of parse(operation, opened)) yield entries.filter(isNoSelf);
}

/** The folder was entered, so "no such file" can only mean that it is empty (450 and 550 are both in use). */
const meansEmpty = (reply: Reply): boolean =>
  (reply.code === 450 || reply.code === 550) && (saysMissing(reply) || /no (?:matching )?files/i.test(reply.text));

async function* parse(operation: FtpOperation, batches: AsyncIterable<Buffer[]>): AsyncGenerator<FtpEntry[]> {
  const { listing, timeZone } = operation.connection;
  const moment = Date.now();
  const ahead = timeZone === undefined ? operation.lease.memory.zone.offsetNowMs : offsetIn(timeZone)(moment);
  const now = new Date(moment + ahead);
  const reader = new ListReader(listing, now, operation.encoding);
  const folder = operation.lease.workingFolder ?? '/';
  for await (const lines of batches) {
    const entries: FtpEntry[] = [];
    for (const line of lines) reader.read(line, entries);
    yield entries.map((entry) => byOwnName(entry, folder, operation.encoding));
  }
  const last: FtpEntry[] = [];
  reader.end(last);
  yield last;
  const { unknown } = reader;
  if (unknown !== undefined) {
    const sample = JSON.stringify(unknown.slice(0, 200));
    const what = listing === 'auto' ? 'an unknown format' : `another format than listing "${listing}"`;
    throw new GatewayError('protocol_error', `${operation.host} lists folders in ${what}: ${sample}`, {
      step: 'transfer',
    });
  }
}

/** The same entries, changed in place. `momentOf`: the moment of a time as it is listed. */
function inUtc(entries: FtpEntry[], momentOf: (listedMs: number) => number): FtpEntry[] {
  for (const entry of entries) {
    const { time } = entry;
    // A day without a clock time is also a day in the server's zone.
    if (time !== undefined && !isExactTime(time)) {
      entry.time = { ms: momentOf(time.ms), resolutionMs: time.resolutionMs };
    }
  }
  return entries;
}
