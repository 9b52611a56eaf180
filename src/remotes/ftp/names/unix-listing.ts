/** LIST of the working folder: made for people, so dot files, times and zones each need care. */
import { entryPath } from '../../listing.js';
import { joinPath, type RemotePath } from '../../path.js';
import { parseListLine, unreadableEntry, type Entry } from './entries.js';
import { isHeading } from './list-lines.js';
import { isRefusal, openListing } from './lines.js';
import { offsetBetween } from './list-times.js';
import type { Operation } from '../session/operation.js';
import { GatewayError } from '../../../base/errors.js';
import { refusal, saysMissing, type Reply } from '../session/replies.js';

/** Entries held back while the server's clock is not known yet; a longer first listing is read twice. */
const MAX_HELD = 2_000;
const MAX_FRUITLESS_LOOKS = 3;
const MINUTE_MS = 60_000;

/**
 * The entries of the folder that was just entered, in batches as they arrive, with times in UTC as far as the server's
 * zone can be learned. LIST is given no path: servers take "-la" for options and "*" for a pattern.
 */
export async function* listEntered(operation: Operation, folder: RemotePath): AsyncGenerator<Entry[]> {
  const { memory } = operation.lease;
  if (memory.listOffsetMs === undefined && memory.hasMdtm && memory.fruitlessLooks < MAX_FRUITLESS_LOOKS) {
    const held: Entry[] = [];
    let sample: Entry | undefined;
    let isTooLong = false;
    for await (const entries of listAll(operation)) {
      for (const entry of entries) {
        if (sample === undefined && isSample(folder, entry)) sample = entry;
        if (held.length < MAX_HELD) held.push(entry);
        else isTooLong = true;
      }
    }
    if (sample !== undefined) await learnOffset(operation, folder, sample);
    if (!isTooLong) {
      yield held.map((entry) => inUtc(entry, memory.listOffsetMs));
      return;
    }
    if (sample === undefined) memory.fruitlessLooks++;
  }
  for await (const entries of listAll(operation)) yield entries.map((entry) => inUtc(entry, memory.listOffsetMs));
}

const isNoSelf = ({ kind }: Entry): boolean => kind !== 'self';

/** Dot files too, where the server can show them. */
async function* listAll(operation: Operation): AsyncGenerator<Entry[]> {
  const { memory } = operation.lease;
  if (memory.listsAll) {
    let isEmpty = true;
    const opened = await openListing(operation, 'LIST -a');
    if (!isRefusal(opened)) {
      for await (const entries of parse(operation, opened)) {
        isEmpty &&= entries.length === 0;
        yield entries.filter(isNoSelf);
      }
      if (!isEmpty) return;
    }
    // Nothing, not even ".": the server may have looked for a file called "-a".
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

async function* listPlain(operation: Operation): AsyncGenerator<Entry[]> {
  const opened = await openListing(operation, 'LIST');
  if (isRefusal(opened)) {
    if (meansEmpty(opened)) return;
    throw refusal(opened, 'transfer', 'listing the folder (LIST)', 'permission_denied');
  }
  for await (const entries of parse(operation, opened)) yield entries.filter(isNoSelf);
}

/** The folder was entered, so "no such file" can only mean that there is none in it (450 and 550 are both in use). */
const meansEmpty = (reply: Reply): boolean =>
  (reply.code === 450 || reply.code === 550) && (saysMissing(reply) || /no (?:matching )?files/i.test(reply.text));

async function* parse(operation: Operation, batches: AsyncIterable<Buffer[]>): AsyncGenerator<Entry[]> {
  const now = new Date(Date.now() + (operation.lease.memory.listOffsetMs ?? 0));
  let hasBegun = false;
  let understood = 0;
  let unknown: Buffer | undefined;
  for await (const lines of batches) {
    const entries: Entry[] = [];
    for (const line of lines) {
      const entry = parseListLine(line, now);
      const isFirst = !hasBegun;
      hasBegun = true;
      if (entry !== undefined) {
        entries.push(entry);
        understood++;
      } else if (!isFirst || !isHeading(line.toString())) {
        unknown ??= line;
        entries.push(unreadableEntry(line));
      }
    }
    yield entries;
  }
  if (unknown !== undefined && understood === 0) {
    const sample = JSON.stringify(unknown.toString('utf8').slice(0, 200));
    throw new GatewayError('protocol_error', `${operation.host} lists folders in an unknown format: ${sample}`, {
      step: 'transfer',
    });
  }
}

/** A file whose name can be asked about and whose time is exact to the minute. */
function isSample(folder: RemotePath, entry: Entry): boolean {
  if (entryPath(folder, entry.name) === undefined) return false;
  return entry.kind === 'file' && entry.time?.resolutionMs === MINUTE_MS && entry.rawName === undefined;
}

async function learnOffset(operation: Operation, folder: RemotePath, sample: Entry): Promise<void> {
  const exact = await operation.askModifiedAt(joinPath(folder, sample.name));
  if (exact === undefined || sample.time === undefined) return;
  const offset = offsetBetween(sample.time.time, exact);
  operation.lease.memory.listOffsetMs = offset;
  operation.deps.log('FTP server clock compared', { host: operation.host, listAheadOfUtcMs: offset });
}

function inUtc(entry: Entry, offsetMs: number | undefined): Entry {
  const { name, rawName, kind, size, time } = entry;
  if (offsetMs === undefined || offsetMs === 0 || time === undefined) return entry;
  // A day without a clock time is a day in the server's zone, too.
  const utc = new Date(time.time.getTime() - offsetMs);
  return { name, rawName, kind, size, time: { time: utc, resolutionMs: time.resolutionMs } };
}
