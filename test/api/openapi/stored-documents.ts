/** The OpenAPI documents as they were before the contract (src/contract), and the comparison with them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { OpenApiDocument } from '../../../src/api/openapi/types.js';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

/** One line for each path, schema and other component, so that a change of the file can be reviewed. */
export function storedText(document: OpenApiDocument): string {
  return `${lines(canonical(document), 2)}\n`;
}

export function storedDocument(name: 'api' | 'manage'): Json {
  const file = fileURLToPath(new URL(`../../../../test/api/openapi/stored/${name}.json`, import.meta.url));
  return JSON.parse(readFileSync(file, 'utf8')) as Json;
}

function lines(value: Json, depth: number): string {
  if (depth === 0 || !isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${lines(inner, depth - 1)}`);
  return `{\n${fields.join(',\n')}\n}`;
}

/** Arrays whose order has no meaning. */
const SETS = new Set(
  'required enum oneOf anyOf type parameters security tags x-error-codes dependentRequired'.split(' '),
);
/** The texts of the codes are compared once, in the schema ErrorCode; answers repeat them for each operation. */
const ERROR_STATUS = /^[45]\d\d$/;

/** Sorts keys and sets, and reduces the description of an error answer to its codes. */
export function canonical(value: unknown): Json {
  return ordered(JSON.parse(JSON.stringify(value)) as Json, '');
}

function ordered(value: Json, key: string): Json {
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map((item) => ordered(item, ''));
    return SETS.has(key)
      ? items
          .map((item) => [JSON.stringify(item), item] as const)
          .sort(byText)
          .map(second)
      : items;
  }
  if (!isObject(value)) return value;
  const { $ref, description } = value;
  const isErrorAnswer = ERROR_STATUS.test(key) && typeof $ref === 'string' && typeof description === 'string';
  const shown = isErrorAnswer ? { ...value, description: codesIn(description) } : value;
  const fields = Object.entries(shown).map(([name, inner]) => [name, ordered(inner, name)] as const);
  return Object.fromEntries(fields.sort(byText));
}

function codesIn(description: string): string {
  const codes = [...description.matchAll(/^`(\w+)`: /gm)].map(([, code = '']) => code);
  return codes.sort().join(' ');
}

/** Each value that differs, by its JSON Pointer (RFC 6901), with both values; undefined = absent. */
export function differences(was: Json | undefined, is: Json | undefined, at = ''): Difference[] {
  if (JSON.stringify(was) === JSON.stringify(is)) return [];
  if (!isContainer(was) || !isContainer(is) || Array.isArray(was) !== Array.isArray(is)) return [{ at, was, is }];
  const [before, now] = [was as JsonObject, is as JsonObject];
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((key) =>
    differences(before[key], now[key], `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
}

export interface Difference {
  readonly at: string;
  readonly was: Json | undefined;
  readonly is: Json | undefined;
}

const byText = ([one]: readonly [string, Json], [other]: readonly [string, Json]): number => (one < other ? -1 : 1);
const second = ([, item]: readonly [string, Json]): Json => item;
const isContainer = (value: Json | undefined): boolean => typeof value === 'object' && value !== null;
const isObject = (value: Json): value is JsonObject => isContainer(value) && !Array.isArray(value);
