/**
 * How a thing of the product is defined, once. From its fields follow what requests may give, what answers show to API keys and
 * to owners, and the row of its table.
 */
import { type Static, type TOptional, type TProperties, type TSchema, Type } from 'typebox';
import type { Input } from './form.js';
import { componentOf, described, text, withDefault } from './schema.js';

/** What people read of a field, in forms and among facts. German: de/fields.ts. */
export interface FieldTexts {
  readonly label: string;
  /** What to know before it is filled in. */
  readonly hint?: string;
  /** What each value of a choice is called. */
  readonly choices?: Readonly<Record<string, string>>;
  /** The fields of an object. */
  readonly parts?: Readonly<Record<string, FieldTexts>>;
}

/** How a form asks for a field, and what people read of it. */
interface Asked<T = unknown> {
  readonly texts?: T;
  /** How it is filled in, where its schema does not say (form.ts). */
  readonly input?: Input;
  /** What may be filled in. */
  readonly example?: string;
  /** A form asks for it, though a request names it otherwise than by its column. */
  readonly isAsked?: boolean;
}

/** Answers to keys are for programs; owners read theirs in the dashboard and with `ftg`. */
export type Reader = 'key' | 'owner';

/** `A` is the schema of answers, `R` what a row holds. */
interface Shown<A extends TSchema = TSchema, R = unknown, T = unknown> extends Asked<T> {
  /** Keys do not see it. */
  readonly isOwners?: boolean;
  /** Its schema in answers. Absent = that of requests, without the bounds of texts and lists. */
  readonly shown?: A;
  /** Its description in answers, where requests have another. */
  readonly words?: string;
  /** Its description in the tables of the documentation, in Markdown, where that says more. Links begin at docs/integrate. */
  readonly docs?: string;
  /** Makes the value in answers of that in a row, where they differ. */
  show?(stored: R): Static<A>;
  /** The name of its column in camel case, where that is another. */
  readonly column?: string;
  /** Its type alone. */
  readonly row?: R;
}

/** A rule for a text that no schema can express; the part that owns the rule checks it. */
export type Check = 'host' | 'endpoint' | 'certificates' | 'privateKey';

/** How gateway.yaml has a field. */
interface InFile {
  /** The allowed texts in words; error messages quote them. */
  readonly allowed?: string;
  readonly format?: string;
  /** Its schema in gateway.yaml, if that is not the schema of requests without bounds of lengths. */
  readonly schema?: TSchema;
  /** The key that names a file which holds it. */
  readonly key?: string;
}

/** How a form and gateway.yaml take a field, and who may change it. */
interface Taken {
  readonly file?: InFile;
  readonly check?: Check;
  /** Few people change it. */
  readonly isAdvanced?: boolean;
  /** A change leads a stored login neither to another server nor beyond its root. */
  readonly isHarmless?: boolean;
}

/** The option of `ftg` that sets a field. */
export interface CommandOption {
  /** As its help shows it: `--every <minutes>`. One without a value says true, or `means`. */
  readonly flags: string;
  readonly help: string;
  readonly means?: string;
  /** Its value is given as `10M` or `12h`; the field has bytes or seconds. */
  readonly unit?: 'bytes' | 'age';
}

/** A field that a request may set. */
interface Given<S extends TSchema = TSchema, A extends TSchema = TSchema, R = unknown, D = unknown, T = unknown>
  extends Shown<A, R, T>, Taken {
  readonly kind: 'given';
  readonly schema: S;
  readonly texts: T;
  /** Its value in a new thing whose request leaves it out; undefined = it is made from others. */
  readonly default: D;
  /** A request for a new thing must have it. */
  readonly isNeeded?: boolean;
  /** Answers to keys leave it out while it has its default. */
  readonly isRare?: boolean;
  /** Answers to keys have it when they have this one. */
  readonly goesWith?: string;
  readonly option?: CommandOption;
  /** Always its default: requests do not set it. */
  readonly isFixed?: boolean;
  /** Makes the value in a row of the one in a request. */
  keep?(said: Static<S>): R;
}

interface Needed {
  readonly isNeeded: true;
}

/** A field that the gateway sets. */
interface Kept<S extends TSchema = TSchema, R = unknown, T = unknown> extends Shown<S, R, T> {
  readonly kind: 'kept';
  readonly schema: S;
}

/** A field of answers that is no column. */
interface Derived<S extends TSchema = TSchema, T = unknown> extends Asked<T> {
  readonly kind: 'derived';
  readonly schema: S;
  readonly isOwners?: boolean;
}

/** A column that no answer shows. `R` is its type alone. */
interface Hidden<R = unknown> {
  readonly kind: 'hidden';
  readonly column?: string;
  readonly row?: R;
}

