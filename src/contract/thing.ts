/**
 * The definition of a thing of the product. The fields of requests, the fields of answers for API keys and for owners,
 * and the row of its table are derived from its fields.
 */
import { type Static, type TOptional, type TProperties, type TSchema, Type } from 'typebox';
import type { InputKind } from './form.js';
import { componentOf, described, text, withDefault } from './schema.js';

/** The texts of a field for users, in forms and among facts. German: de/fields.ts. */
export interface FieldTexts {
  readonly label: string;
  /** What to know before filling it in. */
  readonly hint?: string;
  /** The label of each value of a choice. */
  readonly choices?: Readonly<Record<string, string>>;
  /** The fields of an object. */
  readonly parts?: Readonly<Record<string, FieldTexts>>;
}

/** The field in a form, and its texts. */
interface Asked<T = unknown> {
  readonly texts?: T;
  /** The kind of input, if it does not follow from the schema (form.ts). */
  readonly input?: InputKind;
  /** An example value. */
  readonly example?: string;
  /** A form asks for it, although requests have another name for it than its column. */
  readonly isAsked?: boolean;
}

/** Answers to keys are for programs; owners read theirs in the dashboard and with `ftg`. */
export type Reader = 'key' | 'owner';

/** `A` is the schema of answers, `R` the type in a row. */
interface Shown<A extends TSchema = TSchema, R = unknown, T = unknown> extends Asked<T> {
  /** Keys do not see it. */
  readonly isOwners?: boolean;
  /** Its schema in answers. Absent = that of requests, without limits of texts and lists. */
  readonly shown?: A;
  /** Its description in answers, if it differs from that of requests. */
  readonly words?: string;
  /**
   * Its description in the tables of the documentation, in Markdown, if it has more detail. Links begin at
   * docs/integrate.
   */
  readonly docs?: string;
  /** Converts the value of a row to that of answers, if they differ. */
  show?(stored: R): Static<A>;
  /** The name of its column in camel case, if it differs. */
  readonly column?: string;
  /** Only for its type. */
  readonly row?: R;
}

/** A rule for a text that no schema can express; the part that owns the rule checks it. */
export type Check =
  | 'host'
  | 'endpoint'
  | 'certificates'
  | 'privateKey'
  | 'sshCertificate'
  | 'sshPublicKey'
  | 'timeZone'
  | 'encoding'
  | 'hours'
  | 'fileMode'
  | 'folderMode';

/** The field in gateway.yaml. */
export interface InFile<K extends string = string> {
  /** The allowed texts in words; error messages quote them. */
  readonly allowed?: string;
  readonly format?: string;
  /** Its schema in gateway.yaml, unless it is that of requests without limits of length. */
  readonly schema?: TSchema;
  /** The key with the name of a file that contains the value. */
  readonly key?: K;
  /** gateway.yaml has no key for the value itself. */
  readonly isOnlyFile?: true;
  /** The default of gateway.yaml, if it differs from that of requests. */
  readonly default?: unknown;
  /** Its description in the example file, if it differs from that of requests. */
  readonly words?: string;
  /** Its value in the example file; absent = its default. */
  readonly example?: unknown;
  /** The content of that file must pass the field's check: answers show it, and a wrong file may hold a secret. */
  readonly isChecked?: true;
}

/** The field in forms and gateway.yaml, and who may change it. */
interface Taken<K extends string = string> {
  readonly file?: InFile<K>;
  readonly check?: Check;
  /** Only gateway.yaml sets it: a request may contain only its default. */
  readonly isFileOnly?: boolean;
  /** Rarely changed. */
  readonly isAdvanced?: boolean;
  /** A change cannot direct a stored login to another server or beyond its root. */
  readonly isHarmless?: boolean;
}

/** The option of `ftg` that sets a field. */
export interface CommandOption {
  /** As in its help: `--every <minutes>`. An option without a value means true, or `means`. */
  readonly flags: string;
  readonly help: string;
  readonly means?: string;
  /** The value has the form `10M` or `12h`; the field has bytes or seconds. */
  readonly unit?: 'bytes' | 'age';
  /** The useful values, if the gateway accepts others too. */
  readonly choices?: readonly string[];
}

