/** The events that a webhook receives: their schemas, with words and examples, and their bodies, exactly as they are sent. */
import { Type, type Static, type TObject, type TProperties } from 'typebox';
import { type EventDefinition, eventDefinition, NUMBERED_BYTES } from '../base/events.js';
import { listOf, base64, count, dateTime, described, flag, oneOf, text, textOrNull } from '../contract/schema.js';
import { connectionSummary } from '../contract/connection/schemas.js';
import type { WatchedFolder } from '../contract/watched-folder.js';
import { ROOT_PATH } from '../contract/words.js';
import type { RouteCopy } from '../contract/delivery.js';

const copied = Type.Object(
  {
    connectionId: text('Id of the connection of the copy.'),
    path: Type.Optional(text('Where the copy is; with `skipped`, what stands there instead.')),
    size: Type.Optional(count('Bytes of the copy.')),
    skipped: Type.Optional(flag('True where `onConflict` left alone what stands there.')),
    error: Type.Optional(text('Why there is no copy.')),
  },
  {
    description:
      'Of a folder with `copyTo`: where the copy of the file is. A file without one stays where it is, whatever `afterDelivery` says.',
  },
);

const eventFile = Type.Object({
  name: text('Name of the file.'),
  path: text(ROOT_PATH),
  size: count('Bytes.'),
  isDirectory: flag('Always false.'),
  modifiedAt: dateTime('Time of the last change, UTC.'),
  rawName: Type.Optional(base64('The exact bytes of a name that is not UTF-8, as base64.')),
  event: oneOf(['new', 'modified'], '`new`, or `modified` where its size or date changed.'),
  copy: Type.Optional(copied),
});

const FILES = 'The files that were found; none in an event that only tries the webhook out.';

const EXAMPLE = {
  watchedFolder: {
    id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1c001',
    name: 'incoming',
    path: '/incoming',
    connectionId: 'warehouse',
  },
  connection: { id: 'warehouse', name: 'Warehouse', type: 'sftp' },
};

/** `more`: fields of `data` beside the folder and its connection. */
function event<More extends TProperties>(
  name: string,
  schemaName: string,
  words: Pick<EventDefinition, 'operationId' | 'summary'>,
  more: More,
  example: Static<TObject<More>>,
): EventDefinition {
  const data = Type.Object(
    {
      watchedFolder: Type.Object(
        {
          id: text('Id of the watched folder.'),
          name: text('Name of the watched folder, as the dashboard shows it.'),
          path: text(ROOT_PATH),
          connectionId: text('Id of its connection.'),
        },
        { description: 'The folder that was checked.' },
      ),
      connection: described(connectionSummary, 'The connection of the watched folder.'),
      ...more,
    },
    { description: 'What the event is about.' },
  );
  return eventDefinition(name, schemaName, words, data, { ...EXAMPLE, ...example });
}

/** Told to the folder's own webhook under the first of two names, and to whoever subscribes under the second. */
const late = {
  expectEveryMinutes: count('How often a file is expected.'),
  lastDetectionAt: textOrNull('When a file was last reported; null = never.', { format: 'date-time' }),
};

export const EVENTS: readonly EventDefinition[] = [
  event(
    'watched_folder.files_detected',
    'FilesDetectedEvent',
    { operationId: 'filesDetected', summary: 'Files were found in a watched folder' },
    { files: listOf(eventFile, FILES) },
    {
      files: [
        {
          name: 'orders.csv',
          path: '/incoming/orders.csv',
          size: 1024,
          isDirectory: false,
          modifiedAt: '2026-01-31T11:59:00.000Z',
          event: 'new',
        },
      ],
    },
  ),
  event(
    'watched_folder.files_missing',
    'FilesMissingEvent',
    { operationId: 'filesMissing', summary: 'No file came for longer than expectEveryMinutes' },
    late,
    { expectEveryMinutes: 60, lastDetectionAt: '2026-01-31T10:30:00.000Z' },
  ),
  event(
    'watched_folder.late',
    'FolderLateEvent',
    { operationId: 'folderLate', summary: 'No file came for longer than expectEveryMinutes' },
    late,
    { expectEveryMinutes: 60, lastDetectionAt: '2026-01-31T10:30:00.000Z' },
  ),
  event(
    'watched_folder.test',
    'TestEvent',
    { operationId: 'webhookTest', summary: 'Somebody tries the webhook out' },
    { files: Type.Array(eventFile, { description: FILES, maxItems: 0 }) },
    { files: [] },
  ),
];

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

