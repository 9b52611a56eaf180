/** Derived from definitions: the keys of gateway.yaml that set their fields. */
import type { Static, TOptional, TSchema } from 'typebox';
import { descriptionOf, flag, integer, listOf, oneOf, optional, text, type TSchemaOf, withDefault } from './schema.js';
import {
  type Fields,
  type Given,
  type GivenNames,
  type InFile,
  type Needed,
  type SchemaOf,
  settable,
} from './thing.js';

export interface KeyInFile {
  readonly key: string;
  readonly schema: TSchema;
  readonly words: string;
  /** An example value; undefined = its default. */
  readonly example?: unknown;
}

/** The description of the second key, for the value itself. */
export const INSTEAD = 'The same as text, instead of the file.';

/** The keys of a field: one, or another one for the name of a file that contains the value. */
export function keysOfField(name: string, field: Given): readonly KeyInFile[] {
  const { file = {}, isFixed = false, shown } = field;
  const { key = name, words = descriptionOf(isFixed && shown !== undefined ? shown : field.schema), example } = file;
  const usual = file.default ?? field.default;
  const schema = schemaInFile(field);
  const value = key !== name && usual === null ? '' : usual;
  const admitted =
    value === undefined ? schema : value === null ? optional(schema) : withDefault<TSchema>(schema, value);
  const own = { key, schema: admitted, words, example };
  if (key === name || file.isOnlyFile === true) return [own];
  return [own, { key: name, schema: optional(text('text')), words: INSTEAD }];
}

/** The schema in gateway.yaml: without limits of length; an absent key means null. */
function schemaInFile({ schema, file: { schema: own, allowed = '', format } = {} }: Given): TSchema {
  if (own !== undefined) return own;
  const { items, minItems, uniqueItems } = schema as JsonSchema;
  if (items === undefined) return valueInFile(schema, allowed, format);
  return listOf(valueInFile(items, allowed, format), undefined, {
    ...(minItems === undefined ? {} : { minItems }),
    ...(uniqueItems === undefined ? {} : { uniqueItems }),
  });
}

function valueInFile(schema: TSchema, allowed: string, format: string | undefined): TSchema {
  const { type, const: only, enum: words, minimum, maximum, pattern } = schema as JsonSchema;
  if (only !== undefined) return schema;
  if (words !== undefined) return oneOf(words);
  if (type === 'boolean') return flag();
  if (minimum !== undefined) return integer(minimum, maximum);
  return text(allowed, {
    ...(pattern === undefined ? {} : { pattern }),
    ...(format === undefined ? {} : { format }),
  });
}

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly items?: TSchema;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
}

/** All keys of a thing that gateway.yaml has as one mapping. */
export function keysInFile(fields: Fields): readonly KeyInFile[] {
  return settable(fields).flatMap(({ name, field }) => keysOfField(name, field));
}

type FileKey<F, N> = F extends { readonly file?: infer About }
  ? Exclude<About, undefined> extends InFile<infer K>
    ? [K] extends [never]
      ? N
      : K
    : N
  : N;

type InKey<F> = F extends Needed
  ? SchemaOf<F>
  : F extends { readonly default: null | undefined }
    ? TOptional<TSchemaOf<NonNullable<Static<SchemaOf<F>>>>>
    : SchemaOf<F>;

/** The schemas of these keys. */
type InFileOf<F> = { [N in GivenNames<F> as FileKey<F[N], N> & string]: InKey<F[N]> };

export function inFile<F extends Fields>(fields: F): InFileOf<F> {
  const schemas = keysInFile(fields).map(({ key, schema }) => [key, schema] as const);
  return Object.fromEntries(schemas) as object as InFileOf<F>;
}
