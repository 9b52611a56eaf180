/** Bodies of the events of watched folders, exactly as they are sent. */
import type { RouteCopy } from '../contract/delivery.js';
import { type CopiedFile, type DeletedFile, eventBody, type EventFile, NUMBERED_BYTES } from '../contract/event.js';
import type { WatchedFolder } from '../contract/watched-folder.js';

export interface DetectedFile {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
  readonly rawName: string | undefined;
  readonly event: 'new' | 'modified';
}

export interface EventSource {
  readonly folder: Pick<WatchedFolder, 'id' | 'name' | 'path' | 'connectionId'>;
  readonly connection: { readonly id: string; readonly name: string; readonly type: string };
  readonly at: Date;
}

export interface EventLimits {
  readonly filesPerEvent: number;
  readonly bytesPerEvent: number;
}

interface FilesEvent<F> {
  readonly body: string;
  readonly files: readonly F[];
}

type FilesType = 'watched_folder.files_detected' | 'watched_folder.files_deleted';

/** The events of new and changed files. `reserved`: bytes that will be added for a file later. */
export function detectedEvents(
  source: EventSource,
  files: readonly DetectedFile[],
  limits: EventLimits,
  reserved: (file: DetectedFile) => number = () => 0,
): FilesEvent<DetectedFile>[] {
  return filesEvents('watched_folder.files_detected', source, files, limits, { textOf: fileJson, reserved });
}

export function deletedEvents(source: EventSource, files: readonly DeletedFile[], limits: EventLimits) {
  const textOf = (file: DeletedFile): string => JSON.stringify(file);
  return filesEvents('watched_folder.files_deleted', source, files, limits, { textOf, reserved: () => 0 });
}

/**
 * Divides the files into events within both limits; a file that by itself exceeds the limit of bytes is an event of its
 * own.
 */
function filesEvents<F>(
  type: FilesType,
  source: EventSource,
  files: readonly F[],
  { filesPerEvent, bytesPerEvent }: EventLimits,
  { textOf, reserved }: { readonly textOf: (file: F) => string; readonly reserved: (file: F) => number },
): FilesEvent<F>[] {
  const [head, tail] = frame(type, source);
  const frameBytes = Buffer.byteLength(head) + Buffer.byteLength(tail) + NUMBERED_BYTES;
  const events: FilesEvent<F>[] = [];
  let parts: string[] = [];
  let inside: F[] = [];
  let bytes = frameBytes;
  const close = (): void => {
    if (inside.length > 0) events.push({ body: head + parts.join(',') + tail, files: inside });
    parts = [];
    inside = [];
    bytes = frameBytes;
  };
  for (const file of files) {
    const text = textOf(file);
    const own = Buffer.byteLength(text) + reserved(file);
    const added = own + (inside.length > 0 ? 1 : 0);
    if (inside.length > 0 && (inside.length === filesPerEvent || bytes + added > bytesPerEvent)) close();
    bytes += own + (inside.length > 0 ? 1 : 0);
    parts.push(text);
    inside.push(file);
  }
  close();
  return events;
}

/** Bytes of an error text in a body. */
const MAX_ERROR = 200;
/** For ` (1000)` in the name, and the digits of any size. */
const ROOM = ',"copy":'.length + 7 + String(Number.MAX_SAFE_INTEGER).length;

/** Bytes that `withCopies` adds to a body for one file, at most. */
export function copyBytes(connectionId: string, path: string): number {
  const done = Buffer.byteLength(JSON.stringify({ connectionId, path, skipped: true })) + ROOM;
  return Math.max(done, Buffer.byteLength(JSON.stringify({ connectionId, error: '' })) + MAX_ERROR);
}

/** The body of an event after its copies have ended; `copies` are in the order of the files. */
export function withCopies(body: string, copies: readonly RouteCopy[]): string {
  const event = JSON.parse(body) as { readonly data: { readonly files: readonly EventFile[] } };
  const files = event.data.files.map((file, index) => {
    const copy = copies[index];
    return copy === undefined ? file : { ...file, copy: copyOf(copy) };
  });
  return JSON.stringify({ ...event, data: { ...event.data, files } });
}

function copyOf(copy: RouteCopy): CopiedFile {
  const { connectionId } = copy;
  const path = copy.targetPath ?? undefined;
  if (copy.state === 'done' && path !== undefined) return { connectionId, path, size: copy.size ?? 0 };
  if (copy.state === 'skipped' && path !== undefined) return { connectionId, path, skipped: true };
  return { connectionId, error: shortened(copy.errorMessage ?? '') };
}

/** At most MAX_ERROR bytes of JSON. */
function shortened(text: string): string {
  let kept = text.slice(0, MAX_ERROR).toWellFormed();
  while (Buffer.byteLength(JSON.stringify(kept)) > MAX_ERROR) kept = [...kept].slice(0, -8).join('');
  return kept;
}

/** The body for a folder without new files for longer than its `expectEveryMinutes`. */
export function lateEvent(
  type: 'watched_folder.files_missing' | 'watched_folder.late',
  source: EventSource,
  expectEveryMinutes: number,
  lastDetection: Date | undefined,
): string {
  const lastDetectionAt = lastDetection?.toISOString() ?? null;
  return eventBody(type, source.at, { ...subjectOf(source), expectEveryMinutes, lastDetectionAt });
}

export function testEvent(source: EventSource): string {
  return eventBody('watched_folder.test', source.at, { ...subjectOf(source), files: [] });
}

/** The fields, outside the body, that all events of a folder share. */
export function eventAddressOf({ accountId, connectionId, copyTo }: WatchedFolder) {
  return { accountId, connectionIds: [...new Set([connectionId, copyTo?.connectionId ?? connectionId])] };
}

function subjectOf({ folder, connection }: EventSource) {
  return {
    watchedFolder: { id: folder.id, name: folder.name, path: folder.path, connectionId: folder.connectionId },
    connection: { id: connection.id, name: connection.name, type: connection.type },
  };
}

/** The text before and after the elements of `files`, which is the last field of `data`. */
function frame(type: FilesType, source: EventSource): [string, string] {
  const body = eventBody(type, source.at, { ...subjectOf(source), files: [] });
  return [body.slice(0, -3), ']}}'];
}

function fileJson({ name, path, size, modifiedMs, rawName, event }: DetectedFile): string {
  const raw = rawName === undefined ? {} : { rawName };
  const modifiedAt = timeText(modifiedMs);
  const file: EventFile = { name, path, size, isDirectory: false, modifiedAt, ...raw, event };
  return JSON.stringify(file);
}

/** The epoch if the server's time is beyond the range of Date. */
function timeText(ms: number): string {
  return Number.isNaN(new Date(ms).getTime()) ? new Date(0).toISOString() : new Date(ms).toISOString();
}
