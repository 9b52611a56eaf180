/** The page of all configuration keys, made from the example file and its comments. Run by itself, it writes the page. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isMap, isScalar, parseDocument, type YAMLMap } from 'yaml';
import { ROOT } from './snippets.js';

export const PAGE_FILE = `${ROOT}docs/configuration.md`;
const EXAMPLE_FILE = `${ROOT}config/gateway.example.yaml`;

export function configurationPage(): string {
  const { contents, errors } = parseDocument(readFileSync(EXAMPLE_FILE, 'utf8'));
  if (errors.length > 0 || !isMap(contents)) throw new Error('the example file is no mapping');
  const sections: string[] = [];
  for (const { key, value } of contents.items) {
    const name = keyOf(key);
    const rows = isGroup(value) ? rowsOf(value, `${name}.`) : [row(name, value)];
    sections.push(`## ${name}\n\n| key | default | meaning |\n|---|---|---|\n${rows.join('\n')}\n`);
  }
  return `# Configuration

Every key with its default; made from \`config/gateway.example.yaml\` by \`npm run generate\`. That file shows accounts, API keys and
connections in full, too. What cannot be guessed from a key's line stands in [operator.md](operator.md).

Environment variables win over the file: \`HOST\`, \`PORT\`, \`DATABASE_URL\`, \`GATEWAY_DATA_DIR\`, \`LOG_LEVEL\`. \`GATEWAY_CONFIG\` names the
file, \`GATEWAY_MASTER_KEY\` is the key that encrypts secrets in the database. \`\${NAME}\` and \`\${NAME:-default}\` in a value take any other one.

${sections.join('\n')}`;
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
  const { comment } = value as { readonly comment?: string | null };
  const shown = isScalar(value) ? JSON.stringify(value.value) : String(value).trim().replaceAll(/\s+/g, ' ');
  return `| \`${name}\` | \`${shown}\` | ${(comment ?? '').trim().replaceAll('|', '\\|')} |`;
}

function keyOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(PAGE_FILE, configurationPage());
