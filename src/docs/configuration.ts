/**
 * The sections of the page of all configuration keys: a table for each top-level key, made from the example file and
 * its comments.
 */
import { isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml';
import { exampleFile } from '../config/example.js';
import type { Definition } from '../contract/connection/definition.js';
import { configKeysOf } from '../contract/connection/schemas.js';
import { CONNECTION_TYPES } from '../contract/connection/types.js';

/** Includes the links to the sections. */
export function configurationSections(definitions: readonly Definition[] = CONNECTION_TYPES): string {
  const [settings = '', sample = ''] = exampleFile(definitions).split(/^accounts: \[\]\n/m);
  const sections = mappingIn(settings).items.map(({ key, value }) => {
    const name = keyOf(key);
    return { name, table: table('default', isGroup(value) ? rowsOf(value, `${name}.`) : [row(name, value)]) };
  });
  const accounts = mappingIn(sample.replace(/^# ?/gm, '')).get('accounts');
  if (!isSeq(accounts) || !isMap(accounts.items[0])) throw new Error('the example file shows no account');
  const connections = definitions.flatMap((definition) =>
    configKeysOf(definition).map(({ key, example, words }) =>
      line(`accounts[].connections[${definition.type}].${key}`, JSON.stringify(example), words),
    ),
  );
  const rows = [...listRowsOf(accounts.items[0], 'accounts[].'), ...connections];
  const all = [...sections, { name: 'accounts', table: table('for example', rows) }];
  const links = all.map(({ name }) => `[${name}](#${name.toLowerCase()})`).join(' · ');
  return [links, ...all.map((section) => `## ${section.name}\n\n${section.table}`)].join('\n\n');
}

function mappingIn(text: string): YAMLMap {
  const { contents, errors } = parseDocument(text);
  if (errors.length > 0 || !isMap(contents)) throw new Error('the example file is no mapping');
  return contents;
}

function table(second: string, rows: readonly string[]): string {
  return `| key | ${second} | meaning |\n|---|---|---|\n${rows.join('\n')}`;
}

/** The rows of an account; its API keys are described by one. */
function listRowsOf(map: YAMLMap, prefix: string): string[] {
  return map.items.flatMap(({ key, value }) => {
    const name = prefix + keyOf(key);
    if (keyOf(key) === 'connections') return [];
    if (isGroup(value)) return rowsOf(value, `${name}.`);
    if (!isSeq(value) || !isMap(value.items[0])) return [row(name, value)];
    return value.items.flatMap((item) => (isMap(item) ? listRowsOf(item, `${name}[].`) : []));
  });
}

function rowsOf(map: YAMLMap, prefix: string): string[] {
  return map.items.flatMap(({ key, value }) => {
    const name = prefix + keyOf(key);
    return isGroup(value) ? rowsOf(value, `${name}.`) : [row(name, value)];
  });
}

/** A mapping over several lines has a comment for each of its keys. */
function isGroup(value: unknown): value is YAMLMap {
  return isMap(value) && value.flow !== true;
}

function row(name: string, value: unknown): string {
  const shown = isScalar(value) ? JSON.stringify(value.value) : String(value).trim().replaceAll(/\s+/g, ' ');
  return line(name, shown, commentOf(value));
}

function line(name: string, shown: string, meaning: string): string {
  return `| \`${name}\` | \`${shown}\` | ${meaning.replaceAll('|', '\\|')} |`;
}

function commentOf(value: unknown): string {
  return ((value as { readonly comment?: string | null }).comment ?? '').trim();
}

function keyOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}
