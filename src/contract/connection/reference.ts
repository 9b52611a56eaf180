/** A reference to a secret, which takes its place in gateway.yaml. */
import { type TSchema, Type } from 'typebox';
import { SECRET_REFERENCE } from '../patterns.js';
import { text, type TSchemaOf } from '../schema.js';

export interface SecretReference {
  readonly from: string;
}

const FROM = 'a reference such as file:/run/secrets/acme or vault:kv/data/acme#password';

/** The schema of such a text, or of a reference in its place. */
export function orReference(own: TSchema): TSchemaOf<string | SecretReference> {
  const { description, ...rest } = own as TSchema & { readonly description?: string };
  return Type.Unsafe({
    ...rest,
    type: ['string', 'object'],
    description: `${String(description)}, or a mapping with the key from`,
    required: ['from'],
    properties: { from: text(FROM, { pattern: SECRET_REFERENCE }) },
    additionalProperties: false,
  });
}

/** The reference that a value of gateway.yaml is; undefined if it is the secret itself, or absent. */
export function referenceIn(value: unknown): string | undefined {
  const isMapping = typeof value === 'object' && value !== null && 'from' in value;
  return isMapping && typeof value.from === 'string' ? value.from : undefined;
}