/** A field that a request may set. */
interface Given<
  S extends TSchema = TSchema,
  A extends TSchema = TSchema,
  R = unknown,
  D = unknown,
  T = unknown,
  K extends string = string,
>
  extends Shown<A, R, T>, Taken<K> {
  readonly kind: 'given';
  readonly schema: S;
  readonly texts: T;
  /** The value of a new thing if the request omits it; undefined = computed from others. */
  readonly default: D;
  /** A request for a new thing must have it. */
  readonly isNeeded?: boolean;
  /** Answers to keys omit it while it has its default. */
  readonly isRare?: boolean;
  /** Answers to keys contain it if they contain this other field. */
  readonly goesWith?: string;
  readonly option?: CommandOption;
  /** The parts of its object that belong to one value of the first part: forms ask for them only then. */
  readonly partsFor?: Readonly<Record<string, string>>;
  /** Always has its default: requests cannot set it. */
  readonly isFixed?: boolean;
  /** Converts the value of a request to that of a row. */
  keep?(said: Static<S>): R;
}

export interface Needed {
  readonly isNeeded: true;
}

/** A field that the gateway sets. */
interface Kept<S extends TSchema = TSchema, R = unknown, T = unknown> extends Shown<S, R, T> {
  readonly kind: 'kept';
  readonly schema: S;
}

/** A field of answers that is not a column. */
interface Derived<S extends TSchema = TSchema, T = unknown> extends Asked<T> {
  readonly kind: 'derived';
  readonly schema: S;
  readonly isOwners?: boolean;
}

/** A column that no answer shows. `R` is only its type. */
interface Hidden<R = unknown> {
  readonly kind: 'hidden';
  readonly column?: string;
  readonly row?: R;
}

/** A field that is sealed in a separate table, and never shown. */
interface Secret<N extends true | undefined = true | undefined, T = unknown>
  extends Asked<T>, Pick<Taken, 'file' | 'check'> {
  readonly kind: 'secret';
  readonly schema: TSchema;
  readonly texts: T;
  readonly isNeeded?: N;
  /** The server itself receives it: no other server may. */
  readonly isSent?: boolean;
  /** Requests and gateway.yaml have it as a part of a setting. */
  readonly partOf?: PartOf;
}

