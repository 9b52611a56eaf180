/**
 * The example file: every key with its default and a comment. Its connections are made from the definitions of their
 * types.
 */
import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { inPackage } from '../base/package-root.js';
import type { Definition } from '../contract/connection/definition.js';
import { configKeysOf } from '../contract/connection/schemas.js';
import { CONNECTION_TYPES } from '../contract/connection/types.js';

export function exampleFile(definitions: readonly Definition[] = CONNECTION_TYPES): string {
  const lines = definitions.flatMap((definition) =>
    configKeysOf(definition).map(
      ({ key, example, words }, index) =>
        `#       ${index === 0 ? '-' : ' '} ${key}: ${valueText(example)} # ${words}\n`,
    ),
  );
  return `${readFileSync(inPackage('src/config/example.yaml'), 'utf8')}#     connections:\n${lines.join('')}`;
}

function valueText(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', defaultStringType: 'PLAIN', lineWidth: 0 }).trim();
}
