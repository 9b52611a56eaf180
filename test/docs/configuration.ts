/** The page of all configuration keys, made from the example file and its comments. Run by itself, it writes the page. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml';
import { ROOT } from './snippets.js';

export const PAGE_FILE = `${ROOT}docs/configuration.md`;
const EXAMPLE_FILE = `${ROOT}config/gateway.example.yaml`;

export function configurationPage(): string {
  const [settings = '', sample = ''] = readFileSync(EXAMPLE_FILE, 'utf8').split(/^accounts: \[\]\n/m);
  const sections = mappingIn(settings).items.map(({ key, value }) => {
    const name = keyOf(key);
    return table(name, 'default', isGroup(value) ? rowsOf(value, `${name}.`) : [row(name, value)]);
  });
  const accounts = mappingIn(sample.replace(/^# ?/gm, '')).get('accounts');
  if (!isSeq(accounts) || !isMap(accounts.items[0])) throw new Error('the example file shows no account');
  sections.push(table('accounts', 'for example', listRowsOf(accounts.items[0], 'accounts[].')));
  return `# Configuration

Every key with its default, and the keys of accounts, API keys and connections with an example; made from \`config/gateway.example.yaml\` by
\`npm run generate\`. What cannot be guessed from a key's line stands in [operator.md](operator.md).

Environment variables win over the file: \`HOST\`, \`PORT\`, \`DATABASE_URL\`, \`GATEWAY_DATA_DIR\`, \`LOG_LEVEL\`. \`GATEWAY_CONFIG\` names the
file, \`GATEWAY_MASTER_KEY\` is the key that encrypts secrets in the database. \`\${NAME}\` and \`\${NAME:-default}\` in a value take any other one.

${sections.join('\n')}`;
}

function mappingIn(text: string): YAMLMap {
  const { contents, errors } = parseDocument(text);
  if (errors.length > 0 || !isMap(contents)) throw new Error('the example file is no mapping');
  return contents;
}

function table(name: string, second: string, rows: readonly string[]): string {
  return `## ${name}\n\n| key | ${second} | meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
}

/** As `rowsOf`; of lists of mappings each item, because connections of other types have other keys. */
function listRowsOf(map: YAMLMap, prefix: string, words = new Map<string, string>()): string[] {
  return map.items.flatMap(({ key, value }) => {
    const name = prefix + keyOf(key);
    if (!isSeq(value) || !isMap(value.items[0])) return [row(name, value, wordsOf(keyOf(key), value, words))];
    return value.items.flatMap((item) => {
      if (!isMap(item)) return [];
      const type = item.get('type');
      return listRowsOf(item, typeof type === 'string' ? `${name}[${type}].` : `${name}[].`, words);
    });
  });
}

function rowsOf(map: YAMLMap, prefix: string): string[] {
  return map.items.flatMap(({ key, value }) => {
    const name = prefix + keyOf(key);
    return isGroup(value) ? rowsOf(value, `${name}.`) : [row(name, value)];
  });
}

/** A mapping written over several lines has a comment for each of its keys. */
function isGroup(value: unknown): value is YAMLMap {
  return isMap(value) && value.flow !== true;
}

/** What is said of a key once holds for its namesakes further down that say nothing of their own. */
function wordsOf(key: string, value: unknown, words: Map<string, string>): string {
  const own = commentOf(value);
  if (own !== '') words.set(key, own);
  return words.get(key) ?? '';
}

function row(name: string, value: unknown, meaning = commentOf(value)): string {
  const shown = isScalar(value) ? JSON.stringify(value.value) : String(value).trim().replaceAll(/\s+/g, ' ');
  return `| \`${name}\` | \`${shown}\` | ${meaning.replaceAll('|', '\\|')} |`;
}

function commentOf(value: unknown): string {
  return ((value as { readonly comment?: string | null }).comment ?? '').trim();
}

function keyOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(PAGE_FILE, configurationPage());