/** A field that is sealed, in a table of its own, and never shown. */
interface Secret<N extends true | undefined = true | undefined, T = unknown>
  extends Asked<T>, Pick<Taken, 'file' | 'check'> {
  readonly kind: 'secret';
  readonly schema: TSchema;
  readonly texts: T;
  readonly isNeeded?: N;
  /** The server itself receives it: another server must not. */
  readonly isSent?: boolean;
}

type Column = Given | Kept | Hidden;
type Field = Column | Derived | Secret;
export type { Given, Secret };
export type Fields = Readonly<Record<string, Field>>;

export function given<
  S extends TSchema,
  const D extends Static<S> | null | undefined,
  const T extends FieldTexts,
  A extends TSchema = S,
  R = InRow<Static<A>>,
>(schema: S, about: Omit<Given<S, A, R, D, T>, 'kind' | 'schema' | 'isNeeded'>): Given<S, A, R, D, T> {
  return { kind: 'given', schema, ...about };
}

export function needed<S extends TSchema, const T extends FieldTexts, A extends TSchema = S, R = InRow<Static<A>>>(
  schema: S,
  about: Shown<A, R, T> & Pick<Given, 'option' | keyof Taken> & { readonly texts: T },
): Given<S, A, R, undefined, T> & Needed {
  return { kind: 'given', schema, default: undefined, isNeeded: true, ...about };
}

export function kept<S extends TSchema, const T extends FieldTexts | undefined = undefined, R = InRow<Static<S>>>(
  schema: S,
  about: Shown<S, R, T> = {},
): Kept<S, R, T> {
  return { kind: 'kept', schema, ...about };
}

export function derived<S extends TSchema, const T extends FieldTexts | undefined = undefined>(
  schema: S,
  about: Pick<Derived<S, T>, 'isOwners' | keyof Asked> = {},
): Derived<S, T> {
  return { kind: 'derived', schema, ...about };
}

export function secret<const T extends FieldTexts, const N extends true | undefined = undefined>(
  description: string,
  { maxLength = 1024, ...about }: Omit<Secret<N, T>, 'kind' | 'schema'> & { readonly maxLength?: number },
): Secret<N, T> {
  return { kind: 'secret', schema: text(description, { minLength: 1, maxLength }), ...about };
}

export function hidden<R>(about: Pick<Hidden, 'column'> = {}): Hidden<R> {
  return { kind: 'hidden', ...about };
}

type NamesOf<F, Kind> = { [N in keyof F]: F[N] extends Kind ? N : never }[keyof F];
type SchemaOf<F> = F extends { readonly schema: infer S extends TSchema } ? S : never;

/** What requests may set. */
export function settable(fields: Fields): { readonly name: string; readonly field: Given }[] {
  return Object.entries(fields).flatMap(([name, field]) => (field.kind === 'given' ? [{ name, field }] : []));
}

/** The schemas of what requests may set. */
type ChangedFields<F> = { [N in NamesOf<F, Given>]: TOptional<SchemaOf<F[N]>> };
type NewFields<F> = { [N in NamesOf<F, Given>]: NewField<F[N]> };
type NewField<F> = F extends Needed
  ? SchemaOf<F>
  : F extends { readonly default: null | undefined }
    ? TOptional<SchemaOf<F>>
    : SchemaOf<F>;

/** What people read of a thing's fields, in any language. */
export type TextsOf<F> = {
  readonly [N in keyof F as [TextsIn<F[N]>] extends [never] ? never : N]: Worded<TextsIn<F[N]>>;
};
type TextsIn<F> = F extends { readonly texts?: infer T } ? Extract<T, FieldTexts> : never;
type Worded<T> = T extends string ? string : { readonly [N in keyof T]: Worded<T[N]> };

/** JSON makes text of the Date in a row. */
type InRow<T> = Date extends T ? Exclude<T, string> : T;

/** A row of the thing's table, by the names of the fields. */
export type RowOf<F> = { readonly [N in NamesOf<F, Column>]: StoredOf<F[N]> };
type StoredOf<F> = F extends { readonly row?: infer R } ? R : never;

/** What answers show of one, in examples. */
export type Example<F> = { readonly [N in Exclude<keyof F, NamesOf<F, Hidden | Secret>>]?: unknown };

/** The columns that requests set. */
export type SettingsOf<F> = { readonly [N in NamesOf<F, Given>]: StoredOf<F[N]> };

/** What answers show beside columns. */
type DerivedOf<F> = { readonly [N in NamesOf<F, Derived>]?: Static<SchemaOf<F[N]>> };

