/**
 * JSON Schemas with their words. One object is what ajv checks, what OpenAPI shows and what TypeScript infers its type from.
 * Every field takes its description where it is used: a name means different things in different places.
 */
import {
  type Static,
  type TBoolean,
  type TInteger,
  type TLiteral,
  type TObject,
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  type TString,
  Type,
} from 'typebox';

export const text = (description: string, options?: TSchemaOptions): TString =>
  Type.String({ ...options, description });
export const flag = (description: string, options?: TSchemaOptions): TBoolean =>
  Type.Boolean({ ...options, description });
export const count = (description: string, options?: TSchemaOptions): TInteger =>
  Type.Integer({ minimum: 0, ...options, description });
/** Of an answer: JSON makes text of a Date. */
export const dateTime = (description: string): TSchemaOf<string | Date> =>
  Type.Unsafe({ type: 'string', format: 'date-time', description });
export const base64 = (description: string): TString => text(description, { contentEncoding: 'base64' });
export const success = (): TLiteral<true> =>
  Type.Literal(true, { description: 'Always true; a failure is an error answer.' });

/** Text that is one of a few words. */
export function oneOf<const Words extends readonly string[]>(
  words: Words,
  description: string,
  options?: TSchemaOptions,
): TSchemaOf<Words[number]> {
  return Type.Unsafe({ type: 'string', enum: words, ...options, description });
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
  description: string,
  options?: TSchemaOptions,
): TSchemaOf<readonly Static<T>[]> {
  return Type.Unsafe({ type: 'array', items, ...options, description });
}

/** A query parameter that may be repeated; `more` says what for. */
export function oneOrMore(one: TString, maxItems: number, more: string): TSchemaOf<string | readonly string[]> {
  const { description = '', examples, ...schema } = one as TString & { description?: string; examples?: unknown };
  const list = { type: 'array', items: schema, maxItems };
  return Type.Unsafe({ description: `${description} ${more}`, examples, anyOf: [schema, list] });
}

/** `item` is what each text must be. */
export const texts = (description: string, options?: TSchemaOptions, item?: TSchemaOptions) =>
  listOf(Type.String(item), description, options);

/** A field that has fields of its own. */
export const group = <T extends TProperties>(fields: T, description: string): TObject<T> =>
  Type.Object(fields, { description });

/** An object that the documents show by its name. */
export const object = <T extends TProperties>(name: string, fields: T, options?: TObjectOptions): TObject<T> =>
  component(name, Type.Object(fields, options));

export function orNull<T extends TSchema>(schema: T, description: string): TSchemaOf<Static<T> | null> {
  return Type.Unsafe({ oneOf: [schema, { type: 'null' }], description });
}

export type TSchemaOf<Value> = ReturnType<typeof Type.Unsafe<Value>>;

/** A field that may be left out: the check fills it in, so that its type always has it. */
export function withDefault<T extends TSchema>(schema: T, value: Static<T>): T {
  // Optional in the schema, but not to whoever reads what was checked.
  return Type.Optional(changed(schema, { default: value }));
}

/** The same schema with other words. A component stays one: they stand beside the reference. */
export function described<T extends TSchema>(schema: T, description: string): T {
  return changed(schema, { description });
}

/** A copy; the marks of a schema are properties that no spread copies. */
function changed<T extends TSchema>(schema: T, changes: TSchemaOptions): T {
  return Object.assign(Object.create(Object.prototype, Object.getOwnPropertyDescriptors(schema)) as T, changes);
}

const COMPONENT = Symbol('component');

export interface Component {
  readonly name: string;
  /** As it was registered: a field that uses it may have words of its own. */
  readonly schema: object;
}

/** Gives a schema the name under which every document shows it, and refers to it. */
export function component<T extends TSchema>(name: string, schema: T): T {
  return Object.defineProperty(schema, COMPONENT, { value: { name, schema } satisfies Component });
}

export function componentOf(schema: object): Component | undefined {
  return (schema as { readonly [COMPONENT]?: Component })[COMPONENT];
}