interface PartOf {
  readonly setting: string;
  readonly part: string;
  /** The settings that say which server receives it; absent = the address in that setting. */
  readonly address?: readonly string[];
  /** Whether this value of the setting has such a part; absent = every value but null. */
  isIn?(setting: unknown): boolean;
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
  const K extends string = never,
>(schema: S, about: Omit<Given<S, A, R, D, T, K>, 'kind' | 'schema' | 'isNeeded'>): Given<S, A, R, D, T, K> {
  return { kind: 'given', schema, ...about };
}

export function needed<S extends TSchema, const T extends FieldTexts, A extends TSchema = S, R = InRow<Static<A>>>(
  schema: S,
  about: Shown<A, R, T> & Pick<Given, 'option'> & Taken<never> & { readonly texts: T },
): Given<S, A, R, undefined, T, never> & Needed {
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
export type SchemaOf<F> = F extends { readonly schema: infer S extends TSchema } ? S : never;

export type GivenNames<F> = NamesOf<F, Given>;

/** The fields that requests may set. */
export function settable(fields: Fields): { readonly name: string; readonly field: Given }[] {
  return Object.entries(fields).flatMap(([name, field]) => (field.kind === 'given' ? [{ name, field }] : []));
}

/** The schemas of the fields that requests may set. */
type ChangedFields<F> = { [N in NamesOf<F, Given>]: TOptional<SchemaOf<F[N]>> };
type NewFields<F> = { [N in NamesOf<F, Given>]: NewField<F[N]> };
type NewField<F> = F extends Needed
  ? SchemaOf<F>
  : F extends { readonly default: null | undefined }
    ? TOptional<SchemaOf<F>>
    : SchemaOf<F>;

/** The texts of a thing's fields, in any language. */
export type TextsOf<F> = {
  readonly [N in keyof F as [TextsIn<F[N]>] extends [never] ? never : N]: Worded<TextsIn<F[N]>>;
};
type TextsIn<F> = F extends { readonly texts?: infer T } ? Extract<T, FieldTexts> : never;
type Worded<T> = T extends string ? string : { readonly [N in keyof T]: Worded<T[N]> };

/** JSON writes the Date of a row as text. */
type InRow<T> = Date extends T ? Exclude<T, string> : T;

/** A row of the thing's table, by field name. */
export type RowOf<F> = { readonly [N in NamesOf<F, Column>]: StoredOf<F[N]> };
type StoredOf<F> = F extends { readonly row?: infer R } ? R : never;

/** An answer in examples. */
export type ExampleOf<F> = { readonly [N in Exclude<keyof F, NamesOf<F, Hidden | Secret>>]?: unknown };

/** The columns that requests set. */
export type SettingsOf<F> = { readonly [N in NamesOf<F, Given>]: StoredOf<F[N]> };

/** Values of answers that are not columns. */
type DerivedOf<F> = { readonly [N in NamesOf<F, Derived>]?: Static<SchemaOf<F[N]>> };

/** The schemas of a request that omits unchanged fields. */
export function changedFields<F extends Fields>(fields: F): ChangedFields<F> {
  return mapped(fields, (field) =>
    field.kind === 'given' ? Type.Optional(field.schema) : undefined,
  ) as ChangedFields<F>;
}

/** The same for a new thing; only needed fields are required. A default other than null is filled in. */
export function newFields<F extends Fields>(fields: F): NewFields<F> {
  return mapped(fields, (field) => {
    if (field.kind !== 'given') return undefined;
    const { schema, default: usual, isNeeded } = field;
    if (isNeeded === true) return schema;
    return usual === null || usual === undefined ? Type.Optional(schema) : withDefault(schema, usual);
  }) as NewFields<F>;
}

/**
 * Every column that requests set, with the value of `input` or its default. Other properties of `input` are ignored.
 */
export function withDefaults<F extends Fields>(
  fields: F,
  input: { readonly [N in keyof SettingsOf<F>]?: SettingsOf<F>[N] | undefined },
): SettingsOf<F> {
  const said: Readonly<Record<string, unknown>> = input;
  return Object.fromEntries(
    settable(fields).map(({ name, field }) => [name, said[name] ?? field.default]),
  ) as SettingsOf<F>;
}

/** The table's columns in camel case, by field name. */
export function columnNamesOf(fields: Fields): Readonly<Record<string, string>> {
  const columns = Object.entries(fields).flatMap(([name, field]) =>
    field.kind === 'derived' || field.kind === 'secret' ? [] : [[name, field.column ?? name] as const],
  );
  return Object.fromEntries(columns);
}

/** The schemas of an answer's fields. */
export function shownFields(fields: Fields, reader: Reader): TProperties {
  return mapped(fields, (field) => (isShown(field, reader) ? schemaOfAnswer(field, reader) : undefined));
}

/** The answer for a row. */
export function viewOf<F extends Fields>(
  fields: F,
  row: RowOf<F> & DerivedOf<F>,
  reader: Reader,
): Readonly<Record<string, unknown>> {
  const values: Readonly<Record<string, unknown>> = row;
  return shownOf(fields, values, reader, (name, field) => shownValue(field, values[name]));
}

/**
 * The answer for an example, whose values have the form of answers. A value that it leaves out is the default of its
 * field, the example of its field, or null. Examples have the same values for keys and owners.
 */
export function exampleOf(fields: Fields, example: object, reader: Reader): Readonly<Record<string, unknown>> {
  const values: Readonly<Record<string, unknown>> = { ...usualOf(fields), ...example };
  const given = Object.fromEntries(Object.entries(fields).filter(([name]) => name in values));
  return shownOf(given, values, reader, (name) => values[name]);
}

function usualOf(fields: Fields): Readonly<Record<string, unknown>> {
  return mapped(fields, (field) => {
    if (field.kind === 'hidden' || field.kind === 'secret') return undefined;
    if (field.kind === 'given' && field.default !== undefined) return field.default;
    return field.example ?? (isNullable(field.schema) ? null : undefined);
  });
}

function isNullable(schema: TSchema): boolean {
  return [(schema as JsonSchema)['type']].flat().includes('null');
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
  // A loop: lists have a thousand rows, and every row has all fields.
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

/** Limits of texts and lists are for requests only. */
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
