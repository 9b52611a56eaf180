/**
 * Clients generated from the document: their code compiles, and transfers files unchanged. A failure is a body whose
 * type is text, or a form that is sent as JSON. The types of our own client are compared with theirs.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import type { Schema } from '../../../src/api/openapi/types.js';
import { typescriptTypes } from '../../../src/build/clients/typescript.js';
import { ROOT } from '../../../src/build/root.js';
import { openAccount, type TestAccount } from '../../support/account.js';
import { KEY } from '../../support/gateway.js';
import { fileApi, managementApi } from './route-table.js';

const PACKAGES = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
/** The calls of each client: a form, raw bytes, and the same bytes back. */
interface Caller {
  form(url: string, key: string, bytes: Uint8Array): Promise<void>;
  raw(url: string, key: string, bytes: Uint8Array): Promise<void>;
  download(url: string, key: string, path: string): Promise<Uint8Array>;
}

const OPENAPI_FETCH = `
import createClient from 'openapi-fetch';
import type { paths } from './types.js';

const client = (url: string, key: string) =>
  createClient<paths>({ baseUrl: url, headers: { Authorization: 'Bearer ' + key } });
const path = { connectionId: 'sandbox' };

export async function form(url: string, key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const { data, error } = await client(url, key).POST('/api/upload/{connectionId}', {
    params: { path },
    body: { file: new Blob([bytes]), filename: 'form.bin' },
    bodySerializer: (body) => {
      const form = new FormData();
      for (const [name, value] of Object.entries(body)) form.append(name, value as string | Blob);
      return form;
    },
  });
  if (data === undefined) throw new Error(error.error);
  const size: number = 'transfer' in data ? data.transfer.size : 0;
  if (size !== bytes.length) throw new Error('size ' + size);
}

export async function raw(url: string, key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const { data, error } = await client(url, key).POST('/api/upload/{connectionId}', {
    params: { path, query: { filename: 'raw.bin' } },
    headers: { 'Content-Type': 'application/octet-stream' },
    body: new Blob([bytes]),
    bodySerializer: (body) => body as Blob,
  });
  if (data === undefined) throw new Error(error.error);
}

export async function download(url: string, key: string, file: string): Promise<Uint8Array> {
  const { data, error } = await client(url, key).GET('/api/download/{connectionId}', {
    params: { path, query: { path: file } },
    parseAs: 'blob',
  });
  if (data === undefined) throw new Error(error?.error);
  const blob: Blob = data;
  return new Uint8Array(await blob.arrayBuffer());
}
`;

/** This generator knows one type of body for an operation, and prefers JSON: others need its hooks and a cast. */
const HEY_API = `
import { createClient, createConfig, formDataBodySerializer } from './client/index.js';
import { downloadFile, uploadFile } from './sdk.gen.js';
import type { UploadMultipart } from './types.gen.js';

const client = (url: string, key: string) => createClient(createConfig({ baseUrl: url, auth: () => key }));
const path = { connectionId: 'sandbox' };

export async function form(url: string, key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const body: UploadMultipart = { file: new Blob([bytes]), filename: 'form.bin' };
  const headers = { 'Content-Type': null } as never;
  const { data, error } = await uploadFile({
    client: client(url, key), path, body: body as never, ...formDataBodySerializer, headers,
  });
  if (data === undefined) throw new Error(error.error);
  const size: number = 'transfer' in data ? data.transfer.size : 0;
  if (size !== bytes.length) throw new Error('size ' + size);
}

export async function raw(url: string, key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const headers = { 'Content-Type': 'application/octet-stream' } as never;
  const { data, error } = await uploadFile({
    client: client(url, key), path, query: { filename: 'raw.bin' }, body: new Blob([bytes]) as never, bodySerializer: null, headers,
  });
  if (data === undefined) throw new Error(error.error);
}

export async function download(url: string, key: string, file: string): Promise<Uint8Array> {
  const { data, error } = await downloadFile({ client: client(url, key), path, query: { path: file } });
  if (data === undefined) throw new Error(error?.error);
  return new Uint8Array(await (data as unknown as Blob).arrayBuffer());
}
`;

let gateway: TestAccount;
let document: object;

before(async () => {
  gateway = await openAccount({ sandbox: true });
  document = (await gateway.api.get('/openapi.json')).json;
});
after(() => gateway?.stop());

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'generated-'));
  symlinkSync(PACKAGES, join(made, 'node_modules'));
  writeFileSync(join(made, 'package.json'), '{ "type": "module" }');
  return made;
}

