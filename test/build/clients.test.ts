/** The generator of the clients' types and of the synchronous Python client: each form of schema in both languages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenApiDocument, Schema } from '../../src/api/openapi/types.js';
import { requestsOf, withFields } from '../../src/build/clients/python-fields.js';
import { halvesOf } from '../../src/build/clients/python-twin.js';
import { pythonTypes } from '../../src/build/clients/python.js';
import { typescriptTypes } from '../../src/build/clients/typescript.js';

function documentOf(schemas: Readonly<Record<string, Schema>>, paths: OpenApiDocument['paths'] = {}): OpenApiDocument {
  return {
    openapi: '3.1.1',
    info: { title: 'Test', version: '1', description: '' },
    servers: [],
    tags: [],
    paths,
    webhooks: {},
    components: { schemas, parameters: {}, responses: {}, headers: {}, securitySchemes: {} },
  };
}

/** The type of a schema in TypeScript and in Python. */
function typesOf(schema: Schema): readonly string[] {
  const document = documentOf({ One: schema });
  const [, typescript] = /readonly One: ([^]*?);\n {2}\};\n {2}answers: /.exec(typescriptTypes(document)) ?? [];
  const [, python] = /\n\nOne = (.*)\n/.exec(pythonTypes(document)) ?? [];
  assert.ok(typescript !== undefined && python !== undefined);
  return [typescript, python];
}

test('each form of value has its type in both languages', () => {
  const cases: readonly (readonly [Schema, string, string])[] = [
    [{ type: 'string', format: 'uri' }, 'string', 'str'],
    [{ type: 'integer' }, 'number', 'int'],
    [{ type: 'number' }, 'number', 'float'],
    [{ type: 'boolean' }, 'boolean', 'bool'],
    [{}, 'unknown', 'Any'],
    [{ type: ['integer', 'null'] }, 'number | null', 'Optional[int]'],
    [{ type: 'boolean', const: true }, 'true', 'Literal[True]'],
    [{ type: ['string', 'null'], enum: ['a', "b'", null] }, `'a' | "b'" | null`, `Literal["a", "b'", None]`],
    [{ oneOf: [{ const: 'a', description: 'first' }, { const: 'b' }] }, "'a' | 'b'", 'Literal["a", "b"]'],
    [{ $ref: '#/components/schemas/Job' }, "components['schemas']['Job']", 'Job'],
    [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, 'string | number', 'Union[str, int]'],
    [{ type: 'array', items: { type: 'string' } }, 'readonly string[]', 'List[str]'],
    [{ type: 'array', items: { type: ['string', 'null'] } }, 'readonly (string | null)[]', 'List[Optional[str]]'],
    [
      { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
      'readonly (readonly number[])[]',
      'List[List[int]]',
    ],
    [
      { type: 'object', additionalProperties: { type: 'integer' } },
      '{ readonly [key: string]: number }',
      'Dict[str, int]',
    ],
    [
      { type: ['object', 'null'], patternProperties: { '^.*$': { type: 'string' } } },
      '{ readonly [key: string]: string } | null',
      'Optional[Dict[str, str]]',
    ],
    [{ type: 'object', additionalProperties: true }, '{ readonly [key: string]: unknown }', 'Dict[str, Any]'],
  ];
  for (const [schema, ...types] of cases) assert.deepEqual(typesOf(schema), types);
  assert.throws(() => typesOf({ type: 'date' }), /there is no type for \{"type":"date"\}/);
});

test('an object has the words, defaults and examples of its fields; those that are not required may be absent', () => {
  const document = documentOf({
    File: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', description: 'Its name */ in """quotes"""' },
        at: { type: 'string', format: 'date-time', default: 'now', example: 'then', description: 'When.' },
        owner: { type: 'object', properties: { 'e-mail': { type: 'string' } } },
      },
    },
  });
  const typescript = [
    '    readonly File: {',
    '      /** Its name *\\/ in """quotes""" */',
    '      readonly name: string;',
    '      /**',
    '       * When.',
    '       * Format: date-time',
    '       * @default "now"',
    '       * @example "then"',
    '       */',
    '      readonly at?: string;',
    '      readonly owner?: {',
    '        readonly "e-mail"?: string;',
    '      };',
    '    };',
  ];
  assert.ok(typescriptTypes(document).includes(typescript.join('\n')), typescriptTypes(document));
  const python = [
    'FileOwner = TypedDict(',
    '    "FileOwner",',
    '    {',
    '        "e-mail": "NotRequired[str]",',
    '    },',
    ')',
    '\n',
    'class File(TypedDict):',
    '    name: str',
    `    """Its name */ in '''quotes'''"""`,
    '    at: NotRequired[str]',
    '    """When."""',
    '    owner: NotRequired[FileOwner]',
  ];
  assert.ok(pythonTypes(document).includes(python.join('\n')), pythonTypes(document));
});

