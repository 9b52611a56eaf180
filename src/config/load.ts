/** Reads gateway.yaml and the environment into one frozen Config, or reports every mistake at once. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { CONNECTION_TYPES } from '../contract/connection/types.js';
import { checkConfig, checkPlanNames, isMasterKey, type Report } from './checks.js';
import type { Config } from './schema.js';
import { type ConfigDocument, parseConfigDocument } from './document.js';
import { type Environment, isOneReference, MASTER_KEY_VARIABLE, OVERRIDES } from './environment.js';
import { ConfigError, type KeyPath, type Mistake, pathText, quoted } from './mistakes.js';
import { createValidator, type Origin } from './validate.js';

const validate = createValidator(CONNECTION_TYPES);

interface ConfigSources {
  /** Path of gateway.yaml; absent = all defaults. */
  readonly file?: string;
  readonly env: Environment;
}

/**
 * The checked configuration with defaults, deeply frozen. Paths are unchanged; relative ones are relative to the
 * working directory.
 * @throws ConfigError with every mistake found
 */
export function loadConfig({ file, env }: ConfigSources): Config {
  const document = file === undefined ? parseConfigDocument('', '', env) : readDocument(file, env);
  const masterKey = env[MASTER_KEY_VARIABLE]?.trim() ?? '';
  const mistakes = [...document.mistakes, ...masterKeyMistakes(masterKey)];
  if (document.tree === undefined) throw new ConfigError(mistakes);

  // An unset variable is already reported; its place needs no second report for its bad value.
  const reported = new Set(mistakes.map((mistake) => mistake.path));
  const add = (mistake: Mistake): void => void (reported.has(mistake.path) || mistakes.push(mistake));
  const { tree, origin } = withOverrides(document, env);
  const outcome = validate(tree, origin);
  outcome.mistakes.forEach(add);
  const report: Report = (path, found, allowed) =>
    add({ path: pathText(path), found, allowed, place: origin.placeOf(path) });
  if (!('config' in outcome)) checkPlanNames(tree, report);
  else {
    checkConfig(outcome.config, report);
    if (mistakes.length === 0) return deepFreeze({ ...outcome.config, masterKey });
  }
  throw new ConfigError(mistakes);
}

function readDocument(file: string, env: Environment): ConfigDocument {
  let source: string;
  try {
    source = readFileSync(file, 'utf8');
  } catch (error) {
    const reason = systemCodeOf(error) === 'ENOENT' ? 'does not exist' : 'cannot be read';
    const found = `${quoted(file)}, which ${reason}`;
    throw new ConfigError([
      { path: 'GATEWAY_CONFIG', found, allowed: 'the path of a readable YAML file', place: undefined },
    ]);
  }
  return parseConfigDocument(source, basename(file), env);
}

function masterKeyMistakes(masterKey: string): Mistake[] {
  if (masterKey === '' || isMasterKey(masterKey)) return [];
  const found = `a text of ${masterKey.length} characters that is no key`;
  return [{ path: MASTER_KEY_VARIABLE, found, allowed: '32 bytes as base64 or as 64 hex digits', place: undefined }];
}

/** The file's values, overridden by those of the environment. */
function withOverrides(document: ConfigDocument, env: Environment): { tree: unknown; origin: Origin } {
  const variables = new Map<string, string>();
  for (const { variable, path } of OVERRIDES) {
    const value = env[variable];
    if (value !== undefined && value !== '' && put(document.tree, path, value)) variables.set(pathText(path), variable);
  }
  const variableAt = (path: KeyPath): string | undefined => variables.get(pathText(path));
  const writtenAt = (path: KeyPath): string | undefined =>
    variableAt(path) === undefined ? document.writtenAt(path) : undefined;
  const origin: Origin = {
    writtenAt,
    placeOf: (path) => variableAt(path) ?? document.placeOf(path),
    isVariable: (path) => variableAt(path) !== undefined || isOneReference(writtenAt(path) ?? ''),
  };
  return { tree: document.tree, origin };
}

/** Sets the value at `path` and creates missing sections; false if a value on the way is no section. */
function put(tree: unknown, [name, ...inner]: KeyPath, value: string): boolean {
  if (name === undefined || typeof tree !== 'object' || tree === null || Array.isArray(tree)) return false;
  const section = tree as Record<string, unknown>;
  if (inner.length === 0) section[name] = value;
  else return put((section[name] ??= {}), inner, value);
  return true;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
