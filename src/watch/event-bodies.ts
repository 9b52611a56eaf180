/** The bodies of events, exactly as they are sent (contract, "Webhook"). */
import type { WatchedFolder } from '../storage/tables/watches.js';

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

export interface FilesEvent {
  readonly body: string;
  readonly files: readonly DetectedFile[];
}

/** Cuts the files into events within both limits; a file that alone exceeds the bytes is an event of its own. */
export function filesEvents(
  source: EventSource,
  files: readonly DetectedFile[],
  { filesPerEvent, bytesPerEvent }: EventLimits,
): FilesEvent[] {
  const [head, tail] = frame(source, 'watched_folder.files_detected', 'files');
  const frameBytes = Buffer.byteLength(head) + Buffer.byteLength(tail);
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
    const added = Buffer.byteLength(text) + (inside.length > 0 ? 1 : 0);
    if (inside.length > 0 && (inside.length === filesPerEvent || bytes + added > bytesPerEvent)) close();
    bytes += Buffer.byteLength(text) + (inside.length > 0 ? 1 : 0);
    parts.push(text);
    inside.push(file);
  }
  close();
  return events;
}

/** Nothing came for as long as the folder's owner said it would at most take. */
export function missingEvent(source: EventSource, expectEveryMinutes: number, lastDetection: Date | undefined): string {
  return body(source, 'watched_folder.files_missing', {
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
  return JSON.stringify({
    name,
    path,
    size,
    isDirectory: false,
    modifiedAt: dateTime(modifiedMs),
    ...(rawName === undefined ? {} : { rawName }),
    event,
  });
}

/** Servers tell times beyond what a Date can hold. */
function dateTime(ms: number): string {
  return Number.isNaN(new Date(ms).getTime()) ? new Date(0).toISOString() : new Date(ms).toISOString();
}