test('an object may have fields of other names, and those of one of several forms', () => {
  const object = { type: 'object', properties: { type: { type: 'string' } } };
  const open = typescriptTypes(documentOf({ Open: { ...object, additionalProperties: true } }));
  assert.match(open, /readonly type\?: string;\n {4}\} & \{ readonly \[key: string\]: unknown \};/);
  const allOf = ['Ftp', 'S3'].map((name) => ({ if: {}, then: { $ref: `#/components/schemas/${name}` } }));
  const forms = typescriptTypes(documentOf({ Input: { ...object, allOf } }));
  assert.match(forms, /\} & \(components\['schemas'\]\['Ftp'\] \| components\['schemas'\]\['S3'\]\);/);
});

test('the query of an operation has a type', () => {
  const parameters = [
    { name: 'sort_by', in: 'query', description: 'Order.', schema: { type: 'string', enum: ['name', 'size'] } },
    { name: 'after', in: 'query', description: 'Only later ones.', required: true, schema: { type: 'integer' } },
    { name: 'id', in: 'path', description: 'Identifier.', required: true, schema: { type: 'string' } },
  ] as const;
  const operation = { tags: [], summary: '', description: '', security: [], responses: {} };
  const document = documentOf(
    {},
    {
      '/files': {
        get: { ...operation, operationId: 'listFiles', parameters },
        head: { ...operation, operationId: 'listFilesHead', parameters },
        post: { ...operation, operationId: 'addFile' },
      },
    },
  );
  const query = [
    '    readonly ListFilesQuery: {',
    '      /** Order. */',
    "      readonly sort_by?: 'name' | 'size';",
    '      /** Only later ones. */',
    '      readonly after: number;',
    '    };',
  ];
  const [, ...lines] = typescriptTypes(document).split('\n').slice(2);
  assert.deepEqual(lines.slice(0, lines.indexOf('  };')), query);
  assert.match(pythonTypes(document), /\n\nListFilesSortBy = Literal\["name", "size"\]\n\n\nWebhookEvent = /);
});

test('the answers of an operation have a type, by its method and path', () => {
  const answer = (name: string) => ({
    description: '',
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  });
  const responses = {
    '200': answer('File'),
    '202': answer('Job'),
    '404': answer('Problem'),
    '204': { description: '' },
  };
  const operation = { tags: [], summary: '', description: '', security: [], operationId: 'showFile', responses };
  const text = typescriptTypes(documentOf({}, { '/files/{id}/at/{version}': { get: operation } }));
  const types = "components['schemas']['File'] | components['schemas']['Job']";
  assert.ok(text.includes(`readonly "GET /files/{}/at/{}": ${types};`), text);
});

test('the synchronous half is the asynchronous one without waiting', () => {
  const source = [
    'class AsyncJobs(AsyncIterator[Job]):',
    '    async def __anext__(self) -> Job:',
    '        async with self._http.stream() as answer:',
    '            async for line in answer.aiter_bytes():',
    '                return await self._read(line)',
    '        raise StopAsyncIteration',
    '    def rows(self) -> AsyncGenerator[Row, None]: await self.aclose()',
  ];
  const { asynchronous, synchronous } = halvesOf('jobs.py', source.join('\n'), new Map());
  const made = '# Made by the build from src/python/client/jobs.py.';
  assert.deepEqual(asynchronous.split('\n'), [made, ...source]);
  assert.deepEqual(synchronous.split('\n'), [
    made,
    'class Jobs(Iterator[Job]):',
    '    def __next__(self) -> Job:',
    '        with self._http.stream() as answer:',
    '            for line in answer.iter_bytes():',
    '                return self._read(line)',
    '        raise StopIteration',
    '    def rows(self) -> Generator[Row, None, None]: self.close()',
  ]);
});

