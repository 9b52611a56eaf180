/** Fields that several endpoints of the management API have, and values that their examples share. */
import { Type, type TInteger, type TString } from 'typebox';
import { text, type TSchemaOf, withDefault } from '../../contract/schema.js';
import { NAME } from '../../contract/patterns.js';

export const ID = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001';
export const TIME = '2026-01-31T12:00:00.000Z';
export const LATER = '2026-01-31T14:00:00.000Z';
export const FINGERPRINT = 'SHA256:JcZcCCIxYvmuu6qQUjUpBDiqZKCTZ3dcQkDJpdVqdYs';

/** A field that nobody knows is refused. */
export const CLOSED = { additionalProperties: false } as const;

/** Of a path whose only parameter is `:id`, where an endpoint says nothing of it. */
export const itemParameter = { id: text('Identifier.', { minLength: 1, examples: [ID] }) };

/** Values that differ from case to case. */
export const facts = (description?: string): TSchemaOf<unknown> =>
  Type.Unsafe({ type: 'object', additionalProperties: true, ...(description === undefined ? {} : { description }) });

export const id = (): TString => text('Identifier.');
export const newName = (): TString => text('Shown to people.', { minLength: 1, maxLength: 200, pattern: NAME });

/** The query of a list that is read page by page. */
export const limit = (maximum: number, otherwise: number): TInteger =>
  withDefault(Type.Integer({ minimum: 1, maximum, description: 'Items a page.', examples: [20] }), otherwise);
export const cursor = Type.Optional(
  text('`nextCursor` of the page before.', { minLength: 1, maxLength: 64, examples: [ID] }),
);
