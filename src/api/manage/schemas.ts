/** JSON Schemas of the management requests (those of connections: connection-schemas.ts). */

function object(properties: Record<string, object>, required: readonly string[] = []): object {
  return { type: 'object', properties, required, additionalProperties: false };
}

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
