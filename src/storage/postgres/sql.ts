/**
 * What statements give and take. Types beyond those the driver knows are stated here: they need no look into the
 * catalogue on each new connection, and an array is sent as what it is instead of by the type of its first element.
 */
import type postgres from 'postgres';
import { columnNamesOf, type Fields, type RowOf } from '../../contract/thing.js';
import { columnOf } from './column-names.js';

/** The driver, with the typed parameters of this program. */
export type Sql = postgres.Sql<DriverTypes>;
export type Transaction = postgres.TransactionSql<DriverTypes>;
/** What statements need, on the pool or inside a transaction. */
export type Queryable = Sql | Transaction;

/** Object ids from pg_type.dat; fixed for ever. */
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

/** The elements of an array of one dimension, which is all that the schema has (PostgreSQL manual, 8.15.6). */
function readElements(text: string): (string | null)[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|([^{},"]+)/gs)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain === 'NULL' || plain === undefined ? null : plain) : quoted.replace(/\\(.)/gs, '$1'),
  );
}

/**
 * Takes large texts out of a statement that has ended. The driver's statements hold one another until the next full collection
 * of garbage, and with them whatever each was given.
 */
export function letGo(ended: PromiseLike<unknown>): void {
  const { args, parameters } = ended as { readonly args?: unknown; readonly parameters?: unknown };
  for (const values of [args, parameters]) if (Array.isArray(values)) values.length = 0;
}

/** The texts of a statement that is made once: `sql(template, ...values)` puts the values between them. */
export function templateOf(texts: readonly string[]): TemplateStringsArray {
  return Object.assign([...texts], { raw: texts });
}

/** Takes the rows out of a result, for the same reason: of a list of many pages all of them would stay in memory. */
export function takeRows<T>(found: T[]): T[] {
  return found.splice(0);
}

/** PostgreSQL's text takes no NUL and no half of a surrogate pair; words of remote servers may hold both. */
export function storable<T extends string | null>(text: T): T | string {
  return text === null ? text : text.replaceAll('\0', '\ufffd').toWellFormed();
}

/**
 * A thing's columns, as `select` takes them: one fragment, because each is an object that lives until a full collection of
 * garbage. `table` is the alias of its table; `made` holds values that are no columns.
 */
export function columnsOf(sql: Queryable, fields: Fields, { table = '', made = {} }: Selection = {}) {
  const prefix = table === '' ? '' : `${table}.`;
  const columns = Object.entries(columnNamesOf(fields)).filter(([name]) => made[name] === undefined);
  const selected = columns.map(([name, column]) => `${prefix}"${columnOf(column)}" as "${columnOf(name)}"`).join(', ');
  const names = Object.keys(made).map((name) => ` as "${columnOf(name)}"`);
  const texts = [selected, ...names].map((text, number) => (number < names.length ? `${text}, ` : text));
  return sql(templateOf(texts), ...Object.values(made));
}

interface Selection {
  readonly table?: string;
  readonly made?: Made;
}

type Made = Readonly<Record<string, postgres.PendingQuery<postgres.Row[]>>>;

/**
 * The columns that `values` names, as `insert` and `update` take them. Absent ones stay. `made`: columns whose values the
 * database makes. The driver goes by the word before its object: `insert into` a table has no alias.
 */
export function rowOf<F extends Fields>(sql: Queryable, fields: F, values: Partial<RowOf<F>>, made: Made = {}) {
  const given: Readonly<Record<string, unknown>> = values;
  const columns = Object.entries(columnNamesOf(fields)).filter(([name]) => given[name] !== undefined);
  const stored = columns.map(([name, column]) => [column, storedAs(sql, given[name], fields[name])] as const);
  // The client's own types know no expressions in place of values.
  return { ...Object.fromEntries(stored), ...(made as Readonly<Record<string, never>>) };
}

/** Fields that are lists have columns of text[]; other objects are JSON. */
function storedAs(sql: Queryable, value: unknown, field: object | undefined): postgres.SerializableParameter {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value) && isList(field)) return sql.types.texts(value as readonly string[]);
  const isPlain = typeof value === 'object' && value !== null && !(value instanceof Date || Buffer.isBuffer(value));
  return isPlain ? jsonOf(sql, value) : (value as postgres.SerializableParameter);
}

function isList(field: { readonly schema?: { readonly type?: unknown } } | undefined): boolean {
  return field?.schema?.type === 'array';
}

/** A value as JSON, the same of all texts in it. */
export function jsonOf(sql: Queryable, value: object) {
  const kept: unknown = JSON.parse(JSON.stringify(value), (_name, part: unknown) =>
    typeof part === 'string' ? storable(part) : part,
  );
  // The client's own type of JSON takes no interface.
  return sql.json(kept as never);
}
