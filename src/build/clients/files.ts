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
/** Modules whose halves differ in more than waiting: each half has its own. */
const BY_HAND: readonly string[] = ['__init__.py', 'io.py'];

/** The modules in one half of the Python client that are the source of the other half, or made from it. */
export function twinsIn(half: string): string[] {
  return readdirSync(join(ROOT, half)).filter((name) => name.endsWith('.py') && !BY_HAND.includes(name));
}

export function clientFiles(): string[] {
  return [API_TYPES, MANAGEMENT_TYPES, PYTHON_TYPES, PYTHON_CODES, ...twinsIn(ASYNC).map((name) => `${SYNC}/${name}`)];
}
