/** How the answers of the management API are written. */
export { transferItem } from './account/transfers.js';
export { watchedFolder } from './watched-folders/watched-folder.js';
export { successAnswer } from './fields.js';

export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;
export const count = { type: 'integer', minimum: 0 } as const;
export const dateTime = { type: 'string', format: 'date-time' } as const;
export const base64 = { type: 'string', contentEncoding: 'base64' } as const;
export const success = { type: 'boolean', const: true } as const;

/** Every field is there, but those named in `optional`. */
export function answer(properties: Record<string, object>, optional: readonly string[] = []): object {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required };
}

export function listOf(items: object): object {
  return { type: 'array', items };
}

export const nullableText = { type: ['string', 'null'] } as const;
