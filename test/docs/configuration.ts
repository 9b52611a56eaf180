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
const FIRST_FILE = `\`\`\`yaml check configuration
server:
  host: 0.0.0.0
  publicUrl: https://files.example.com
  trustedProxies: [10.0.0.0/8]
database:
  url: \${DATABASE_URL}
metrics:
  token: \${METRICS_TOKEN}
accounts:
  - email: ops@example.com
    plan: pro
    password: \${OPS_PASSWORD}
    connections:
      - id: warehouse
        name: Warehouse
        type: sftp
        host: sftp.example.com
        username: gw
        password: \${WAREHOUSE_PASSWORD}
\`\`\``;

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
  const names = [...mappingIn(settings).items.map(({ key }) => keyOf(key)), 'accounts'];
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

[Tune](tune.md) · [Operate](README.md) · next: [Management API](manage-api.md)

The gateway reads one YAML file. \`GATEWAY_CONFIG\` names it. Without a file all defaults apply. An unknown key or a wrong value ends the start, with one
line for each mistake.

${names.map((name) => `[${name}](#${name.toLowerCase()})`).join(' · ')}

A file to begin with:

${FIRST_FILE}

Environment variables win over the file: \`HOST\`, \`PORT\`, \`DATABASE_URL\`, \`GATEWAY_DATA_DIR\`, \`SMTP_URL\` and \`LOG_LEVEL\`. \`GATEWAY_MASTER_KEY\` is
the key that encrypts secrets in the database. In a value, \`\${NAME}\` and \`\${NAME:-default}\` take any other variable.

The tables have every key with its default. For accounts, API keys and connections they show an example. They are made from
\`config/gateway.example.yaml\` by \`npm run generate\`. More about many keys: [deploy](deploy.md), [secure](secure.md), [tune](tune.md).

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
