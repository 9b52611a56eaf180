/** The error codes after which the Python client retries. */
import { NOT_BEGUN, PASSING } from '../../contract/derived/error-lists.js';

export function pythonCodes(): string {
  return [
    '"""Codes of errors that a client repeats. Made by the build from src/contract."""\n',
    setOf('NOT_BEGUN', NOT_BEGUN, 'Refused before anything began.'),
    setOf('PASSING', PASSING, 'May pass, whether begun or not.'),
  ].join('\n');
}

function setOf(name: string, codes: readonly string[], words: string): string {
  const lines = codes.map((code) => `        "${code}",\n`);
  return `${name} = frozenset(\n    {\n${lines.join('')}    }\n)\n"""${words}"""\n`;
}
