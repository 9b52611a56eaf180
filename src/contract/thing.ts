/**
 * How a thing of the product is defined, once. From its fields follow what requests may give, what answers show to API keys and
 * to owners, and the row of its table.
 */
import { type Static, type TOptional, type TProperties, type TSchema, Type } from 'typebox';
import { described, withDefault } from './schema.js';

/** Answers to keys are for programs; owners read theirs in the dashboard and with `ftg`. */
type Reader = 'key' | 'owner';

interface Shown<A extends TSchema = TSchema> {
  /** Keys do not see it. */
  readonly isOwners?: boolean;
  /** Its schema in answers. Absent = that of requests, without the bounds of texts. */
  readonly shown?: A;
  /** Its description in answers, where requests have another. */
  readonly words?: string;
}

/** The option of `ftg` that sets a field. */
interface CommandOption {
  /** As its help shows it: `--every <minutes>`. One without a value says true, or `means`. */
  readonly flags: string;
  readonly help: string;
  readonly means?: string;
}

/** A field that a request may set. */
interface Given<S extends TSchema = TSchema, A extends TSchema = TSchema> extends Shown<A> {
  readonly kind: 'given';
  readonly schema: S;
  /** Its value in a new thing whose request leaves it out; undefined = it is made from others. */
  readonly default: Static<S> | undefined;
  /** Answers to keys leave it out while it has its default. */
  readonly isRare?: boolean;
  /** Answers to keys have it when they have this one. */
  readonly goesWith?: string;
  readonly option?: CommandOption;
}

/** A field that the gateway sets. */
interface Kept<S extends TSchema = TSchema> extends Shown<S> {
  readonly kind: 'kept';
  readonly schema: S;
}

/** A column that no answer shows. `T` is its type alone. */
interface Hidden<T = unknown> {
  readonly kind: 'hidden';
  readonly type?: T;
}

type Field = Given | Kept | Hidden;
export type Fields = Readonly<Record<string, Field>>;

export function given<S extends TSchema, A extends TSchema = S>(
  schema: S,
  about: Omit<Given<S, A>, 'kind' | 'schema'>,
): Given<S, A> {
  return { kind: 'given', schema, ...about };
}

export function kept<S extends TSchema>(schema: S, about: Shown<S> = {}): Kept<S> {
  return { kind: 'kept', schema, ...about };
}

export function hidden<T>(): Hidden<T> {
  return { kind: 'hidden' };
}

type NamesOf<F, Kind> = { [N in keyof F]: F[N] extends Kind ? N : never }[keyof F];
type SchemaOf<F> = F extends Given<infer S> | Kept<infer S> ? S : never;

/** What requests may set. */
export function settable(fields: Fields): { readonly name: string; readonly field: Given }[] {
  return Object.entries(fields).flatMap(([name, field]) => (field.kind === 'given' ? [{ name, field }] : []));
}

/** The schemas of what requests may set. */
type GivenFields<F> = { [N in NamesOf<F, Given>]: SchemaOf<F[N]> };

type NewFields<F> = { [N in NamesOf<F, Given>]: TOptional<SchemaOf<F[N]>> };

/** JSON makes text of the Date in a row. */
type InRow<T> = Date extends T ? Exclude<T, string> : T;

/** A row of the thing's table, by camel-case names. */
export type RowOf<F> = {
  readonly [N in keyof F]: F[N] extends Hidden<infer T> ? T : InRow<Static<SchemaOf<F[N]>>>;
};

/** The columns that requests set. */
export type SettingsOf<F> = Pick<RowOf<F>, NamesOf<F, Given>>;

export function givenFields<F extends Fields>(fields: F): GivenFields<F> {
  return mapped(fields, (field) => (field.kind === 'given' ? field.schema : undefined)) as GivenFields<F>;
}

/** The same for a new thing, whose request may leave them out. A default other than null is filled in. */
export function newFields<F extends Fields>(fields: F): NewFields<F> {
  return mapped(fields, (field) => {
    if (field.kind !== 'given') return undefined;
    const { schema, default: usual } = field;
    return usual === null || usual === undefined ? Type.Optional(schema) : withDefault(schema, usual);
  }) as NewFields<F>;
}

/** Every column that requests set, as `input` says it or else by its default. Other properties of `input` are left out. */
export function withDefaults<F extends Fields>(
  fields: F,
  input: { readonly [N in keyof SettingsOf<F>]?: SettingsOf<F>[N] | undefined },
): SettingsOf<F> {
  const said: Readonly<Record<string, unknown>> = input;
  return Object.fromEntries(
    settable(fields).map(({ name, field }) => [name, said[name] ?? field.default]),
  ) as SettingsOf<F>;
}

/** Names of the table's columns here, in camel case. */
export function columnsOf(fields: Fields): string[] {
  return Object.keys(fields);
}

/** The schemas of what an answer shows. */
export function shownFields(fields: Fields, reader: Reader): TProperties {
  return mapped(fields, (field) => (isShown(field, reader) ? schemaOfAnswer(field, reader) : undefined));
}

/** What an answer shows of a row. */
export function viewOf<F extends Fields>(fields: F, row: RowOf<F>, reader: Reader): Readonly<Record<string, unknown>> {
  const isHere = (name: string, field: Field | undefined): boolean =>
    field !== undefined &&
    isShown(field, reader) &&
    !(reader === 'key' && field.kind === 'given' && isLeftOut(name, field));
  const isLeftOut = (name: string, { isRare, goesWith, default: usual }: Given): boolean =>
    goesWith === undefined ? isRare === true && row[name] === usual : !isHere(goesWith, fields[goesWith]);
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => (isHere(name, field) ? [[name, row[name]]] : [])),
  );
}

function mapped(fields: Fields, of: (field: Field) => unknown): Record<string, never> {
  const found = Object.entries(fields).map(([name, field]) => [name, of(field)] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as Record<string, never>;
}

function isShown(field: Field, reader: Reader): field is Given | Kept {
  return field.kind !== 'hidden' && (reader === 'owner' || field.isOwners !== true);
}

function schemaOfAnswer(field: Given | Kept, reader: Reader): TSchema {
  const shown = field.shown ?? withoutBounds(field.schema);
  const schema = field.words === undefined ? shown : described(shown, field.words);
  if (field.kind === 'kept' || field.isRare !== true || reader === 'owner') return schema;
  return Type.Optional(field.goesWith === undefined && field.default === null ? withoutNull(schema) : schema);
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** Bounds of texts are for those who send them. */
function withoutBounds(schema: TSchema): TSchema {
  const { minLength: _min, maxLength: _max, pattern: _pattern, ...rest } = schema as JsonSchema;
  return Type.Unsafe(rest);
}

function withoutNull(schema: TSchema): TSchema {
  const { type, oneOf, description, ...rest } = schema as JsonSchema;
  if (Array.isArray(oneOf)) return described(oneOf[0] as TSchema, String(description));
  return Type.Unsafe({ ...rest, description, type: Array.isArray(type) ? type[0] : type });
}
