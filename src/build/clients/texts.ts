/** The files of the clients that are made from the OpenAPI documents and the contract. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_API, MANAGEMENT_API } from '../../api/openapi/apis.js';
import { buildDocument } from '../../api/openapi/document.js';
import type { Api, OpenApiDocument } from '../../api/openapi/types.js';
import { CLIENT_ERRORS } from '../../contract/errors.js';
import { describedRoutes } from '../../docs/route-table.js';
import { ROOT } from '../root.js';
import {
  API_TYPES,
  ASYNC,
  MANAGEMENT_TYPES,
  PYTHON_CODES,
  PYTHON_SOURCES,
  PYTHON_TYPES,
  SYNC,
  twinsIn,
} from './files.js';
import { pythonCodes } from './python-codes.js';
import { requestsOf } from './python-fields.js';
import { halvesOf } from './python-twin.js';
import { pythonTypes } from './python.js';
import { typescriptTypes } from './typescript.js';

/** The texts by path from the root. */
export function textsOfClients(): Readonly<Record<string, string>> {
  const fileApi = documentOf(FILE_API);
  return {
    [API_TYPES]: typescriptTypes(fileApi) + clientErrorType(),
    [MANAGEMENT_TYPES]: typescriptTypes(documentOf(MANAGEMENT_API)),
    [PYTHON_TYPES]: pythonTypes(fileApi),
    [PYTHON_CODES]: pythonCodes(),
    ...pythonModules(fileApi),
  };
}

/** The codes of errors that no gateway sends. */
function clientErrorType(): string {
  const lines = Object.entries(CLIENT_ERRORS).map(([code, { meaning }]) => ` * \`${code}\`: ${meaning}\n`);
  const codes = Object.keys(CLIENT_ERRORS).map((code) => `'${code}'`);
  return `\n/**\n * The client's own codes.\n *\n${lines.join('')} */\nexport type ClientErrorCode = ${codes.join(' | ')};\n`;
}

function pythonModules(document: OpenApiDocument): Readonly<Record<string, string>> {
  const requests = requestsOf(document);
  const modules = twinsIn(PYTHON_SOURCES).flatMap((name) => {
    const { asynchronous, synchronous } = halvesOf(
      name,
      readFileSync(join(ROOT, PYTHON_SOURCES, name), 'utf8'),
      requests,
    );
    return [[`${ASYNC}/${name}`, asynchronous] as const, [`${SYNC}/${name}`, synchronous] as const];
  });
  return Object.fromEntries(modules);
}

function documentOf(api: Api): OpenApiDocument {
  // In the form that the gateway sends.
  return JSON.parse(JSON.stringify(buildDocument(api, describedRoutes(), { publicUrl: '' }))) as OpenApiDocument;
}
