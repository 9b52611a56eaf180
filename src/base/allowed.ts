/**
 * Helpers for the schemas of gateway.yaml and of connections: TypeBox with a `description` of what is allowed, which
 * error messages quote.
 */
import { type Static, type TObject, type TOptional, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';
import { text } from '../contract/schema.js';

/** A value that a schema admits, as a part of the program receives it: it cannot be changed. */
export type Admitted<S extends TSchema> = Frozen<Static<S>>;
/** Read-only at every depth. */
type Frozen<T> = T extends object ? { readonly [N in keyof T]: Frozen<T[N]> } : T;

/** Node's timers take no longer delay; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** An optional key with a default: `value`. */
export function preset<S extends TSchema>(value: Static<S>, schema: S): S {
  return { ...schema, default: value };
}

/** An optional key; its comment in the example explains its absence. */
export function optional<S extends TSchema>(schema: S): TOptional<S> {
  return Type.Optional(schema) as TOptional<S>;
}

/** A mapping with these keys and no others. */
export function mapping<K extends TProperties>(keys: K): TObject<K> {
  const description = `the keys ${Object.keys(keys).join(', ')}`;
  return Type.Object(keys, { description, additionalProperties: false });
}

/** A mapping that may be omitted as a whole, because each of its keys has a default. */
export function section<K extends TProperties>(keys: K): TObject<K> {
  return Object.assign(mapping(keys), { default: {} });
}

/**
 * A mapping with names of the operator's choice, in the form that `names` describes. `known` names are always there.
 */
export function record<S extends TSchema>(
  names: TSchema,
  values: S,
  known: Readonly<Record<string, S>> = {},
): TUnsafe<Record<string, Static<S>>> {
  return Type.Unsafe({
    type: 'object',
    description: `names (${allowedBy(names)}), each with ${allowedBy(values)}`,
    propertyNames: names,
    properties: known,
    additionalProperties: values,
  });
}

/** One of several mappings, distinguished by the constant under their key `tag`. */
export function oneOfMappings<T>(tag: string, variants: readonly TSchema[]): TUnsafe<T> {
  return Type.Unsafe({
    type: 'object',
    description: `a mapping with the key ${tag} and what belongs to it`,
    discriminator: { propertyName: tag },
    required: [tag],
    oneOf: variants,
  });
}

export function list<S extends TSchema>(items: S, rules: { minItems?: number; uniqueItems?: boolean } = {}) {
  return Type.Array(items, { description: `a list, each item ${allowedBy(items)}`, ...rules });
}

export function integer(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER) {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return Type.Integer({ description: `a whole number ${range}`, minimum, maximum });
}

/** A delay or time limit in milliseconds. */
export function milliseconds(minimum: number) {
  const description = `a whole number of milliseconds from ${minimum} to ${MAX_TIMER_MS}`;
  return Type.Integer({ description, minimum, maximum: MAX_TIMER_MS });
}

/** A whole number, or one word for the program's own choice. */
export function integerOr<W extends string>(word: W, minimum: number, maximum: number): TUnsafe<number | W> {
  return Type.Unsafe({
    type: ['integer', 'string'],
    description: `a whole number from ${minimum} to ${maximum}, or ${word}`,
    minimum,
    maximum,
    pattern: `^${word}$`,
  });
}

export function flag() {
  return Type.Boolean({ description: 'true or false' });
}

export function flagOr<W extends string>(word: W): TUnsafe<boolean | W> {
  return Type.Unsafe({ type: ['boolean', 'string'], description: `true, false or ${word}`, pattern: `^${word}$` });
}

export function oneOf<const V extends string>(...values: readonly V[]): TUnsafe<V> {
  return Type.Unsafe({ type: 'string', description: `one of ${values.join(', ')}`, enum: values });
}

/** The only value that a key can have here. */
export function fixed<const V extends string | boolean>(value: V) {
  return Type.Literal(value, { description: `${value} and nothing else` });
}

/** One such text or a list of them. */
export function textOrTexts(description: string, pattern: string): TUnsafe<string | string[]> {
  return Type.Unsafe({
    type: ['string', 'array'],
    description: `${description}, or a list of such`,
    pattern,
    items: text(description, { pattern }),
    minItems: 1,
  });
}

function allowedBy(schema: TSchema): string {
  return String((schema as { readonly description?: string }).description);
}
