/**
 * Types of the values that statements take and return. The types that the driver lacks are declared here, so that a new
 * connection need not query the catalogue, and an array is sent with its own type instead of that of its first element.
 */
import type postgres from 'postgres';
import { columnNamesOf, type Fields, type RowOf } from '../../contract/thing.js';
import { columnOf } from './column-names.js';

/** The driver with the typed parameters of this program. */
export type Sql = postgres.Sql<DriverTypes>;
export type Transaction = postgres.TransactionSql<DriverTypes>;
/** Runs statements, on the pool or inside a transaction. */
export type Queryable = Sql | Transaction;

/** Object ids from pg_type.dat; they never change. */
const OID = { bigint: 20, booleans: 1000, texts: 1009, bigints: 1016, times: 1185, uuids: 2951 } as const;

type Nullable<T> = readonly (T | null)[];

/** `sql.types.uuids(ids)` is a parameter of the type uuid[], and so on. */
type DriverTypes = {
  bigint: number;
  booleans: Nullable<boolean>;
  texts: Nullable<string>;
  bigints: Nullable<number>;
  times: Nullable<Date>;
  uuids: Nullable<string>;
};

export const driverTypes = {
  /** Counts and sizes stay far below 2^53, so that plain numbers are exact. */
  bigint: { to: OID.bigint, from: [OID.bigint], serialize: (value: number) => String(value), parse: Number },
  booleans: arrayOf(OID.booleans, String, (text) => text === 't'),
  texts: arrayOf(OID.texts, quote, (text) => text),
  bigints: arrayOf(OID.bigints, String, Number),
  times: arrayOf(
    OID.times,
    (time: Date) => quote(time.toISOString()),
    (text) => new Date(text),
  ),
  uuids: arrayOf(OID.uuids, quote, (text) => text),
} satisfies { readonly [K in keyof DriverTypes]: postgres.PostgresType<DriverTypes[K]> };

function arrayOf<T>(oid: number, write: (element: T) => string, read: (text: string) => T) {
  return {
    to: oid,
    from: [oid],
    serialize: (elements: Nullable<T>) =>
      `{${elements.map((element) => (element === null ? 'NULL' : write(element))).join(',')}}`,
    parse: (text: string): Nullable<T> =>
      readElements(text).map((element) => (element === null ? null : read(element))),
  };
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** The elements of a one-dimensional array; the schema has no others (PostgreSQL manual, 8.15.6). */
function readElements(text: string): (string | null)[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|([^{},"]+)/gs)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain === 'NULL' || plain === undefined ? null : plain) : quoted.replace(/\\(.)/gs, '$1'),
  );
}

/**
 * Removes large texts from a statement that has ended. The driver's statements refer to each other until the next full
 * garbage collection, and so keep all their parameters.
 */
export function letGo(ended: PromiseLike<unknown>): void {
  const { args, parameters } = ended as { readonly args?: unknown; readonly parameters?: unknown };
  for (const values of [args, parameters]) if (Array.isArray(values)) values.length = 0;
}

const templates = new Map<string, TemplateStringsArray>();

/**
 * A text with `?` for each value: `sql(template, ...values)`. Equal texts are one template, because the driver keeps
 * an entry for each template for ever: its text must not depend on data.
 */
export function templateIn(text: string): TemplateStringsArray {
  const known = templates.get(text);
  if (known !== undefined) return known;
  const parts = text.split('?');
  const template = Object.assign([...parts], { raw: parts });
  templates.set(text, template);
  return template;
}

/** `?` for each of so many values. */
const places = (count: number): string => Array.from({ length: count }, () => '?').join(', ');

/** Columns in the text of a statement: `a, b`, or `t.a, t.b` with an alias. */
export function listed(names: readonly string[], table = ''): string {
  const prefix = table === '' ? '' : `${table}.`;
  return names.map((name) => `${prefix}${columnOf(name)}`).join(', ');
}

/** The assignments of `on conflict … do update` that take these columns from the row of the `insert`. */
export function fromExcluded(names: readonly string[]): string {
  return names.map((name) => `${columnOf(name)} = excluded.${columnOf(name)}`).join(', ');
}

/** The same for a table with `updated_at`, with the condition that a value differs. */
export function fromExcludedIfOther(table: string, names: readonly string[]): string {
  return `${fromExcluded(names)}, updated_at = now()
    where (${listed(names, table)}) is distinct from (${listed(names, 'excluded')})`;
}

/** The assignments that add the columns of `other` to those of `table`. */
export function addedTo(table: string, names: readonly string[], other: string): string {
  return names
    .map(columnOf)
    .map((name) => `${name} = ${table}.${name} + ${other}.${name}`)
    .join(', ');
}

/** A condition with literals: the planner compares no parameter with the condition of a partial index. */
export function isOneOf(column: string, values: readonly string[]): string {
  return `${column} in (${values.map((value) => `'${value}'`).join(', ')})`;
}

type Value = postgres.SerializableParameter | Made[string];

/** The columns and values of a row, for `insert into` a table without an alias. Values may be expressions. */
export function valuesOf(sql: Queryable, values: Readonly<Record<string, Value>>) {
  // The client's own types do not allow expressions in place of values.
  return sql(values as Readonly<Record<string, never>>);
}

/** `(a, b) select x, y` for an `insert`: the expression of each column. */
export function selected(expressions: Readonly<Record<string, string>>): string {
  return `(${listed(Object.keys(expressions))}) select ${Object.values(expressions).join(', ')}`;
}

/** The same with values, which may be expressions. The table may have an alias. */
export function selecting(sql: Queryable, values: Readonly<Record<string, Value>>) {
  const names = Object.keys(values);
  const template = templateIn(`(${listed(names)}) select ${places(names.length)}`);
  return sql(template, ...(Object.values(values) as Made[string][]));
}

/** For `selected`: columns that keep their values. */
export function asTheyAre(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, columnOf(name)]));
}