/** The caller of a generated client. */
async function compiled(source: string, where: string): Promise<Caller> {
  const file = join(where, 'caller.ts');
  writeFileSync(file, source);
  compile(file);
  return (await import(pathToFileURL(file.replace(/\.ts$/, '.js')).href)) as Caller;
}

/** With the strict settings of callers. */
function compile(...files: readonly string[]): void {
  const program = ts.createProgram(files, {
    strict: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
    skipLibCheck: true,
  });
  const mistakes = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText, file: at }) => `${at?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
  assert.deepEqual(mistakes, []);
  program.emit();
}

async function moveFiles(caller: Caller): Promise<void> {
  const url = `http://127.0.0.1:${gateway.port}`;
  const key = gateway.keyOf(KEY);
  const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
  await caller.form(url, key, bytes);
  assert.deepEqual(await caller.download(url, key, '/form.bin'), bytes);
  await caller.raw(url, key, bytes.subarray(1));
  assert.deepEqual(await caller.download(url, key, '/raw.bin'), bytes.slice(1));
}

test('openapi-typescript with openapi-fetch', async () => {
  const where = folder();
  const ast = await openapiTS(document as OpenAPI3, {
    // The settings that its manual advises for fields with a default, and for bytes.
    defaultNonNullable: false,
    transform: ({ format }) =>
      format === 'binary' ? ts.factory.createTypeReferenceNode(ts.factory.createIdentifier('Blob')) : undefined,
  });
  writeFileSync(join(where, 'types.ts'), astToString(ast));
  await moveFiles(await compiled(OPENAPI_FETCH, where));
});

/** Does not compile if a schema or a query differs; the error names it. */
const comparison = (name: string): string => `
import type { components as Ours } from './${name}-ours.js';
import type { components as Theirs, operations } from './${name}-theirs.js';

type Queries = {
  [K in keyof operations as \`\${Capitalize<K>}Query\`]: NonNullable<operations[K]['parameters']['query']>;
};
type Schemas = Ours['schemas'];
type Expected = Theirs['schemas'] & Queries;
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Differing = {
  [K in keyof Schemas]: K extends keyof Expected ? (Same<Schemas[K], Expected[K]> extends true ? never : K) : K;
}[keyof Schemas];
type Missing = Exclude<keyof Theirs['schemas'], keyof Schemas>;

export const different: [Differing | Missing] extends [never] ? 'none' : Differing | Missing = 'none';
`;

/** TypeScript has no equivalent of `if`, and openapi-typescript ignores it. */
function withoutConditions(schema: Schema): Schema {
  const { allOf, ...rest } = schema;
  if (allOf === undefined) return schema;
  return { ...rest, oneOf: (allOf as readonly { readonly then: Schema }[]).map(({ then }) => then) };
}

test('the types of our own client are those that openapi-typescript makes', async () => {
  const where = folder();
  const files: string[] = [];
  for (const [name, api] of Object.entries({ api: fileApi(), management: managementApi() })) {
    const ours = readFileSync(join(ROOT, `src/client/${name}-types.ts`), 'utf8');
    // The codes of the client itself follow them.
    assert.ok(ours.startsWith(typescriptTypes(api.document)), 'the build has not written them');
    writeFileSync(join(where, `${name}-ours.ts`), ours);
    const { schemas, ...others } = api.document.components;
    const plain = Object.entries(schemas).map(([key, schema]) => [key, withoutConditions(schema)] as const);
    const document = { ...api.document, components: { ...others, schemas: Object.fromEntries(plain) } };
    const ast = await openapiTS(document as unknown as OpenAPI3, { defaultNonNullable: false, immutable: true });
    writeFileSync(join(where, `${name}-theirs.ts`), astToString(ast));
    const file = join(where, `${name}.ts`);
    writeFileSync(file, comparison(name));
    files.push(file);
  }
  compile(...files);
  const changed = join(where, 'api-ours.ts');
  writeFileSync(changed, readFileSync(changed, 'utf8').replace('?: ', ': '));
  assert.throws(() => compile(...files), /AttentionClearedEvent/);
});

test('hey-api', async () => {
  const where = folder();
  await createClient({
    input: document as never,
    output: { path: where, clean: false, module: { extension: '.js' } },
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    logs: { level: 'silent' },
  });
  await moveFiles(await compiled(HEY_API, where));
});
