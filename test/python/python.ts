/** Debian's Python, and the folders of the client and its tests. */
import { fileURLToPath } from 'node:url';

export const PYTHON = '/usr/bin/python3';
export const MYPY = '/usr/bin/mypy';
export const SOURCE = fileURLToPath(new URL('../../../src/python/', import.meta.url));
export const TESTS = fileURLToPath(new URL('../../../test/python/', import.meta.url));

/** Runs the client from its sources, without writing beside them. */
export function pythonEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return { ...process.env, PYTHONPATH: SOURCE, PYTHONDONTWRITEBYTECODE: '1', PYTHONWARNINGS: 'always', ...more };
}
