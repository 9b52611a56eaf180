/**
 * What the Python client does not write by hand: its types, made from the OpenAPI document, the codes that it repeats, and its synchronous half, made from
 * the asynchronous one. Run by itself, it writes them.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NOT_BEGUN, PASSING } from '../../src/contract/derived/error-lists.js';
import { fileApi } from '../api/openapi/route-table.js';
import { pythonTypes } from './types.js';

const PACKAGE = fileURLToPath(new URL('../../../src/python/file_transfer_gateway/', import.meta.url));
/** What the two halves do not share: `io.py` is written by hand for each. */
const BY_HAND: readonly string[] = ['__init__.py', 'io.py'];

/** In this order, each on whole words. */
const TO_SYNC: readonly (readonly [RegExp, string])[] = [
  [/\basync (def|for|with)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\bAsyncGenerator\[(.+), None\]/g, 'Generator[$1, None, None]'],
  [/\b(Stop)?Async(?=[A-Z])/g, '$1'],
  [/\b__a(enter|exit|iter|next)__\b/g, '__$1__'],
  [/\ba(close|read|iter_raw|iter_bytes)\b/g, '$1'],
];

export interface GeneratedFile {
  /** Of the package. */
  readonly name: string;
  readonly text: string;
}

export function generated(): GeneratedFile[] {
  const twins = readdirSync(join(PACKAGE, '_async'))
    .filter((name) => name.endsWith('.py') && !BY_HAND.includes(name))
    .map((name) => ({
      name: `_sync/${name}`,
      text: twinOf(name, readFileSync(join(PACKAGE, '_async', name), 'utf8')),
    }));
  return [{ name: 'types.py', text: pythonTypes(fileApi().document) }, { name: '_codes.py', text: codes() }, ...twins];
}

function codes(): string {
  const set = (name: string, list: readonly string[], words: string): string =>
    [
      `${name} = frozenset(`,
      '    {',
      ...list.map((code) => `        "${code}",`),
      '    }',
      ')',
      `"""${words}"""`,
      '',
    ].join('\n');
  return [
    '"""Codes of errors that a client repeats. Made from src/contract by "npm run generate"."""\n',
    set('NOT_BEGUN', NOT_BEGUN, 'Refused before anything began.'),
    set('PASSING', PASSING, 'May pass, whether begun or not.'),
  ].join('\n');
}

export function written(name: string): string {
  return readFileSync(join(PACKAGE, name), 'utf8');
}

/** The same without waiting. */
function twinOf(name: string, source: string): string {
  const text = TO_SYNC.reduce((code, [from, to]) => code.replace(from, to), source);
  return `# Made from _async/${name} by "npm run generate".\n${text}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name, text } of generated()) writeFileSync(join(PACKAGE, name), text);
}