/** Rows as the table `t`: a column for each named property, with the type of its array. */
export function tableOf<R extends object>(sql: Queryable, rows: readonly R[], types: ArrayTypes<R>) {
  const columns = Object.entries(types) as [keyof R & string, 'texts'][];
  const arrays = columns.map(([name, type]) =>
    sql.types[type](rows.map((row) => (row[name] ?? null) as string | null)),
  );
  const names = columns.map(([name]) => name);
  return sql(templateIn(`unnest(${places(names.length)}) as t (${listed(names)})`), ...arrays);
}

type ArrayTypes<R> = { readonly [N in keyof R]?: 'booleans' | 'texts' | 'bigints' | 'times' | 'uuids' };

/** Removes the rows from a result, for the same reason: the rows of all pages of a list would stay in memory. */
export function takeRows<T>(found: T[]): T[] {
  return found.splice(0);
}

/** PostgreSQL's text type allows no NUL and no half of a surrogate pair; texts of remote servers may contain both. */
export function storable<T extends string | null>(text: T): T | string {
  return text === null ? text : text.replaceAll('\0', '\ufffd').toWellFormed();
}

/** The columns of a thing's table. */
export const tableColumns = (fields: Fields): readonly string[] => Object.values(columnNamesOf(fields)).map(columnOf);

/**
 * A thing's columns for `select`: one fragment, because each fragment is an object that lives until a full garbage
 * collection. `table` is the alias of its table; `made` has values that are no columns.
 */
export function columnsOf(sql: Queryable, fields: Fields, { table = '', made = {} }: Selection = {}) {
  const prefix = table === '' ? '' : `${table}.`;
  const columns = Object.entries(columnNamesOf(fields)).filter(([name]) => made[name] === undefined);
  const stored = columns.map(([name, column]) => `${prefix}"${columnOf(column)}" as "${columnOf(name)}"`);
  const others = Object.keys(made).map((name) => `? as "${columnOf(name)}"`);
  return sql(templateIn([...stored, ...others].join(', ')), ...Object.values(made));
}

interface Selection {
  readonly table?: string;
  readonly made?: Made;
}

type Made = Readonly<Record<string, postgres.PendingQuery<postgres.Row[]>>>;

/**
 * The columns that `values` names, for `insert` and `update`. Absent ones keep their values. `made`: columns whose
 * values the database computes. The driver depends on the word before its object, so `insert into` a table must have no
 * alias.
 */
export function rowOf<F extends Fields>(sql: Queryable, fields: F, values: Partial<RowOf<F>>, made: Made = {}) {
  const given: Readonly<Record<string, unknown>> = values;
  const columns = Object.entries(columnNamesOf(fields)).filter(([name]) => given[name] !== undefined);
  const stored = columns.map(([name, column]) => [column, storedAs(sql, given[name], fields[name])] as const);
  // The client's own types do not allow expressions in place of values.
  return { ...Object.fromEntries(stored), ...(made as Readonly<Record<string, never>>) };
}

/** Fields that are lists have columns of type text[]; other objects are JSON. */
function storedAs(sql: Queryable, value: unknown, field: object | undefined): postgres.SerializableParameter {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value) && isList(field)) return sql.types.texts(value as readonly string[]);
  const isPlain = typeof value === 'object' && value !== null && !(value instanceof Date || Buffer.isBuffer(value));
  return isPlain ? jsonOf(sql, value) : (value as postgres.SerializableParameter);
}

function isList(field: { readonly schema?: { readonly type?: unknown } } | undefined): boolean {
  return field?.schema?.type === 'array';
}

/** A value as JSON; its texts are made storable. */
export function jsonOf(sql: Queryable, value: object) {
  const kept: unknown = JSON.parse(JSON.stringify(value), (_name, part: unknown) =>
    typeof part === 'string' ? storable(part) : part,
  );
  // The client's own JSON type does not accept an interface.
  return sql.json(kept as never);
}
