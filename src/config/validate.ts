/** Validates a tree of values with the schema: fills in defaults, or describes the mistakes for the operator. */
import type { ErrorObject } from 'ajv';
import { nearestName } from '../base/nearest-name.js';
import { isExact } from '../base/numbers.js';
import { validatorOf } from '../base/validators.js';
import { isBareReference, MASTER_KEY_VARIABLE } from './environment.js';
import { foundText, holdsSecret, type KeyPath, type Mistake, pathText, quoted } from './mistakes.js';
import type { Definition } from '../contract/connection/definition.js';
import type { FileConfig } from './schema.js';
import { configSchema } from './schema.js';

/** The origin of values. */
export interface Origin {
  placeOf(path: KeyPath): string | undefined;
  /** Whether the whole value came from an environment variable: then it may become a number or a boolean. */
  isVariable(path: KeyPath): boolean;
  /** The text with `${NAME}` before variables were expanded. */
  writtenAt(path: KeyPath): string | undefined;
}

type Outcome =
  { readonly config: FileConfig; readonly mistakes: readonly [] } | { readonly mistakes: readonly Mistake[] };

/**
 * Validates trees with the schema of these types of connections. A tree is modified: defaults are filled in in place.
 */
export function createValidator(definitions: readonly Definition[]): (tree: unknown, origin: Origin) => Outcome {
  const isValid = validatorOf<FileConfig>(configSchema(definitions), 'config');
  return (tree, origin) => {
    if (isValid(tree)) return { config: tree, mistakes: [] };
    if (convertReferences(tree, isValid.errors ?? [], origin) && isValid(tree)) return { config: tree, mistakes: [] };
    return { mistakes: onePerPath((isValid.errors ?? []).flatMap((error) => mistakesOf(error, tree, origin))) };
  };
}

/** Converts texts from variables to the type that the schema requires; returns whether any was converted. */
function convertReferences(tree: unknown, errors: readonly ErrorObject[], origin: Origin): boolean {
  let converted = false;
  for (const error of errors) {
    const path = pathOf(error.instancePath, tree);
    const name = path.at(-1);
    if (name === undefined || typeof error.data !== 'string' || !origin.isVariable(path)) continue;
    const value = convert(error.data, [error.parentSchema?.['type']].flat());
    if (value === undefined) continue;
    Object.assign(valueAt(tree, path.slice(0, -1)) as object, { [name]: value });
    converted = true;
  }
  return converted;
}

function convert(text: string, wanted: readonly unknown[]): number | boolean | undefined {
  if (wanted.includes('integer') && /^-?\d+$/.test(text) && isExact(Number(text))) return Number(text);
  if (wanted.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true';
  return undefined;
}

function mistakesOf(error: ErrorObject, tree: unknown, origin: Origin): Mistake[] {
  const path = pathOf(error.instancePath, tree);
  const schema = error.parentSchema ?? {};
  const params = error.params as Readonly<Record<string, string>>;
  const at = (where: KeyPath, found: string, allowed: string): Mistake[] => [
    { path: pathText(where), found, allowed, place: origin.placeOf(where) },
  ];
  switch (error.keyword) {
    case 'required': {
      const name = params['missingProperty'] ?? '';
      return at([...path, name], 'missing', allowedAt(schema, name));
    }
    case 'additionalProperties': {
      const name = params['additionalProperty'] ?? '';
      if (path.length === 0 && name === 'masterKey') {
        return at([name], 'unknown key', `the key in the environment variable ${MASTER_KEY_VARIABLE}, not in a file`);
      }
      const names = Object.keys(propertiesOf(schema));
      return at([...path, name], `unknown key${suggestion(name, names)}`, names.join(', '));
    }
    case 'propertyNames': {
      const name = params['propertyName'] ?? '';
      const names = schema['propertyNames'] as Readonly<Record<string, unknown>>;
      return at([...path, name], `the name ${quoted(name)}`, descriptionOf(names));
    }
    case 'discriminator': {
      const tag = params['tag'] ?? '';
      const given = valueAt(tree, [...path, tag]);
      // A missing tag is reported by `required`.
      if (given === undefined) return [];
      return at([...path, tag], found([...path, tag], given, origin), `one of ${tagValues(schema, tag).join(', ')}`);
    }
    case 'uniqueItems':
      return at(path, `items ${params['i']} and ${params['j']} are the same`, 'each item once');
    case 'minItems':
      return at(path, 'an empty list', `at least one item: ${descriptionOf(schema)}`);
    default:
      // Errors in a property's name are reported once, by propertyNames.
      return error.propertyName === undefined ? at(path, found(path, error.data, origin), descriptionOf(schema)) : [];
  }
}

/**
 * A description of the value; a variable's value is not shown, because the variable may be meant for something else.
 */
function found(path: KeyPath, value: unknown, origin: Origin): string {
  const written = origin.writtenAt(path);
  if (written !== undefined && (isBareReference(written) || !holdsSecret(path))) {
    return `${quoted(written)}, whose value does not fit`;
  }
  return foundText(path, value);
}

function propertiesOf(schema: object): Readonly<Record<string, object>> {
  return 'properties' in schema ? (schema.properties as Readonly<Record<string, object>>) : {};
}

function descriptionOf(schema: object | undefined): string {
  return schema !== undefined && 'description' in schema ? String(schema.description) : 'nothing';
}

function allowedAt(schema: object, name: string): string {
  const property = propertiesOf(schema)[name];
  if (property !== undefined) return descriptionOf(property);
  const values = tagValues(schema, name);
  return values.length > 0 ? `one of ${values.join(', ')}` : 'a value';
}

function tagValues(schema: object, tag: string): string[] {
  const variants = 'oneOf' in schema ? (schema.oneOf as readonly object[]) : [];
  return variants.map((variant) => String((propertiesOf(variant)[tag] as { const?: unknown } | undefined)?.const));
}

/** Suggests the most similar known key. */
function suggestion(given: string, names: readonly string[]): string {
  const near = nearestName(given, names);
  return near === undefined ? '' : ` (is ${near} meant?)`;
}

/** A JSON pointer as a path; list positions as numbers. */
function pathOf(pointer: string, tree: unknown): KeyPath {
  const path: (string | number)[] = [];
  let value = tree;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(value) ? Number(key) : key);
    value = valueAt(value, [key]);
  }
  return path;
}

function valueAt(tree: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? (value as Record<string, unknown>)[part]
        : undefined,
    tree,
  );
}

/** A value that breaks several rules of its schema is one mistake. */
function onePerPath(mistakes: readonly Mistake[]): Mistake[] {
  return [...new Map(mistakes.toReversed().map((mistake) => [mistake.path, mistake])).values()].toReversed();
}
