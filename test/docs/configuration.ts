/**
 * The page of all configuration keys, made from the example file and its comments, and the connections in both, made from the
 * definitions of their types. Run by itself, it writes them.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isMap, isScalar, isSeq, parseDocument, stringify, type YAMLMap } from 'yaml';
import type { Definition } from '../../src/connections/definition.js';
import { keysOf } from '../../src/connections/schemas.js';
import { CONNECTION_TYPES } from '../../src/connections/types.js';
import { ROOT } from './snippets.js';

export const PAGE_FILE = `${ROOT}docs/operate/configuration.md`;
export const EXAMPLE_FILE = `${ROOT}config/gateway.example.yaml`;
const CONNECTIONS = '#     connections:\n';

/** The example file, its connections made anew. */
export function exampleFile(definitions: readonly Definition[] = CONNECTION_TYPES): string {
  const [written = ''] = readFileSync(EXAMPLE_FILE, 'utf8').split(CONNECTIONS);
  const entries = definitions.map((definition) =>
    keysOf(definition)
      .map(
        ({ key, example, words }, index) =>
          `#       ${index === 0 ? '-' : ' '} ${key}: ${shownInFile(example)} # ${words}\n`,
      )
      .join(''),
  );
  return `${written}${CONNECTIONS}${entries.join('')}`;
}

function shownInFile(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', defaultStringType: 'PLAIN', lineWidth: 0 }).trim();
}

export function configurationPage(definitions: readonly Definition[] = CONNECTION_TYPES): string {
  const [settings = '', sample = ''] = readFileSync(EXAMPLE_FILE, 'utf8').split(/^accounts: \[\]\n/m);
  const sections = mappingIn(settings).items.map(({ key, value }) => {
    const name = keyOf(key);
    return table(name, 'default', isGroup(value) ? rowsOf(value, `${name}.`) : [row(name, value)]);
  });
  const accounts = mappingIn(sample.replace(/^# ?/gm, '')).get('accounts');
  if (!isSeq(accounts) || !isMap(accounts.items[0])) throw new Error('the example file shows no account');
  const connections = definitions.flatMap((definition) =>
    keysOf(definition).map(({ key, example, words }) =>
      line(`accounts[].connections[${definition.type}].${key}`, JSON.stringify(example), words),
    ),
  );
  sections.push(table('accounts', 'for example', [...listRowsOf(accounts.items[0], 'accounts[].'), ...connections]));
  return `# Configuration

Every key with its default, and the keys of accounts, API keys and connections with an example; made from \`config/gateway.example.yaml\` by
\`npm run generate\`. More about many of them: [tune](tune.md), [secure](secure.md), [deploy](deploy.md).

Environment variables win over the file: \`HOST\`, \`PORT\`, \`DATABASE_URL\`, \`GATEWAY_DATA_DIR\`, \`SMTP_URL\`, \`LOG_LEVEL\`. \`GATEWAY_CONFIG\` names the
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

/** As `rowsOf`; of the API keys those of one. */
function listRowsOf(map: YAMLMap, prefix: string): string[] {
  return map.items.flatMap(({ key, value }) => {
    const name = prefix + keyOf(key);
    if (keyOf(key) === 'connections' && isSeq(value) && isMap(value.items[0])) return [];
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

/** A mapping written over several lines has a comment for each of its keys. */
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeFile(EXAMPLE_FILE, exampleFile());
  await writeFile(PAGE_FILE, configurationPage());
}
