/** The files of the clients that are made from the OpenAPI documents and the contract. */
import { FILE_API, MANAGEMENT_API } from '../../api/openapi/apis.js';
import { buildDocument } from '../../api/openapi/document.js';
import type { Api, OpenApiDocument } from '../../api/openapi/types.js';
import { describedRoutes } from '../../docs/route-table.js';
import { API_TYPES, MANAGEMENT_TYPES, PYTHON_CODES, PYTHON_TYPES } from './files.js';
import { pythonCodes } from './python-codes.js';
import { pythonTypes } from './python.js';
import { typescriptTypes } from './typescript.js';

/** The texts by path from the root. */
export function textsOfContract(): Readonly<Record<string, string>> {
  const fileApi = documentOf(FILE_API);
  return {
    [API_TYPES]: typescriptTypes(fileApi),
    [MANAGEMENT_TYPES]: typescriptTypes(documentOf(MANAGEMENT_API)),
    [PYTHON_TYPES]: pythonTypes(fileApi),
    [PYTHON_CODES]: pythonCodes(),
  };
}

function documentOf(api: Api): OpenApiDocument {
  // In the form that the gateway sends.
  return JSON.parse(JSON.stringify(buildDocument(api, describedRoutes(), { publicUrl: '' }))) as OpenApiDocument;
}
