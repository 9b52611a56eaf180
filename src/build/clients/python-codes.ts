/** The codes of the Python client: its own errors, errors after which it retries, and the states of ended jobs. */
import { CLIENT_ERRORS } from '../../contract/errors.js';
import { FINAL } from '../../contract/job-states.js';
import { NOT_BEGUN, PASSING } from '../../contract/derived/error-lists.js';

export function pythonCodes(): string {
  return [
    '"""Codes that a client acts by. Made by the build from src/contract."""\n',
    'from typing import Literal\n',
    ownCodes(),
    setOf('NOT_BEGUN', NOT_BEGUN, 'Refused before anything began.'),
    setOf('PASSING', PASSING, 'May pass, whether begun or not.'),
    setOf('ENDED', FINAL, 'The states of a job that does nothing more.'),
  ].join('\n');
}

function ownCodes(): string {
  const codes = Object.keys(CLIENT_ERRORS).map((code) => `    "${code}",\n`);
  const texts = Object.entries(CLIENT_ERRORS).map(([code, { meaning }]) => `\`\`${code}\`\`: ${meaning}\n`);
  return `ClientErrorCode = Literal[\n${codes.join('')}]\n"""The client's own codes.\n\n${texts.join('')}"""\n`;
}

function setOf(name: string, codes: readonly string[], words: string): string {
  const lines = codes.map((code) => `        "${code}",\n`);
  return `${name} = frozenset(\n    {\n${lines.join('')}    }\n)\n"""${words}"""\n`;
}
