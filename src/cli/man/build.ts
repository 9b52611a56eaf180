/** Writes dist/man/ftg.1, which the package ships. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createProgram } from '../program.js';
import { manPage } from './page.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { readonly version: string };
// Loads the descriptions of connections, which only their commands need.
const words = ['connections'];
const { signal } = new AbortController();
const program = await createProgram({ words, signal, version, handOver: () => undefined });
mkdirSync(`${ROOT}dist/man`, { recursive: true });
writeFileSync(`${ROOT}dist/man/ftg.1`, manPage(program, version));