/** The schemas of a request that leaves out what stays. */
export function changedFields<F extends Fields>(fields: F): ChangedFields<F> {
  return mapped(fields, (field) =>
    field.kind === 'given' ? Type.Optional(field.schema) : undefined,
  ) as ChangedFields<F>;
}

/** The same for a new thing, whose request may leave out all that is not needed. A default other than null is filled in. */
export function newFields<F extends Fields>(fields: F): NewFields<F> {
  return mapped(fields, (field) => {
    if (field.kind !== 'given') return undefined;
    const { schema, default: usual, isNeeded } = field;
    if (isNeeded === true) return schema;
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

/** The table's columns in camel case, by the names of their fields. */
export function columnNamesOf(fields: Fields): Readonly<Record<string, string>> {
  const columns = Object.entries(fields).flatMap(([name, field]) =>
    field.kind === 'derived' || field.kind === 'secret' ? [] : [[name, field.column ?? name] as const],
  );
  return Object.fromEntries(columns);
}

/** The schemas of what an answer shows. */
export function shownFields(fields: Fields, reader: Reader): TProperties {
  return mapped(fields, (field) => (isShown(field, reader) ? schemaOfAnswer(field, reader) : undefined));
}

/** What an answer shows of a row. */
export function viewOf<F extends Fields>(
  fields: F,
  row: RowOf<F> & DerivedOf<F>,
  reader: Reader,
): Readonly<Record<string, unknown>> {
  const values: Readonly<Record<string, unknown>> = row;
  return shownOf(fields, values, reader, (name, field) => shownValue(field, values[name]));
}

/** What an answer shows of an example, whose values are those of answers. It has no others for keys than for owners. */
export function exampleOf(fields: Fields, example: object, reader: Reader): Readonly<Record<string, unknown>> {
  const values: Readonly<Record<string, unknown>> = { ...example };
  const given = Object.fromEntries(Object.entries(fields).filter(([name]) => name in values));
  return shownOf(given, values, reader, (name) => values[name]);
}

function shownOf(
  fields: Fields,
  values: Readonly<Record<string, unknown>>,
  reader: Reader,
  valueOf: (name: string, field: Field) => unknown,
): Readonly<Record<string, unknown>> {
  const isHere = (name: string, field: Field | undefined): field is Field =>
    field !== undefined &&
    isShown(field, reader) &&
    !(reader === 'key' && field.kind === 'given' && isLeftOut(name, field));
  const isLeftOut = (name: string, { isRare, goesWith, default: usual }: Given): boolean =>
    goesWith === undefined ? isRare === true && values[name] === usual : !isHere(goesWith, fields[goesWith]);
  // A loop: lists have a thousand rows, and every row all fields.
  const shown: Record<string, unknown> = {};
  for (const name in fields) {
    const field = fields[name];
    if (isHere(name, field)) shown[name] = valueOf(name, field);
  }
  return shown;
}

function mapped(fields: Fields, of: (field: Field) => unknown): Record<string, never> {
  const found = Object.entries(fields).map(([name, field]) => [name, of(field)] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as Record<string, never>;
}

function shownValue(field: Field, stored: unknown): unknown {
  return 'show' in field && field.show !== undefined ? field.show(stored) : stored;
}

function isShown(field: Field, reader: Reader): field is Exclude<Field, Hidden | Secret> {
  return field.kind !== 'hidden' && field.kind !== 'secret' && (reader === 'owner' || field.isOwners !== true);
}

function schemaOfAnswer(field: Exclude<Field, Hidden | Secret>, reader: Reader): TSchema {
  if (field.kind === 'derived') return field.schema;
  const shown = field.shown ?? withoutBounds(field.schema);
  const schema = field.words === undefined ? shown : described(shown, field.words);
  if (field.kind === 'kept' || field.isRare !== true || reader === 'owner') return schema;
  return Type.Optional(field.goesWith === undefined && field.default === null ? withoutNull(schema) : schema);
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** Bounds of texts and lists are for those who send them. */
function withoutBounds(schema: TSchema): TSchema {
  const { minLength: _min, maxLength: _max, pattern: _pattern, items, ...rest } = schema as JsonSchema;
  if (items === undefined) return Type.Unsafe(rest);
  const { minItems: _least, maxItems: _most, uniqueItems: _unique, ...list } = rest;
  const item = items as TSchema;
  return Type.Unsafe({ ...list, items: componentOf(item) === undefined ? withoutBounds(item) : item });
}

function withoutNull(schema: TSchema): TSchema {
  const { type, oneOf, description, ...rest } = schema as JsonSchema;
  if (Array.isArray(oneOf)) return described(oneOf[0] as TSchema, String(description));
  return Type.Unsafe({ ...rest, description, type: Array.isArray(type) ? (type[0] as unknown) : type });
}
