/**
 * JSON Schemas with descriptions. One object is checked by ajv, shown in OpenAPI, and the source of the TypeScript
 * type. Every field gets its description where it is used, because a name has different meanings in different places.
 * Without one, the description lists the allowed values, which reports of mistakes in gateway.yaml quote.
 */
import {
  type Static,
  type TBoolean,
  type TInteger,
  type TLiteral,
  type TObject,
  type TObjectOptions,
  type TOptional,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  type TString,
  Type,
} from 'typebox';

export const text = (description: string, options?: TSchemaOptions): TString =>
  Type.String({ ...options, description });
export const flag = (description = 'true or false', options?: TSchemaOptions): TBoolean =>
  Type.Boolean({ ...options, description });
export const count = (description: string, options?: TSchemaOptions): TInteger =>
  Type.Integer({ minimum: 0, ...options, description });
/** For answers: JSON writes a Date as text. */
export const dateTime = (description: string): TSchemaOf<string | Date> =>
  Type.Unsafe({ type: 'string', format: 'date-time', description });
export const base64 = (description: string): TString => text(description, { contentEncoding: 'base64' });
export const success = (): TLiteral<true> =>
  Type.Literal(true, { description: 'Always true; a failure is an error answer.' });

/** Text from a fixed list of words. */
export function oneOf<const Words extends readonly string[]>(
  words: Words,
  description = `one of ${words.join(', ')}`,
  options?: TSchemaOptions,
): TSchemaOf<Words[number]> {
  return Type.Unsafe({ type: 'string', enum: words, ...options, description });
}

/** One of these words, or an object with these fields, each of which may be absent. */
export function wordOrObject<const Words extends readonly string[], T>(
  words: Words,
  properties: Readonly<Record<keyof T & string, TSchema>>,
  description: string,
): TSchemaOf<Words[number] | T> {
  const forms = [
    { type: 'string', enum: words },
    { type: 'object', properties, additionalProperties: false },
  ];
  return Type.Unsafe({ oneOf: forms, description });
}

/** The same in gateway.yaml, whose mistakes are reported for the form that is there. */
export function wordOrMapping(
  words: readonly string[],
  properties: Readonly<Record<string, TSchema>>,
): TSchemaOf<unknown> {
  const description = `${words.join(', ')}, or a mapping with the keys ${Object.keys(properties).join(', ')}`;
  const pattern = `^(${words.join('|')})$`;
  return Type.Unsafe({ type: ['string', 'object'], pattern, properties, additionalProperties: false, description });
}

export function textOrNull(description: string, options?: TSchemaOptions): TSchemaOf<string | null> {
  return Type.Unsafe({ type: ['string', 'null'], ...options, description });
}

export function countOrNull(description: string, options?: TSchemaOptions): TSchemaOf<number | null> {
  return Type.Unsafe({ type: ['integer', 'null'], minimum: 0, ...options, description });
}

export function dateTimeOrNull(description: string): TSchemaOf<string | Date | null> {
  return Type.Unsafe({ type: ['string', 'null'], format: 'date-time', description });
}

export function listOf<T extends TSchema>(
  items: T,
  description = `a list, each item ${descriptionOf(items)}`,
  options?: TSchemaOptions,
): TSchemaOf<readonly Static<T>[]> {
  return Type.Unsafe({ type: 'array', items, ...options, description });
}

/** A query parameter that may be repeated; `more` describes the repetition. */
export function oneOrMore(one: TString, maxItems: number, more: string): TSchemaOf<string | readonly string[]> {
  const { description = '', examples, ...schema } = one as TString & { description?: string; examples?: unknown };
  const list = { type: 'array', items: schema, maxItems };
  return Type.Unsafe({ description: `${description} ${more}`, examples, anyOf: [schema, list] });
}

/** `item` is the schema of each text. */
export const texts = (description: string, options?: TSchemaOptions, item?: TSchemaOptions) =>
  listOf(Type.String(item), description, options);

/** A field with nested fields. */
export const group = <T extends TProperties>(fields: T, description: string): TObject<T> =>
  Type.Object(fields, { description });

/** An object that the documents show by name. */
export const object = <T extends TProperties>(name: string, fields: T, options?: TObjectOptions): TObject<T> =>
  component(name, Type.Object(fields, options));

export function orNull<T extends TSchema>(schema: T, description: string): TSchemaOf<Static<T> | null> {
  return Type.Unsafe({ oneOf: [schema, { type: 'null' }], description });
}

export type TSchemaOf<Value> = ReturnType<typeof Type.Unsafe<Value>>;

/** A field that may be absent: the check fills in its default, so its type is never undefined. */
export function withDefault<T extends TSchema>(schema: T, value: Static<T>): T {
  // Optional in the schema, but required in the type after the check.
  return Type.Optional(changed(schema, { default: value }));
}

