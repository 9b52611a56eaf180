/** The fields of forms. Bundles for browsers contain only these values (src/build/derived.ts). */
import { type FormField, formFieldsIn as fieldsOf } from '../form.js';
import type { Fields } from '../thing.js';
import { type Thing, THINGS } from '../things.js';

/** The fields of forms: those that requests set, and those with `isAsked`. */
function askedOf(fields: Fields): readonly FormField[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (field.kind !== 'given' && (field.kind === 'hidden' || field.isAsked !== true)) return [];
    const { schema, input, example } = field;
    if (field.kind !== 'given') return fieldsOf(name, schema, { isNeeded: true, input, example });
    const { default: usual, isNeeded = false, option } = field;
    return fieldsOf(name, schema, { isNeeded, default: usual, input: input ?? option?.unit, example });
  });
}

export const formFields = Object.fromEntries(
  Object.entries(THINGS).map(([thing, fields]) => [thing, askedOf(fields)]),
) as Readonly<Record<Thing, readonly FormField[]>>;
