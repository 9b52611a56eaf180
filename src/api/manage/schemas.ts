/** JSON Schemas of the management requests (those of connections: connection-schemas.ts). */
import { NAME } from '../../base/formats.js';
import { fingerprint } from '../../connections/common.js';
import { schemas as connection } from './connection-schemas.js';

function object(properties: Record<string, object>, required: readonly string[] = []): object {
  return { type: 'object', properties, required, additionalProperties: false };
}

const name = { type: 'string', minLength: 1, maxLength: 200, pattern: NAME } as const;
const slug = { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' } as const;

export const duplicateBody = object({ id: slug, name, ...connection.secrets });
export const testBody = object({ probe: { type: 'boolean', default: false } });
export const deleteConnectionQuery = object({ confirm: { type: 'boolean', default: false } });
export const hostKeyBody = object({ fingerprint, replace: { type: 'boolean', default: false } }, ['fingerprint']);

export const knownFilesQuery = object({
  after: { type: 'string', minLength: 1, maxLength: 4096 },
  limit: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
});
export const forgetBody = object({ path: { type: 'string', minLength: 1, maxLength: 4096 } });
export const deliveriesQuery = object({
  watchedFolderId: { type: 'string', minLength: 1, maxLength: 64 },
  state: { type: 'string', enum: ['pending', 'delivered', 'dead', 'cancelled'] },
  limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
  offset: { type: 'integer', minimum: 0, maximum: 1_000_000_000, default: 0 },
});