/** A field that may be absent. Unlike with Type.Optional, TypeScript keeps its exact type. */
export function optional<S extends TSchema>(schema: S): TOptional<S> {
  return Type.Optional(schema) as TOptional<S>;
}

/** The values that a schema allows, read-only at every depth. */
export type Admitted<S extends TSchema> = Frozen<Static<S>>;
type Frozen<T> = T extends object ? { readonly [N in keyof T]: Frozen<T[N]> } : T;

/** An object with these keys and no others. */
export function mapping<K extends TProperties>(keys: K): TObject<K> {
  const description = `the keys ${Object.keys(keys).join(', ')}`;
  return Type.Object(keys, { description, additionalProperties: false });
}

/** A mapping that may be absent, because each of its keys has a default. */
export function section<K extends TProperties>(keys: K): TObject<K> {
  return Type.Optional(Object.assign(mapping(keys), { default: {} }));
}

/** A mapping with names chosen by the operator, in the form that `names` describes. `known` ones always exist. */
export function record<S extends TSchema>(
  names: TSchema,
  values: S,
  known: Readonly<Record<string, S>> = {},
): TSchemaOf<Record<string, Static<S>>> {
  return Type.Unsafe({
    type: 'object',
    description: `names (${descriptionOf(names)}), each with ${descriptionOf(values)}`,
    propertyNames: names,
    properties: known,
    additionalProperties: values,
  });
}

/** One of several mappings, selected by the constant under their key `tag`. */
export function oneOfMappings<T>(tag: string, variants: readonly TSchema[]): TSchemaOf<T> {
  return Type.Unsafe({
    type: 'object',
    description: `a mapping with the key ${tag} and what belongs to it`,
    discriminator: { propertyName: tag },
    required: [tag],
    oneOf: variants,
  });
}

export function integer(
  minimum: number,
  maximum = Number.MAX_SAFE_INTEGER,
  description = maximum === Number.MAX_SAFE_INTEGER
    ? `a whole number of at least ${minimum}`
    : `a whole number from ${minimum} to ${maximum}`,
): TInteger {
  return Type.Integer({ description, minimum, maximum });
}

/** The maximum delay of Node.js timers; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** A delay or time limit. */
export const milliseconds = (minimum: number): TInteger =>
  integer(minimum, MAX_TIMER_MS, `a whole number of milliseconds from ${minimum} to ${MAX_TIMER_MS}`);

/** A whole number, or a word that lets the program choose. */
export function integerOr<W extends string>(word: W, minimum: number, maximum: number): TSchemaOf<number | W> {
  return Type.Unsafe({
    type: ['integer', 'string'],
    description: `a whole number from ${minimum} to ${maximum}, or ${word}`,
    minimum,
    maximum,
    pattern: `^${word}$`,
  });
}

export function flagOr<W extends string>(word: W): TSchemaOf<boolean | W> {
  return Type.Unsafe({ type: ['boolean', 'string'], description: `true, false or ${word}`, pattern: `^${word}$` });
}

/** The only allowed value of a key. */
export function fixed<const V extends string | boolean>(value: V): TLiteral<V> {
  return Type.Literal(value, { description: `${value} and nothing else` });
}

/** One such text or a list of them. */
export function textOrTexts(description: string, pattern: string): TSchemaOf<string | readonly string[]> {
  return Type.Unsafe({
    type: ['string', 'array'],
    description: `${description}, or a list of such`,
    pattern,
    items: text(description, { pattern }),
    minItems: 1,
  });
}

export function descriptionOf(schema: object): string {
  const { description = '' }: { readonly description?: string } = schema;
  return description;
}

/** The same schema with another description. A component stays one: the description is beside the reference. */
export function described<T extends TSchema>(schema: T, description: string): T {
  return changed(schema, { description });
}

/** A copy; the marks of a schema are properties that a spread does not copy. */
function changed<T extends TSchema>(schema: T, changes: TSchemaOptions): T {
  return Object.assign(Object.create(Object.prototype, Object.getOwnPropertyDescriptors(schema)) as T, changes);
}

const COMPONENT = Symbol('component');

export interface Component {
  readonly name: string;
  /** The registered schema: a field that uses it may have its own description. */
  readonly schema: object;
}

/** Gives a schema the name with which every document shows and refers to it. */
export function component<T extends TSchema>(name: string, schema: T): T {
  return Object.defineProperty(schema, COMPONENT, { value: { name, schema } satisfies Component });
}

export function componentOf(schema: object): Component | undefined {
  return (schema as { readonly [COMPONENT]?: Component })[COMPONENT];
}
