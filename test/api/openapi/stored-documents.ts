/** The OpenAPI documents of version 1.1, and the comparison with them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

export function storedDocument(name: 'api' | 'manage'): Json {
  const file = fileURLToPath(new URL(`../../../../test/api/openapi/stored/${name}.json`, import.meta.url));
  return JSON.parse(readFileSync(file, 'utf8')) as Json;
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

/**
 * Each value of `was` that differs in `is`, by its JSON Pointer (RFC 6901), with both values; undefined = absent. What
 * only `is` has is no difference, and neither are examples.
 */
export function differences(was: Json, is: Json | undefined, at = '', key = ''): Difference[] {
  if (key === 'examples' || JSON.stringify(was) === JSON.stringify(is)) return [];
  if (Array.isArray(was) && Array.isArray(is) && SETS.has(key)) return missingFrom(is as Json[], was as Json[], at);
  if (!isContainer(was) || !isContainer(is) || Array.isArray(was) !== Array.isArray(is)) return [{ at, was, is }];
  const now = is as JsonObject;
  return Object.entries(was as JsonObject).flatMap(([name, value]) =>
    differences(value, now[name], `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, name),
  );
}

/** The items of a set for which `found` has none that contains them. */
function missingFrom(found: readonly Json[], items: readonly Json[], at: string): Difference[] {
  return items.flatMap((item, index) => {
    const isThere = found.some((one) => differences(item, one).length === 0);
    return isThere ? [] : [{ at: `${at}/${index}`, was: item, is: undefined }];
  });
}

/** The fields that a request of `was` did not need and that of `is` needs, by the request. */
export function newDemands(was: Json, is: Json): string[] {
  const found: string[] = [];
  const compare = (before: Json | undefined, now: Json | undefined, at: string, seen: readonly string[]): void => {
    const [[former, name], [current]] = [resolved(was, before), resolved(is, now)];
    if (!isContainer(former) || !isContainer(current) || (name !== undefined && seen.includes(name))) return;
    const [old, fresh] = [former as JsonObject, current as JsonObject];
    const needed = (old['required'] ?? []) as readonly Json[];
    const needs = Array.isArray(fresh['required']) ? (fresh['required'] as Json[]) : [];
    for (const field of needs) if (!needed.includes(field)) found.push(`${at}: ${JSON.stringify(field)}`);
    const path = name === undefined ? seen : [...seen, name];
    for (const [key, value] of Object.entries(old)) compare(value, fresh[key], at, path);
  };
  const pathsOf = (document: Json): JsonObject => (document as JsonObject)['paths'] as JsonObject;
  for (const [path, item] of Object.entries(pathsOf(was))) {
    for (const [method, operation] of Object.entries(item as JsonObject)) {
      const now = (pathsOf(is)[path] as JsonObject | undefined)?.[method] as JsonObject | undefined;
      compare((operation as JsonObject)['requestBody'], now?.['requestBody'], `${method} ${path}`, []);
    }
  }
  return found;
}

/** The value that a reference to a component leads to, and the reference. */
function resolved(document: Json, value: Json | undefined): [Json | undefined, string | undefined] {
  const reference = isContainer(value) ? (value as JsonObject)['$ref'] : undefined;
  if (typeof reference !== 'string') return [value, undefined];
  const steps = reference.replace('#/', '').split('/');
  return [steps.reduce<Json | undefined>((at, step) => (at as JsonObject | undefined)?.[step], document), reference];
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
