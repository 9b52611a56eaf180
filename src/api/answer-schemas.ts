/** JSON Schemas of what the endpoints answer: the OpenAPI document shows them, and the tests hold real answers to them. */
import { fileInfo } from './files/file-info.js';
import { TRANSFER_STATUSES, TRANSFER_TYPES } from '../storage/storage.js';

export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;
export const count = { type: 'integer', minimum: 0 } as const;
export const dateTime = { type: 'string', format: 'date-time' } as const;
export const base64 = { type: 'string', contentEncoding: 'base64' } as const;
export const success = { type: 'boolean', const: true } as const;
export const connectionType = { type: 'string', enum: ['sftp', 'ftp', 's3'] } as const;
const encoding = { type: 'string', enum: ['text', 'base64'] } as const;

/** Every field is there, but those named in `optional`. */
export function answer(properties: Record<string, object>, optional: readonly string[] = []): object {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required };
}

export function listOf(items: object): object {
  return { type: 'array', items };
}

export const connectionSummary = answer({ id: text, name: text, type: connectionType });

export const connection = answer({ id: text, name: text, type: connectionType, isActive: flag });

export const transfer = answer({
  id: text,
  filename: text,
  path: text,
  size: count,
  durationMs: count,
  connection: connectionSummary,
});

export const appendTransfer = answer({
  id: text,
  filename: text,
  path: text,
  appendedBytes: count,
  durationMs: count,
  connection: connectionSummary,
});

export const transferItem = answer({
  id: text,
  connectionId: text,
  type: { type: 'string', enum: TRANSFER_TYPES },
  direction: { type: 'string', enum: ['outbound', 'inbound'] },
  filename: text,
  path: text,
  fileSize: count,
  status: { type: 'string', enum: TRANSFER_STATUSES },
  errorMessage: { type: ['string', 'null'] },
  durationMs: count,
  createdAt: dateTime,
});

export const error = answer({ error: text });
export const skipped = answer({ error: text, skipped: success }, ['skipped']);

export const nullableText = { type: ['string', 'null'] } as const;

const watchedFields = {
  id: text,
  connectionId: text,
  name: text,
  path: text,
  filePattern: nullableText,
  scheduleMinutes: { type: 'integer', minimum: 1, maximum: 1440 },
  webhookUrl: nullableText,
  source: text,
  detectModified: flag,
  isActive: flag,
  createdAt: dateTime,
  excludePattern: text,
  doneFile: text,
  initial: { type: 'string', enum: ['ignore', 'report'] },
  recursive: flag,
  minAgeSeconds: count,
  afterDelivery: { type: 'string', enum: ['keep', 'move', 'delete'] },
  moveTo: nullableText,
  expectEveryMinutes: count,
};
const watchedOptions = [
  'excludePattern',
  'doneFile',
  'initial',
  'recursive',
  'minAgeSeconds',
  'afterDelivery',
  'moveTo',
  'expectEveryMinutes',
];
export const watchedFolder = answer(watchedFields, watchedOptions);
/** The answer that makes it: the secret is shown this once. */
export const createdWatchedFolder = answer({ ...watchedFields, webhookSecret: text }, watchedOptions);

export const uploadAnswer = answer({ success, transfer });
export const downloadAnswer = answer({
  success,
  filename: text,
  path: text,
  size: count,
  encoding: { type: 'string', const: 'base64' },
  content: base64,
});
const copyEnd = answer({ connectionId: text, path: text });
export const copyAnswer = answer({
  success,
  source: copyEnd,
  destination: copyEnd,
  fileSize: count,
  durationMs: count,
});
export const readAnswer = answer({ success, content: text, encoding, size: count, path: text });
export const writeAnswer = answer({ success, path: text, size: count });
export const deleteAnswer = answer({ success, path: text });
export const moveAnswer = answer({ success, from: text, to: text, durationMs: count, transfer: answer({ id: text }) });
export const listAnswer = answer({ success, path: text, files: listOf(fileInfo) });
export const execAnswer = answer({
  success,
  exitCode: { type: 'integer' },
  stdout: text,
  stderr: text,
  durationMs: count,
});
export const appendAnswer = answer({ success, transfer: appendTransfer });
export const connectionsAnswer = answer({ connections: listOf(connection) });
export const transfersAnswer = answer({ transfers: listOf(transferItem), total: count, limit: count, offset: count });
export const watchedFoldersAnswer = answer({ watchedFolders: listOf(watchedFolder) });
export const successAnswer = answer({ success });
export const statusAnswer = answer({ status: text });

/** What a webhook receives (contract, "Webhook"). */
const eventFile = answer(
  {
    name: text,
    path: text,
    size: count,
    isDirectory: flag,
    modifiedAt: dateTime,
    rawName: base64,
    event: { type: 'string', enum: ['new', 'modified'] },
  },
  ['rawName'],
);
function event(type: string, more: Record<string, object>): object {
  const watchedFolder = answer({ id: text, name: text, path: text, connectionId: text });
  const data = answer({ watchedFolder, connection: connectionSummary, ...more });
  return answer({ type: { type: 'string', const: type }, timestamp: dateTime, data });
}

export const filesDetectedEvent = event('watched_folder.files_detected', { files: listOf(eventFile) });
export const filesMissingEvent = event('watched_folder.files_missing', {
  expectEveryMinutes: count,
  lastDetectionAt: { type: ['string', 'null'], format: 'date-time' },
});
export const testEvent = event('watched_folder.test', { files: { ...listOf(eventFile), maxItems: 0 } });
