/** The documents themselves: valid, complete, and consistent with the route table and the catalogue of errors. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ERRORS } from '../../../src/contract/errors.js';
import { parametersOf, responsesOf } from '../../../src/api/openapi/document.js';
import type { MediaType, OpenApiDocument, OperationObject, Schema } from '../../../src/api/openapi/types.js';
import { codesOf, type DocumentedApi, fileApi, managementApi } from './route-table.js';

const FILES = fileApi();
const MANAGEMENT = managementApi();

interface NamedOperation {
  readonly name: string;
  readonly operation: OperationObject;
}

function operationsOf(document: OpenApiDocument): NamedOperation[] {
  return [document.paths, document.webhooks].flatMap((group) =>
    Object.entries(group).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
    ),
  );
}

function check({ table, document }: DocumentedApi): void {
  const operations = operationsOf(document);

  test('a validator of OpenAPI 3.1 finds nothing wrong', async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(document) as unknown as Record<string, unknown>);
    assert.deepEqual(result, { valid: true });
    assert.equal(validator.version, '3.1');
    assert.equal(document.info.version, '1.0.0');
  });

  test('the document and the route table agree, in both directions', () => {
    const rows = table.flatMap(({ method, path, head }) => {
      const shown = path.replace(/:(\w+)/g, '{$1}');
      return [`${method.toLowerCase()} ${shown}`, ...(head === true ? [`head ${shown}`] : [])];
    });
    const documented = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    assert.deepEqual(documented.sort(), rows.sort());
  });

  test('the schemas of the document are those of the rows', () => {
    for (const row of table) {
      const operation = document.paths[row.path.replace(/:(\w+)/g, '{$1}')]?.[row.method.toLowerCase()];
      assert.ok(operation, row.path);
      const query = (row.query ?? {}) as { properties?: Record<string, object>; required?: string[] };
      const parameters = parametersOf(document, operation);
      const shown = parameters.filter((parameter) => parameter.in === 'query');
      assert.deepEqual(
        Object.fromEntries(shown.map(({ name, schema }) => [name, schema])),
        JSON.parse(
          JSON.stringify(
            Object.fromEntries(
              Object.entries(query.properties ?? {}).map(([name, schema]) => [name, withoutWords(schema)]),
            ),
          ),
        ),
      );
      assert.deepEqual(
        shown.filter(({ required }) => required === true).map(({ name }) => name),
        query.required ?? [],
      );
      assert.equal(operation.requestBody !== undefined, row.body !== 'none', `${row.path}: body`);
      if (row.json !== undefined) {
        const schema = resolve(document, operation.requestBody?.content['application/json']?.schema ?? {});
        assert.deepEqual(plain(document, schema), plain(document, row.json as Schema));
      }
      const names = parameters.filter((one) => one.in === 'header').map(({ name }) => name);
      assert.equal(names.includes('Idempotency-Key'), row.idempotent === true, row.path);
      assert.equal(names.includes('traceparent'), row.access !== 'public', row.path);
      assert.ok(names.includes('X-Request-Id'), row.path);
      for (const [status, { headers = {} }] of responsesOf(document, operation)) {
        assert.ok('X-Request-Id' in headers, `${row.path} ${status}`);
        if (Number(status) >= 400) continue;
        const isOperation = ['read', 'write', 'exec'].includes(row.access);
        assert.equal('Server-Timing' in headers, isOperation, `${row.path} ${status}`);
      }
      assert.deepEqual(operation.security.length > 0, row.access !== 'public' || row.path === '/metrics', row.path);
    }
  });

  test('every operation, parameter and field is described, and ids are unique', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    assert.equal(new Set(ids).size, ids.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { name, operation } of operations) {
      assert.ok(operation.summary !== '' && operation.description !== '', name);
      assert.ok(tags.includes(operation.tags[0] ?? ''), name);
      for (const parameter of parametersOf(document, operation)) {
        assert.ok(parameter.description !== '', `${name}: ${parameter.name} is not described`);
        assert.ok(parameter.example !== undefined, `${name}: ${parameter.name} has no example`);
      }
    }
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      assertDescribed(name, schema);
    }
  });

  test('every body and every parameter has examples, and each keeps to its schema', () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema(document, 'openapi');
    const check = (schema: Schema, value: unknown, name: string): void => {
      const text = JSON.stringify(schema).replaceAll('"#/', '"openapi#/');
      const validate = ajv.compile(JSON.parse(text) as object);
      assert.ok(validate(value), `${name}: ${ajv.errorsText(validate.errors)}`);
    };
    const checkMedia = (content: Readonly<Record<string, MediaType>> | undefined, name: string): void => {
      for (const [type, { schema = {}, examples = {} }] of Object.entries(content ?? {})) {
        assert.ok(Object.keys(examples).length > 0, `${name} ${type} has no example`);
        for (const { value } of Object.values(examples)) check(schema, value, `${name} ${type}`);
      }
    };
    for (const { name, operation } of operations) {
      checkMedia(operation.requestBody?.content, name);
      for (const { name: parameter, schema, example } of parametersOf(document, operation))
        check(schema, example, `${name} ${parameter}`);
      for (const [status, { content }] of responsesOf(document, operation)) checkMedia(content, `${name} ${status}`);
    }
  });
}

describe('the API for files', () => check(FILES));
describe('the API for management', () => check(MANAGEMENT));

test('the validator would find a mistake', async () => {
  const broken = { ...structuredClone(FILES.document), paths: { '/x': { get: { responses: 'none' } } } };
  assert.equal((await new Validator().validate(broken as unknown as Record<string, unknown>)).valid, false);
});

/** Codes that the S3 front answers in its XML, and those that appear only in jobs or in the history. */
const HIDDEN = [
  ...['invalid_part', 'invalid_part_order', 'part_too_small'],
  ...['source_suspicious', 'client_gone', 'copy_unverified', 'too_many_sessions'],
];
/** Statuses that no operation returns are only in the table. */
const WITHOUT_OPERATION = ['unknown_route', 'method_not_allowed'];

