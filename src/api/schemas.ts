/** JSON Schemas of requests: what the router checks and the OpenAPI document shows. */
import { NAME } from '../base/formats.js';
import { TRANSFER_STATUSES, TRANSFER_TYPES } from '../storage/storage.js';

const path = { type: 'string', minLength: 1, maxLength: 4096 } as const;
/** base64, as FileInfo has it. */
const rawName = { type: 'string', minLength: 1, maxLength: 340 } as const;
const connectionId = { type: 'string', minLength: 1, maxLength: 64 } as const;
const template = { type: 'string', minLength: 1, maxLength: 1024 } as const;
const filename = { type: 'string', minLength: 1, maxLength: 255 } as const;
const encoding = { type: 'string', enum: ['text', 'base64'], default: 'text' } as const;

function object(properties: Record<string, object>, required: readonly string[] = []): object {
  return { type: 'object', properties, required };
}

export const uploadQuery = object({
  path,
  filename,
  overwrite: { type: 'boolean', default: true },
  filename_template: template,
});

/** Fields of an upload beside its content: JSON types. */
export const uploadFields = object({
  url: { type: 'string', minLength: 1, maxLength: 8192 },
  content: { type: 'string' },
  path,
  filename,
  overwrite: { type: 'boolean' },
  filename_template: template,
});

/** Fields of a form beside its file: text that is converted. */
export const formFields = object({ path, filename, overwrite: { type: 'boolean' }, filename_template: template });

export const downloadQuery = object(
  { path, rawName, format: { type: 'string', enum: ['binary', 'json'], default: 'binary' } },
  ['path'],
);
export const readQuery = object({ path, rawName, encoding }, ['path']);
export const listQuery = object({ path });

/** Fields of write and append beside `content`, which streams. */
export const contentFields = object({ path, encoding, content: { type: 'string' } }, ['path']);

export const deleteBody = object({ path, rawName }, ['path']);
export const moveBody = object({ from: path, rawName, to: path, overwrite: { type: 'boolean', default: false } }, [
  'from',
  'to',
]);

export const copyBody = object(
  {
    source_connection_id: connectionId,
    source_path: path,
    source_raw_name: rawName,
    dest_connection_id: connectionId,
    dest_path: path,
    filename_template: template,
    overwrite: { type: 'boolean', default: true },
  },
  ['source_connection_id', 'source_path', 'dest_connection_id'],
);

export const execBody = object(
  {
    command: { type: 'string', minLength: 1, maxLength: 131072 },
    timeout: { type: 'integer', minimum: 1, maximum: 60000, default: 30000 },
  },
  ['command'],
);

export const transfersQuery = object({
  connection_id: { type: 'string', minLength: 1, maxLength: 128 },
  status: { type: 'string', enum: TRANSFER_STATUSES },
  // Two kinds of the interface that this gateway never has may be asked for all the same.
  type: { type: 'string', enum: [...TRANSFER_TYPES, 'email', 'pickup'] },
  since: { type: 'string', minLength: 1, maxLength: 64 },
  limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  offset: { type: 'integer', minimum: 0, maximum: 1_000_000_000, default: 0 },
});

const glob = { type: ['string', 'null'], minLength: 1, maxLength: 1024, pattern: NAME } as const;

const watchedFields = {
  path,
  webhookUrl: { type: ['string', 'null'], minLength: 1, maxLength: 2048, pattern: NAME },
  filePattern: glob,
  scheduleMinutes: { type: 'integer', minimum: 1, maximum: 1440 },
  name: { type: 'string', minLength: 1, maxLength: 200, pattern: NAME },
  detectModified: { type: 'boolean' },
  excludePattern: glob,
  doneFile: { type: ['string', 'null'], minLength: 1, maxLength: 255, pattern: NAME },
  initial: { type: 'string', enum: ['ignore', 'report'] },
  recursive: { type: 'boolean' },
  minAgeSeconds: { type: 'integer', minimum: 0, maximum: 604_800 },
  afterDelivery: { type: 'string', enum: ['keep', 'move', 'delete'] },
  moveTo: { ...path, type: ['string', 'null'], pattern: NAME },
  expectEveryMinutes: { type: ['integer', 'null'], minimum: 1, maximum: 525_600 },
} as const;

export const watchedFolderBody = object(
  {
    connectionId,
    ...watchedFields,
    scheduleMinutes: { ...watchedFields.scheduleMinutes, default: 5 },
    detectModified: { ...watchedFields.detectModified, default: false },
    initial: { ...watchedFields.initial, default: 'ignore' },
    recursive: { ...watchedFields.recursive, default: false },
    minAgeSeconds: { ...watchedFields.minAgeSeconds, default: 0 },
    afterDelivery: { ...watchedFields.afterDelivery, default: 'keep' },
  },
  ['connectionId', 'path'],
);

/** Every field but the connection; what is absent stays. */
export const watchedFolderChanges = object({ ...watchedFields, isActive: { type: 'boolean' } });
