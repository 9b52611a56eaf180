/**
 * Writes gateway.yaml with its comments and the environment file beside it, and validates both with the gateway's
 * loader.
 */
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseEnv } from 'node:util';
import { Document, isMap, isPair, isScalar, parseDocument, visit } from 'yaml';
import { systemCodeOf } from '../../base/errors.js';
import { inPackage } from '../../base/package-root.js';
import { loadConfig } from '../../config/load.js';
import { ConfigError, type Mistake } from '../../config/mistakes.js';
import type { Definition } from '../../contract/connection/definition.js';
import { configKeysOf } from '../../contract/connection/schemas.js';
import { UsageError } from '../exit-codes.js';
import { partOf, publish } from '../store.js';
import type { Made, Secrets } from './answers.js';

const EXAMPLE = inPackage('config/gateway.example.yaml');

/** Each key has the comment of the example file, or the description in its type of connection. */
export function yamlOf(tree: object, definition: Definition | undefined, head: string): string {
  const words = exampleWords();
  const keys = definition === undefined ? [] : configKeysOf(definition);
  const document = new Document(tree);
  document.commentBefore = head;
  visit(document, {
    Pair(_, pair, ancestors) {
      const names = [...ancestors, pair].flatMap((node) =>
        isPair(node) && isScalar(node.key) ? [String(node.key.value)] : [],
      );
      const name = names.at(-1) ?? '';
      const said =
        names.at(-2) === 'connections' ? keys.find(({ key }) => key === name)?.words : words.get(names.join('.'));
      if (said !== undefined && isScalar(pair.value)) pair.value.comment = ` ${said}`;
      if (names.length === 1 && name !== 'server' && isScalar(pair.key)) pair.key.spaceBefore = true;
    },
  });
  return document.toString({ lineWidth: 0 });
}

function exampleWords(): ReadonlyMap<string, string> {
  const [settings = '', sample = ''] = readFileSync(EXAMPLE, 'utf8').split(/^accounts: \[\]\n/m);
  const words = new Map<string, string>();
  for (const source of [settings, sample.replace(/^# ?/gm, '')]) {
    visit(parseDocument(source), {
      Pair(_, pair, ancestors) {
        if (!isScalar(pair.key) || isMap(pair.value)) return;
        const names = [...ancestors, pair].flatMap((node) =>
          isPair(node) && isScalar(node.key) ? [String(node.key.value)] : [],
        );
        const { comment } = (pair.value ?? {}) as { readonly comment?: string | null };
        if (typeof comment === 'string') words.set(names.join('.'), comment.trim());
      },
    });
  }
  return words;
}

/** Found by the loader of the gateway. */
export async function mistakesIn(yaml: string, secrets: Secrets): Promise<readonly Mistake[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ftg-init-'));
  try {
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, yaml);
    loadConfig({ file, env: secrets });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Existing values are kept: without its master key all stored secrets are lost. */
export function keptSecrets(file: string): Secrets {
  try {
    return parseEnv(readFileSync(file, 'utf8')) as Secrets;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return {};
    throw error;
  }
}

/** One per line, for shells, systemd and --env-file. @throws UsageError for a secret that such a line cannot contain */
export function envOf({ secrets }: Pick<Made, 'secrets'>, config: string): string {
  const lines = Object.entries(secrets).map(([name, value]) => {
    if (/^[\w+/=.:@-]*$/.test(value)) return `${name}=${value}\n`;
    // eslint-disable-next-line no-control-regex
    if (!/['\u0000-\u001f]/.test(value)) return `${name}='${value}'\n`;
    throw new UsageError(`${name} holds a quote or a line break, which an environment file cannot: use --no-env-file`);
  });
  return `# Secrets of ${basename(config)}: for the gateway alone. Without GATEWAY_MASTER_KEY the stored secrets are lost.\n${lines.join('')}`;
}

/** Complete or not at all; only its owner may read a file of secrets. */
export async function store(file: string, content: string, overwrite: boolean, isSecret: boolean): Promise<void> {
  const part = partOf(file);
  try {
    await writeFile(part, content, { flag: 'wx', mode: isSecret ? 0o600 : 0o644 });
    if (isSecret) await chmod(part, 0o600);
    await publish(part, file, overwrite);
  } finally {
    await rm(part, { force: true });
  }
}
