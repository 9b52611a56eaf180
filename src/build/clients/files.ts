/**
 * The files of the clients that the build makes, with paths from the root. They are beside the sources that import
 * them; git ignores them.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../root.js';

export const API_TYPES = 'src/client/api-types.ts';
export const MANAGEMENT_TYPES = 'src/client/management-types.ts';

const PYTHON = 'src/python/file_transfer_gateway';
export const PYTHON_TYPES = `${PYTHON}/types.py`;
export const PYTHON_CODES = `${PYTHON}/_codes.py`;
export const [ASYNC, SYNC] = [`${PYTHON}/_async`, `${PYTHON}/_sync`];
/** The source of both halves. */
export const PYTHON_SOURCES = 'src/python/client';
/** Modules whose halves differ in more than waiting: each half has its own. */
const BY_HAND: readonly string[] = ['__init__.py', 'io.py'];

/** The modules in this folder that are the source of both halves of the Python client, or made from it. */
export function twinsIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.py') && !BY_HAND.includes(name));
}

export function clientFiles(): string[] {
  const modules = twinsIn(PYTHON_SOURCES).flatMap((name) => [ASYNC, SYNC].map((half) => `${half}/${name}`));
  return [API_TYPES, MANAGEMENT_TYPES, PYTHON_TYPES, PYTHON_CODES, ...modules];
}
