/**
 * The example file: every key with its default and a comment. Keys that the contract defines are made from their
 * definitions: `{brand}` is the place for those of a brand, `{apiKey.name}` for one of them.
 */
import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { inPackage } from '../base/package-root.js';
import { apiKeyFields } from '../contract/api-key.js';
import { brandFields } from '../contract/brand.js';
import type { Definition } from '../contract/connection/definition.js';
import { configKeysOf } from '../contract/connection/schemas.js';
import { CONNECTION_TYPES } from '../contract/connection/types.js';
import { type KeyInFile, keysInFile } from '../contract/in-file.js';
import type { Fields } from '../contract/thing.js';

const THINGS: ReadonlyMap<string, Fields> = new Map<string, Fields>([
  ['apiKey', apiKeyFields],
  ['brand', brandFields],
]);
const PLACE = /^(#.*)\{(\w+)(?:\.(\w+))?\}\n/gm;

export function exampleFile(definitions: readonly Definition[] = CONNECTION_TYPES): string {
  const lines = definitions.flatMap((definition) =>
    configKeysOf(definition).map((key, index) => lineOf(`#       ${index === 0 ? '-' : ' '} `, key)),
  );
  const text = readFileSync(inPackage('src/config/example.yaml'), 'utf8');
  return `${withThings(text)}#     connections:\n${lines.join('')}`;
}

function withThings(text: string): string {
  const alone = [...text.matchAll(PLACE)].map(([, , thing, key]) => `${thing}.${key}`);
  return text.replaceAll(PLACE, (_, start: string, thing: string, only?: string) => {
    const fields = THINGS.get(thing);
    if (fields === undefined)
      throw new Error(`example.yaml has a place for ${thing}, which gateway.yaml does not have`);
    return keysInFile(fields)
      .filter(({ key }) => (only === undefined ? !alone.includes(`${thing}.${key}`) : key === only))
      .map((key) => lineOf(start, key))
      .join('');
  });
}

function lineOf(start: string, { key, schema, words, example }: KeyInFile): string {
  const usual = 'default' in schema ? schema.default : '';
  return `${start}${key}: ${valueText(example === undefined ? usual : example)} # ${words}\n`;
}

function valueText(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', defaultStringType: 'PLAIN', lineWidth: 0 }).trim();
}