interface FilesEvent {
  readonly body: string;
  readonly files: readonly DetectedFile[];
}

/**
 * Cuts the files into events within both limits; a file that alone exceeds the bytes is an event of its own. `reserved`:
 * bytes that will be said of a file later.
 */
export function filesEvents(
  source: EventSource,
  files: readonly DetectedFile[],
  { filesPerEvent, bytesPerEvent }: EventLimits,
  reserved: (file: DetectedFile) => number = () => 0,
): FilesEvent[] {
  const [head, tail] = frame(source, 'watched_folder.files_detected', 'files');
  const frameBytes = Buffer.byteLength(head) + Buffer.byteLength(tail) + NUMBERED_BYTES;
  const events: FilesEvent[] = [];
  let parts: string[] = [];
  let inside: DetectedFile[] = [];
  let bytes = frameBytes;
  const close = (): void => {
    if (inside.length > 0) events.push({ body: head + parts.join(',') + tail, files: inside });
    parts = [];
    inside = [];
    bytes = frameBytes;
  };
  for (const file of files) {
    const text = fileJson(file);
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

/** What a body says of a copy, and is kept short. */
const MAX_ERROR = 200;
/** ` (1000)`, and the digits of any size. */
const ROOM = ',"copy":'.length + 7 + String(Number.MAX_SAFE_INTEGER).length;

/** Bytes that `withCopies` adds to a body for one file that goes there. */
export function copyBytes(connectionId: string, path: string): number {
  const done = Buffer.byteLength(JSON.stringify({ connectionId, path, skipped: true })) + ROOM;
  return Math.max(done, Buffer.byteLength(JSON.stringify({ connectionId, error: '' })) + MAX_ERROR);
}

/** The body of an event whose files have been copied, as far as they could be; `copies` in their order. */
export function withCopies(body: string, copies: readonly RouteCopy[]): string {
  const event = JSON.parse(body) as { readonly data: { readonly files: readonly Static<typeof eventFile>[] } };
  const files = event.data.files.map((file, index) => {
    const copy = copies[index];
    return copy === undefined ? file : { ...file, copy: copyOf(copy) };
  });
  return JSON.stringify({ ...event, data: { ...event.data, files } });
}

function copyOf(copy: RouteCopy): Static<typeof copied> {
  const { connectionId } = copy;
  const path = copy.targetPath ?? undefined;
  if (copy.state === 'done' && path !== undefined) return { connectionId, path, size: copy.size ?? 0 };
  if (copy.state === 'skipped' && path !== undefined) return { connectionId, path, skipped: true };
  return { connectionId, error: shortened(copy.errorMessage ?? '') };
}

/** To so many bytes of JSON. */
function shortened(text: string): string {
  let kept = text.slice(0, MAX_ERROR).toWellFormed();
  while (Buffer.byteLength(JSON.stringify(kept)) > MAX_ERROR) kept = [...kept].slice(0, -8).join('');
  return kept;
}

/** Nothing came for as long as the folder's owner said it would at most take. */
export function lateEvent(
  type: 'watched_folder.files_missing' | 'watched_folder.late',
  source: EventSource,
  expectEveryMinutes: number,
  lastDetection: Date | undefined,
): string {
  return body(source, type, {
    expectEveryMinutes,
    lastDetectionAt: lastDetection?.toISOString() ?? null,
  });
}

/** What the dashboard sends to try a webhook out. */
export function testEvent(source: EventSource): string {
  return body(source, 'watched_folder.test', { files: [] });
}

function body({ folder, connection, at }: EventSource, type: string, more: object): string {
  const data = {
    watchedFolder: { id: folder.id, name: folder.name, path: folder.path, connectionId: folder.connectionId },
    connection: { id: connection.id, name: connection.name, type: connection.type },
    ...more,
  };
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}

/** What stands before and after the elements of the list `field`, the last one of data. */
function frame(source: EventSource, type: string, field: string): [string, string] {
  return [body(source, type, { [field]: [] }).slice(0, -3), ']}}'];
}

function fileJson({ name, path, size, modifiedMs, rawName, event }: DetectedFile): string {
  const raw = rawName === undefined ? {} : { rawName };
  const modifiedAt = timeText(modifiedMs);
  const file: Static<typeof eventFile> = { name, path, size, isDirectory: false, modifiedAt, ...raw, event };
  return JSON.stringify(file);
}

/** Servers tell times beyond what a Date can hold. */
function timeText(ms: number): string {
  return Number.isNaN(new Date(ms).getTime()) ? new Date(0).toISOString() : new Date(ms).toISOString();
}
