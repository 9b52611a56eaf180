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
    differences(value, now[name], pointer(at, name), name),
  );
}

/** The items of a set for which `found` has none that contains them. */
function missingFrom(found: readonly Json[], items: readonly Json[], at: string): Difference[] {
  return items.flatMap((item, index) => {
    const isThere = found.some((one) => differences(item, one).length === 0);
    return isThere ? [] : [{ at: `${at}/${index}`, was: item, is: undefined }];
  });
}

/** Keywords that make a schema allow less than without them. */
const LIMITS = new Set([
  ...['type', 'enum', 'const', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems', 'uniqueItems', 'items'],
  ...['prefixItems', 'contains', 'minProperties', 'maxProperties', 'propertyNames', 'patternProperties'],
  ...['dependentRequired', 'dependentSchemas', 'oneOf', 'anyOf', 'allOf', 'not', 'if'],
]);
/** Schemas inside a schema, a parameter or a body. */
const INNER = new Set(['schema', 'items', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else']);
/** The same by name, and several of them. */
const NAMED = new Set(['properties', 'patternProperties', 'content']);
const LISTED = new Set(['oneOf', 'anyOf', 'allOf', 'prefixItems']);

/**
 * What a request needs or obeys in `is` and not in `was`, by its JSON Pointer in `is`: fields and parameters that are
 * required, and limits of values. Limits that only have another value are differences.
 */
export function newDemands(was: Json, is: Json): Record<string, Json> {
  const comparison = new Comparison(was, is);
  const demands = Object.entries(pathsOf(was)).flatMap(([path, item]) =>
    Object.entries(item as JsonObject).flatMap(([method, operation]) => {
      const now = (pathsOf(is)[path] as JsonObject | undefined)?.[method] as JsonObject | undefined;
      return now === undefined
        ? []
        : comparison.ofOperation(operation as JsonObject, now, pointer('/paths', path, method));
    }),
  );
  return Object.fromEntries(demands);
}

const pathsOf = (document: Json): JsonObject => (document as JsonObject)['paths'] as JsonObject;

type Demands = readonly (readonly [at: string, value: Json])[];

class Comparison {
  readonly #was: Json;
  readonly #is: Json;
  /** By the two references. A schema that contains itself is compared once. */
  readonly #known = new Map<string, Demands>();

  constructor(was: Json, is: Json) {
    this.#was = was;
    this.#is = is;
  }

  ofOperation(was: JsonObject, is: JsonObject, at: string): Demands {
    const body = is['requestBody'];
    const isNewBody = was['requestBody'] === undefined && (body as JsonObject | undefined)?.['required'] === true;
    return [
      ...(isNewBody ? [[pointer(at, 'requestBody', 'required'), true] as const] : []),
      ...this.#of(was['requestBody'], body, pointer(at, 'requestBody')),
      ...this.#ofParameters(was, is, pointer(at, 'parameters')),
    ];
  }

  #ofParameters(was: JsonObject, is: JsonObject, at: string): Demands {
    const parametersIn = (document: Json, { parameters = [] }: JsonObject): ReadonlyMap<string, Json> =>
      new Map(
        (parameters as readonly Json[]).map((one) => {
          const [found] = resolved(document, one);
          const { in: place, name } = found as { readonly in: string; readonly name: string };
          return [`${place} ${name}`, one];
        }),
      );
    const former = parametersIn(this.#was, was);
    return [...parametersIn(this.#is, is)].flatMap(([name, one]) =>
      this.#of(former.get(name) ?? {}, one, pointer(at, name)),
    );
  }

  #of(before: Json | undefined, now: Json | undefined, at: string): Demands {
    const [[former, was], [current, is]] = [resolved(this.#was, before), resolved(this.#is, now)];
    if (!isContainer(former) || !isContainer(current)) return [];
    if (is === undefined) return this.#ofObjects(former as JsonObject, current as JsonObject, at);
    const pair = `${was ?? at} ${is}`;
    const known = this.#known.get(pair);
    if (known !== undefined) return known;
    this.#known.set(pair, []);
    const demands = this.#ofObjects(former as JsonObject, current as JsonObject, is.slice(1));
    this.#known.set(pair, demands);
    return demands;
  }

  #ofObjects(was: JsonObject, is: JsonObject, at: string): Demands {
    return Object.entries(is).flatMap(([key, value]): Demands => {
      const [former, place] = [was[key], pointer(at, key)];
      if (key === 'required') return newlyRequired(former, value).map((demand) => [place, demand] as const);
      if (key === 'additionalProperties' && value === false) return former === false ? [] : [[place, value]];
      if (former === undefined) return LIMITS.has(key) ? [[place, value]] : [];
      if (INNER.has(key)) return this.#of(former, value, place);
      if (NAMED.has(key))
        return Object.entries(value as JsonObject).flatMap(([name, one]) =>
          this.#of((former as JsonObject)[name], one, pointer(place, name)),
        );
      if (LISTED.has(key)) return this.#ofLists(former as readonly Json[], value as readonly Json[], place);
      return [];
    });
  }

  /** Each former schema is compared with the one that contains it and demands the least. */
  #ofLists(was: readonly Json[], is: readonly Json[], at: string): Demands {
    return was.flatMap((former) => {
      const [least = []] = is
        .flatMap((now, index) =>
          differences(former, now).length > 0 ? [] : [this.#of(former, now, pointer(at, index))],
        )
        .sort((one, other) => one.length - other.length);
      return least;
    });
  }
}

/** The names in a schema, or true for a parameter or a body. */
function newlyRequired(was: Json | undefined, is: Json): readonly Json[] {
  if (!Array.isArray(is)) return is === true && was !== true ? [true] : [];
  const former = (was ?? []) as readonly Json[];
  const names = (is as Json[]).filter((name) => !former.includes(name));
  return names.length === 0 ? [] : [names];
}

const pointer = (at: string, ...steps: readonly (string | number)[]): string =>
  [at, ...steps.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');

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
