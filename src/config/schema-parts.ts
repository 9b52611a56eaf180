/**
 * The words in which the schema of gateway.yaml is written: small builders of JSON Schema (draft-07) whose TypeScript
 * type is the type of the values that the schema admits. `description` says what is allowed; mistakes quote it.
 */

declare const admitted: unique symbol;

export type JsonSchema = Readonly<Record<string, unknown>>;
/** A JSON Schema that admits values of type T. */
export type Schema<T> = JsonSchema & { readonly [admitted]: T };
/** The type of the values that a schema admits. */
export type AdmittedBy<S> = S extends Schema<infer T> ? T : never;
/** A key of a section: always there after loading (it is required or has a default), or perhaps absent. */
export interface Key<T, P extends 'present' | 'absent' = 'present' | 'absent'> {
  readonly schema: Schema<T>;
  readonly presence: P;
  readonly isRequired: boolean;
}

type Keys = Readonly<Record<string, Key<unknown>>>;
type PresentKeys<K extends Keys> = { [N in keyof K]: K[N]['presence'] extends 'present' ? N : never }[keyof K];
type ValueOf<K> = K extends Key<infer T> ? T : never;
export type SectionOf<K extends Keys> = { readonly [N in PresentKeys<K>]: ValueOf<K[N]> } & {
  readonly [N in Exclude<keyof K, PresentKeys<K>>]?: ValueOf<K[N]>;
};

/** Node's timers take no longer delay; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

function admits<T>(schema: JsonSchema): Schema<T> {
  return schema as Schema<T>;
}

/** A key that may be left out: `value` stands then. */
export function preset<T>(value: T, schema: Schema<T>): Key<T, 'present'> {
  return { schema: admits({ ...schema, default: value }), presence: 'present', isRequired: false };
}

/** A key that must be given. */
export function required<T>(schema: Schema<T>): Key<T, 'present'> {
  return { schema, presence: 'present', isRequired: true };
}

/** A key that may be left out and then means what its comment in the example says. */
export function optional<T>(schema: Schema<T>): Key<T, 'absent'> {
  return { schema, presence: 'absent', isRequired: false };
}

/** A mapping with these keys and no others. */
export function mapping<K extends Keys>(keys: K): Schema<SectionOf<K>> {
  const names = Object.keys(keys);
  return admits({
    type: 'object',
    description: `the keys ${names.join(', ')}`,
    properties: Object.fromEntries(names.map((name) => [name, keys[name]?.schema])),
    required: names.filter((name) => keys[name]?.isRequired),
    additionalProperties: false,
  });
}

/** A mapping that may be left out as a whole, since each of its keys has a default. */
export function section<K extends Keys>(keys: K): Key<SectionOf<K>, 'present'> {
  const schema = admits<SectionOf<K>>({ ...mapping(keys), default: {} });
  return { schema, presence: 'present', isRequired: false };
}

/** A mapping with names of the operator's choice, all of the form that `names` describes. `known` ones are always there. */
export function record<T>(
  names: Schema<string>,
  values: Schema<T>,
  known: Readonly<Record<string, Schema<T>>> = {},
): Schema<Readonly<Record<string, T>>> {
  return admits({
    type: 'object',
    description: `names (${String(names['description'])}), each with ${String(values['description'])}`,
    propertyNames: names,
    properties: known,
    additionalProperties: values,
  });
}

/** One of several mappings, told apart by the constant under their key `tag`. */
export function oneOfMappings<V extends readonly Schema<unknown>[]>(
  tag: string,
  variants: V,
): Schema<AdmittedBy<V[number]>> {
  return admits({
    type: 'object',
    description: `a mapping with the key ${tag} and what belongs to it`,
    discriminator: { propertyName: tag },
    required: [tag],
    oneOf: variants,
  });
}

export function list<T>(items: Schema<T>, rules: { minItems?: number; unique?: boolean } = {}): Schema<readonly T[]> {
  return admits({
    type: 'array',
    description: `a list, each item ${String(items['description'])}`,
    items,
    ...(rules.minItems === undefined ? {} : { minItems: rules.minItems }),
    ...(rules.unique === true ? { uniqueItems: true } : {}),
  });
}

export function integer(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): Schema<number> {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return admits({ type: 'integer', description: `a whole number ${range}`, minimum, maximum });
}

/** A delay or time limit in milliseconds. */
export function milliseconds(minimum: number): Schema<number> {
  return admits({
    ...integer(minimum, MAX_TIMER_MS),
    description: `a whole number of milliseconds from ${minimum} to ${MAX_TIMER_MS}`,
  });
}

/** A whole number or one word that stands for the program's own choice. */
export function integerOr<W extends string>(word: W, minimum: number, maximum: number): Schema<number | W> {
  return admits({
    type: ['integer', 'string'],
    description: `a whole number from ${minimum} to ${maximum}, or ${word}`,
    minimum,
    maximum,
    pattern: `^${word}$`,
  });
}

export function flag(): Schema<boolean> {
  return admits({ type: 'boolean', description: 'true or false' });
}

export function flagOr<W extends string>(word: W): Schema<boolean | W> {
  return admits({ type: ['boolean', 'string'], description: `true, false or ${word}`, pattern: `^${word}$` });
}

export function oneOf<const V extends string>(...values: readonly V[]): Schema<V> {
  return admits({ type: 'string', description: `one of ${values.join(', ')}`, enum: values });
}

/** The only value that a key can have here. */
export function fixed<const V extends string | boolean>(value: V): Schema<V> {
  return admits({ type: typeof value, description: `${value} and nothing else`, const: value });
}

/** Text of the form that `pattern` or one of formats.ts checks. */
export function text(description: string, rules: { pattern?: string; format?: string } = {}): Schema<string> {
  return admits({ type: 'string', description, ...rules });
}

/** One such text or a list of them. */
export function textOrTexts(description: string, pattern: string): Schema<string | readonly string[]> {
  const item = text(description, { pattern });
  return admits({
    type: ['string', 'array'],
    description: `${description}, or a list of such`,
    pattern,
    items: item,
    minItems: 1,
  });
}

export function textOrNull(description: string, format: string): Schema<string | null> {
  return admits({ type: ['string', 'null'], description: `${description}, or null`, format });
}
