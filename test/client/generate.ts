/** The types of both APIs, made from their OpenAPI documents. Run by itself, it writes them. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import * as prettier from 'prettier';
import ts from 'typescript';
import { parametersOf } from '../../src/api/openapi/document.js';
import type { OpenApiDocument, Schema } from '../../src/api/openapi/types.js';
import { fileApi, managementApi } from '../api/openapi/route-table.js';

export interface GeneratedTypes {
  /** In the sources, from where this file runs. */
  readonly file: string;
  readonly document: () => OpenApiDocument;
}

export const GENERATED: readonly GeneratedTypes[] = [
  { file: source('api-types.ts'), document: () => fileApi().document },
  { file: source('management-types.ts'), document: () => managementApi().document },
];

export async function typesOf({ file, document }: GeneratedTypes): Promise<string> {
  const schemas = schemasAlone(document()) as unknown as OpenAPI3;
  const ast = await openapiTS(schemas, { defaultNonNullable: false, immutable: true });
  // The rest are empty: the document that they are made from has schemas alone.
  const components = ast.filter((node) => ts.isInterfaceDeclaration(node) && node.name.text === 'components');
  const text = `/* Made from the OpenAPI document by "npm run generate". */\n${astToString(components)}`;
  const config = await prettier.resolveConfig(file);
  return prettier.format(text, { ...config, filepath: file });
}

/** What a client is typed with: the schemas, and the query of each operation as one more of them. */
function schemasAlone(document: OpenApiDocument): object {
  const { openapi, info, paths, components } = document;
  const schemas = Object.fromEntries(
    Object.entries(components.schemas).map(([name, schema]) => [name, withoutConditions(schema)]),
  );
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
    const { operationId } = operation;
    const query = parametersOf(document, operation).filter((one) => one.in === 'query');
    if (query.length === 0 || operationId.endsWith('Head')) continue;
    const fields = query.map(({ name, schema, description }) => [name, { ...schema, description }] as const);
    const required = query.filter((one) => one.required === true).map(({ name }) => name);
    const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`;
    schemas[name] = { type: 'object', properties: Object.fromEntries(fields), required };
  }
  return { openapi, info, paths: {}, components: { schemas } };
}

/** Types know no `if`: of a schema with a form for each type, the forms are left. */
function withoutConditions({ allOf, ...schema }: Schema): Schema {
  if (allOf === undefined) return schema;
  return { ...schema, oneOf: (allOf as readonly { readonly then: Schema }[]).map(({ then }) => then) };
}

function source(name: string): string {
  return fileURLToPath(new URL(`../../../src/client/${name}`, import.meta.url));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const types of GENERATED) await writeFile(types.file, await typesOf(types));
}
