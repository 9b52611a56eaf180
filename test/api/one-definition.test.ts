/** One endpoint, defined once: the router and the document are derived from the same object. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { Type } from 'typebox';
import { endpoint } from '../../src/api/endpoint.js';
import { buildDocument, parametersOf, responsesOf } from '../../src/api/openapi/document.js';
import { FILE_API } from '../../src/api/openapi/apis.js';
import { component, count, flag, oneOf, text, withDefault } from '../../src/contract/schema.js';
import { startRouted, type Routed } from '../http/support/routed.js';
import { fileApi, managementApi } from './openapi/route-table.js';

interface Press {
  readonly printed: string[];
}

const printPages = endpoint({
  method: 'POST',
  path: '/api/print/:printer',
  access: 'write',
  operationId: 'printPages',
  tag: 'Files',
  summary: 'Print pages',
  description: 'Puts pages on paper.',
  params: { printer: text('The printer to use.', { minLength: 1, examples: ['lobby'] }) },
  query: Type.Object({
    copies: withDefault(Type.Integer({ minimum: 1, description: 'How often.', examples: [2] }), 1),
    colour: Type.Optional(flag('In colour.', { examples: [true] })),
  }),
  body: component(
    'PrintRequest',
    Type.Object({
      pages: Type.Array(Type.Integer({ minimum: 1 }), { description: 'Numbers of the pages.' }),
      paper: withDefault(oneOf(['a4', 'a5'], 'Size of the paper.'), 'a4'),
      note: Type.Optional(text('For the operator.')),
    }),
  ),
  bodyExamples: { first: { pages: [1] } },
  answer: {
    status: 201,
    description: 'The pages are on paper.',
    schema: component('PrintAnswer', Type.Object({ sheets: count('Sheets of paper used.') })),
    example: { sheets: 2 },
  },
  errors: ['no_space'],
}).handle(async ({ params, query, body, caller }, { printed }: Press) => {
  // All types here come from the schemas: these lines do not compile if one differs.
  const paper: 'a4' | 'a5' = body.paper;
  const note: string | undefined = body.note;
  const colour: boolean | undefined = query.colour;
  const sheets = body.pages.reduce((sum, page) => sum + page, 0) * query.copies;
  printed.push([caller.accountId, params.printer.toUpperCase(), paper, note, colour, query.copies].join(' '));
  // @ts-expect-error no schema has this field
  void body.unheardOf;
  // @ts-expect-error the path has no such parameter
  void params.copies;
  return { sheets };
});

/** The same fields in a separate schema: a wrong answer does not compile. */
endpoint({
  method: 'GET',
  path: '/api/print',
  access: 'any',
  operationId: 'countSheets',
  tag: 'Files',
  summary: 'Count',
  description: 'Counts.',
  answer: { description: 'Counted.', schema: Type.Object({ sheets: count('Sheets.') }), example: { sheets: 1 } },
  // @ts-expect-error the schema of the answer asks for a number
}).handle(async () => ({ sheets: 'many' }));

async function start(t: TestContext): Promise<Routed & Press> {
  const printed: string[] = [];
  return { ...(await startRouted(t, [printPages.route({ printed })])), printed };
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('the router', () => {
  test('gives the handler the fields that the schemas accept: converted, with defaults', async (t) => {
    const { ask, printed } = await start(t);
    const full = { headers: JSON_TYPE, body: '{"pages":[1,2],"paper":"a5","note":"n"}' };
    const answer = await ask('POST', '/api/print/hall?copies=3&colour=true', full);
    assert.deepEqual([answer.status, answer.json], [201, { sheets: 9 }]);
    const bare = await ask('POST', '/api/print/hall', { headers: JSON_TYPE, body: '{"pages":[1]}' });
    assert.deepEqual([bare.status, bare.json], [201, { sheets: 1 }]);
    assert.deepEqual(
      printed.map((line) => line.slice(line.indexOf(' ') + 1)),
      ['HALL a5 n true 3', 'HALL a4   1'],
    );
  });

  test('refuses other fields by name, without calling the handler', async (t) => {
    const { ask, printed } = await start(t);
    const refusals = [
      ['/api/print/hall?copies=0', '{"pages":[1]}', 'copies'],
      ['/api/print/hall?copies=many', '{"pages":[1]}', 'copies'],
      ['/api/print/hall', '{}', 'pages'],
      ['/api/print/hall', '{"pages":["1"]}', 'pages.0'],
      ['/api/print/hall', '{"pages":[1],"paper":"a0"}', 'paper'],
    ] as const;
    for (const [path, body, field] of refusals) {
      const { status, json } = await ask('POST', path, { headers: JSON_TYPE, body });
      assert.equal(status, 400, body);
      assert.ok(String(json['error']).startsWith(`${field} `), String(json['error']));
    }
    assert.deepEqual(printed, []);
  });
});

test('the document has its texts, its examples and its errors', () => {
  const document = buildDocument(FILE_API, [printPages.route({ printed: [] })], { publicUrl: '' });
  assert.deepEqual(Object.keys(document.paths), ['/api/print/{printer}']);
  const operation = document.paths['/api/print/{printer}']?.['post'];
  assert.ok(operation);
  const { operationId, summary, description, tags } = operation;
  assert.deepEqual(
    [operationId, summary, description, tags],
    ['printPages', 'Print pages', 'Puts pages on paper.', ['Files']],
  );

  const own = parametersOf(document, operation).filter((one) => one.in !== 'header');
  assert.deepEqual(
    own.map((one) => [one.name, one.in, one.required, one.description, one.example]),
    [
      ['printer', 'path', true, 'The printer to use.', 'lobby'],
      ['copies', 'query', false, 'How often.', 2],
      ['colour', 'query', false, 'In colour.', true],
    ],
  );
  assert.deepEqual(own[1]?.schema, { type: 'integer', minimum: 1, default: 1 });

  const body = operation.requestBody?.content['application/json'];
  assert.deepEqual(body, {
    schema: { $ref: '#/components/schemas/PrintRequest' },
    examples: { first: { value: { pages: [1] } } },
  });
  assert.deepEqual(JSON.parse(JSON.stringify(document.components.schemas['PrintRequest'])), {
    type: 'object',
    properties: {
      pages: { type: 'array', items: { type: 'integer', minimum: 1 }, description: 'Numbers of the pages.' },
      paper: { type: 'string', enum: ['a4', 'a5'], default: 'a4', description: 'Size of the paper.' },
      note: { type: 'string', description: 'For the operator.' },
    },
    required: ['pages'],
  });

  const responses = new Map(responsesOf(document, operation));
  assert.equal(responses.get('201')?.description, 'The pages are on paper.');
  assert.deepEqual(responses.get('201')?.content?.['application/json'], {
    schema: { $ref: '#/components/schemas/PrintAnswer' },
    examples: { answer: { value: { sheets: 2 } } },
  });
  assert.ok(operation['x-error-codes']?.includes('no_space'));
  assert.match(responses.get('502')?.description ?? '', /`no_space`/);
  for (const code of ['bad_request', 'scope_missing', 'unsupported_media_type'] as const)
    assert.ok(operation['x-error-codes']?.includes(code), code);
});

test('every row of both tables comes from such a definition', () => {
  const rows = [...fileApi().table, ...managementApi().table];
  assert.ok(rows.length > 80);
  const others = rows.filter((row) => !('description' in row)).map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(others, []);
});