const OPERATION = { tags: [], summary: '', description: '', security: [], responses: {} };
const REQUESTS = requestsOf(
  documentOf(
    {
      Move: {
        type: 'object',
        required: ['from', 'endsAt'],
        properties: {
          from: { type: 'string' },
          rawName: { type: ['string', 'null'] },
          tags: { type: 'array', items: { type: 'string' } },
          mode: { type: 'string', enum: ['a', 'b'] },
          owner: { type: 'object', properties: { name: { type: 'string' } } },
          endsAt: { type: 'string' },
        },
      },
    },
    {
      '/files': {
        get: {
          ...OPERATION,
          operationId: 'listFiles',
          parameters: [
            { name: 'sortBy', in: 'query', description: '', schema: { type: 'string', enum: ['name'] } },
            { name: 'mode', in: 'query', description: '', schema: { type: 'string' } },
            { name: 'limit', in: 'query', description: '', schema: { type: 'integer' } },
          ],
        },
      },
    },
  ),
);

test('a method takes the fields of its request as keywords, but those that it handles by itself', () => {
  const source = [
    'from typing import Optional, cast',
    'from ..types import File',
    '',
    'class AsyncFiles:',
    '    async def move(',
    '        self,',
    '        path: str,',
    '        *,',
    '        fields: Fields["Move", "from"],',
    '        query: Fields["ListFilesQuery", "limit"],',
    '        key: Optional[str] = None,',
    '    ) -> File:',
    '        """Moves a file."""',
    '        return self._call(path, fields, query, key)',
    '',
    '    async def read(',
    '        self,',
    '        mode: FieldOf["Move"],',
    '        *,',
    '        query: Fields["ListFilesQuery", "limit", "sortBy"],',
    '    ) -> File:',
    '        return self._call(query)',
    '',
  ];
  assert.deepEqual(withFields(source.join('\n'), REQUESTS).split('\n'), [
    'from typing import Any, Dict, List, Literal, Optional, cast',
    'from .. import types as api',
    'from ..types import File',
    '',
    'class AsyncFiles:',
    '    async def move(',
    '        self,',
    '        path: str,',
    '        *,',
    '        raw_name: Optional[str] = None,',
    '        tags: Optional[List[str]] = None,',
    '        mode: Optional[Literal["a", "b"]] = None,',
    '        owner: Optional[api.MoveOwner] = None,',
    '        ends_at: str,',
    '        sort_by: Optional[api.ListFilesSortBy] = None,',
    '        key: Optional[str] = None,',
    '    ) -> File:',
    '        """Moves a file."""',
    '        fields: Dict[str, Any] = {',
    '            "rawName": raw_name,',
    '            "tags": tags,',
    '            "mode": mode,',
    '            "owner": owner,',
    '            "endsAt": ends_at,',
    '        }',
    '        query: Dict[str, Any] = {',
    '            "sortBy": sort_by,',
    '        }',
    '        return self._call(path, fields, query, key)',
    '',
    '    async def read(',
    '        self,',
    '        mode: Literal["a", "b"],',
    '    ) -> File:',
    '        query: Dict[str, Any] = {}',
    '        return self._call(query)',
    '',
  ]);
});

test('a place for the fields of an unknown request, or without an unknown field, is an error', () => {
  const method = (place: string): string =>
    `    def move(\n        self,\n        *,\n        ${place},\n    ) -> None:\n`;
  const fill = (place: string) => () => withFields(method(place), REQUESTS);
  assert.throws(fill('fields: Fields["Copy"]'), /no request Copy/);
  assert.throws(fill('fields: Fields["Move", "to"]'), /Move has no field to/);
});
