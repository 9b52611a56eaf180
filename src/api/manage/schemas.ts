/** JSON Schemas of the management requests (those of connections: connection-schemas.ts). */
import { ALL_SCOPES } from '../../base/caller.js';
import { NAME } from '../../base/formats.js';
import { fingerprint } from '../../connections/common.js';
import { schemas as connection } from './connection-schemas.js';

function object(properties: Record<string, object>, required: readonly string[] = []): object {
  return { type: 'object', properties, required, additionalProperties: false };
}

const password = { type: 'string', minLength: 1, maxLength: 200 } as const;
const code = { type: 'string', minLength: 6, maxLength: 40 } as const;
const name = { type: 'string', minLength: 1, maxLength: 200, pattern: NAME } as const;
const slug = { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' } as const;
const time = { type: 'string', minLength: 1, maxLength: 64 } as const;
const cursor = { type: 'string', minLength: 1, maxLength: 64 } as const;

export const loginBody = object({ email: { type: 'string', minLength: 1, maxLength: 320 }, password, code }, [
  'email',
  'password',
]);
export const passwordBody = object({ password }, ['password']);
export const codeBody = object({ code }, ['code']);
export const changePasswordBody = object(
  { currentPassword: password, newPassword: { type: 'string', minLength: 12, maxLength: 200 } },
  ['currentPassword', 'newPassword'],
);

export const duplicateBody = object({ id: slug, name, ...connection.secrets });
export const testBody = object({ probe: { type: 'boolean', default: false } });
export const deleteConnectionQuery = object({ confirm: { type: 'boolean', default: false } });
export const hostKeyBody = object({ fingerprint, replace: { type: 'boolean', default: false } }, ['fingerprint']);
export const keyPairBody = object({ name }, ['name']);

const keyFields = {
  name,
  scopes: { type: 'array', items: { type: 'string', enum: ALL_SCOPES }, minItems: 1, uniqueItems: true },
  connections: { type: 'array', items: { type: 'string', maxLength: 64 }, maxItems: 1000, uniqueItems: true },
  allowedIps: { type: 'array', items: { type: 'string', maxLength: 64 }, maxItems: 100, uniqueItems: true },
  expiresAt: { type: ['string', 'null'], maxLength: 64 },
};
export const createKeyBody = object(keyFields, ['name']);
export const editKeyBody = { ...object(keyFields), minProperties: 1 };
export const rotateKeyBody = object({
  overlapMinutes: { type: 'integer', minimum: 0, maximum: 43_200, default: 60 },
});

const transferFilters = {
  connectionId: { type: 'string', minLength: 1, maxLength: 128 },
  status: { type: 'string', enum: ['success', 'failed', 'pending'] },
  type: { type: 'string', minLength: 1, maxLength: 32, pattern: '^[a-z]+$' },
  direction: { type: 'string', enum: ['inbound', 'outbound'] },
  since: time,
  until: time,
  search: { type: 'string', minLength: 1, maxLength: 255 },
};
export const transfersQuery = object({
  ...transferFilters,
  limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
  cursor,
});
export const exportQuery = object(
  { ...transferFilters, format: { type: 'string', enum: ['csv', 'ndjson'], default: 'csv' } },
  [],
);

export const auditQuery = object({
  limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
  cursor,
  action: { type: 'string', minLength: 1, maxLength: 64, pattern: '^[a-z_.]+$' },
});

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
