/** The Markdown files of the project: those in its root and all below docs/. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { withTables } from './tables.js';

/** The root of the project, relative to this file. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The page that sets the order of all others. */
export const CONTENTS = 'docs/README.md';

export interface Source {
  /** From the root of the project. */
  readonly file: string;
  /** At the running gateway. */
  readonly address: string;
  /** Including the tables made from the contract. */
  readonly text: string;
}

export function readSources(): Source[] {
  const files = [
    ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
      .map((name) => `docs/${name.replaceAll('\\', '/')}`)
      .sort(),
    ...readdirSync(ROOT).sort(),
  ].filter((name) => name.endsWith('.md'));
  const sources = files.map((file) => ({
    file,
    address: addressOf(file),
    text: withTables(readFileSync(join(ROOT, file), 'utf8')),
  }));
  const twice = sources.find(({ address }, index) => sources.findIndex((one) => one.address === address) !== index);
  if (twice !== undefined) throw new Error(`two pages have the address ${twice.address}`);
  return sources;
}

/**
 * A README is the page of its folder; that of docs/ has another name, because /docs itself is the reference of the API.
 */
export function addressOf(file: string): string {
  if (file === CONTENTS) return '/docs/contents';
  const inFolder = basename(file) === 'README.md' && dirname(file) !== '.' ? dirname(file) : file;
  const bare = inFolder.replace(/\.md$/, '');
  return bare.startsWith('docs/') ? `/${bare}` : `/docs/${bare.toLowerCase()}`;
}