/** Asserts that each field has a description, at any depth. */
function assertDescribed(place: string, { properties = {}, items }: Schema): void {
  for (const [field, inner] of Object.entries(properties as Record<string, Schema>)) {
    assert.ok('description' in inner, `${place}.${field} is not described`);
    assertDescribed(`${place}.${field}`, inner);
  }
  if (items !== undefined) assertDescribed(place, items as Schema);
}

function givenCodes(document: OpenApiDocument): string[] {
  const given = operationsOf(document).flatMap(({ operation }): readonly string[] => operation['x-error-codes'] ?? []);
  return Object.keys(ERRORS).filter((code) => given.includes(code) || WITHOUT_OPERATION.includes(code));
}

for (const { document } of [FILES, MANAGEMENT]) {
  test(`the error codes of the ${document.info.title} are those that its operations return`, () => {
    assert.deepEqual(codesOf(document), givenCodes(document));
  });
}

test('every code of the catalogue that a client can see is returned by an operation', () => {
  const given = new Set([...givenCodes(FILES.document), ...givenCodes(MANAGEMENT.document)]);
  assert.deepEqual(
    Object.keys(ERRORS).filter((code) => !given.has(code)),
    HIDDEN,
  );
});

test('a name means the same in both documents, and none is that of a global of JavaScript', () => {
  const [files, management] = [FILES.document.components.schemas, MANAGEMENT.document.components.schemas];
  for (const [name, schema] of Object.entries(management)) {
    assert.ok(!(name in globalThis), name);
    if (name in files && name !== 'ErrorCode')
      assert.deepEqual(plain(MANAGEMENT.document, schema), plain(FILES.document, files[name] as Schema), name);
  }
  for (const name of Object.keys(files)) assert.ok(!(name in globalThis), name);
});

test('the server is the public URL, or the origin of the request', () => {
  assert.equal(fileApi('https://files.example.com/').document.servers[0]?.url, 'https://files.example.com');
  assert.equal(FILES.document.servers[0]?.url, '/');
});

function resolve(document: OpenApiDocument, schema: Schema): Schema {
  const reference = schema['$ref'];
  if (typeof reference !== 'string') return schema;
  const found = document.components.schemas[reference.slice('#/components/schemas/'.length)];
  assert.ok(found, reference);
  return found;
}

/** The parameter itself has them. */
function withoutWords(schema: object): unknown {
  return { ...schema, description: undefined, examples: undefined };
}

/** A schema as the row has it: references resolved, descriptions removed. */
function plain(document: OpenApiDocument, schema: Schema): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      if (key === 'description') return undefined;
      return typeof value === 'object' && value !== null && '$ref' in value ? resolve(document, value) : value;
    }),
  );
}
