/**
 * Both OpenAPI documents are those of test/api/openapi/stored, but for their order and the changes listed here. A change
 * of what a client sees goes on the list: it is a decision, not a side effect.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenApiDocument } from '../../../src/api/openapi/types.js';
import { fileApi, managementApi } from './route-table.js';
import { canonical, differences, type Json, storedDocument } from './stored-documents.js';

/** By JSON Pointer; `undefined`: it is no longer there. */
type Meant = Readonly<Record<string, Json | undefined>>;

const MEANT: Readonly<Record<'api' | 'manage', Meant>> = {
  api: {
    // An answer never held 0: requests must not.
    '/components/schemas/CreatedWatchedFolder/properties/expectEveryMinutes/minimum': 1,
    '/components/schemas/WatchedFolder/properties/expectEveryMinutes/minimum': 1,
  },
  manage: {},
};
/** Texts of the schema ErrorCode, in both documents. */
const TEXTS: Readonly<Record<string, string>> = {};

const DOCUMENTS = { api: fileApi().document, manage: managementApi().document } as const;

for (const name of ['api', 'manage'] as const) {
  test(`the document of /${name} is the stored one, but for the changes that are listed`, () => {
    const [was, is] = [storedDocument(name), canonical(DOCUMENTS[name])].map(withoutTexts);
    const found = differences(was, is).map(({ at, is: now }) => [at, now]);
    assert.deepEqual(Object.fromEntries(found), MEANT[name]);
  });

  test(`the errors of /${name} have the stored texts, but for those that are listed`, () => {
    const stored = textsOf(storedDocument(name));
    const changed = Object.entries(textsOf(canonical(DOCUMENTS[name]))).filter(([code, text]) => text !== stored[code]);
    const meant = Object.entries(TEXTS).filter(([code]) => code in stored);
    assert.deepEqual(Object.fromEntries(changed), Object.fromEntries(meant));
  });

  test(`each error answer of /${name} explains its codes as the schema ErrorCode does`, () => {
    const texts = textsOf(canonical(DOCUMENTS[name]));
    const answers = errorAnswers(DOCUMENTS[name]);
    assert.ok(answers.length > 100, 'the answers were not found');
    for (const description of answers) {
      for (const paragraph of description.split('\n\n')) {
        const [, code = '', text = ''] = /^`(\w+)`: (.+)$/.exec(paragraph) ?? assert.fail(paragraph);
        assert.ok(texts[code]?.startsWith(text), paragraph);
      }
    }
  });
}

test('a difference would be found, and order is none', () => {
  const [first = ''] = Object.keys(DOCUMENTS.api.paths);
  const { [first]: item, ...others } = DOCUMENTS.api.paths;
  const turned = { ...DOCUMENTS.api, paths: { ...others, [first]: item } };
  assert.deepEqual(differences(canonical(DOCUMENTS.api), canonical(turned)), []);
  const found = differences(canonical(DOCUMENTS.api), canonical({ ...DOCUMENTS.api, paths: others }));
  assert.deepEqual(
    found.map(({ at }) => at),
    [`/paths/${first.replaceAll('/', '~1')}`],
  );
  assert.equal(differences(canonical({ required: ['a', 'b'] }), canonical({ required: ['b', 'a'] })).length, 0);
  assert.equal(differences(canonical({ prefixItems: ['a', 'b'] }), canonical({ prefixItems: ['b', 'a'] })).length, 2);
});

interface CodeSchema {
  readonly const: string;
  readonly description: string;
}

function codesOf(document: Json): readonly CodeSchema[] {
  const { components } = document as unknown as OpenApiDocument;
  return components.schemas['ErrorCode']?.['oneOf'] as readonly CodeSchema[];
}

function textsOf(document: Json): Record<string, string> {
  return Object.fromEntries(codesOf(document).map(({ const: code, description }) => [code, description]));
}

function withoutTexts(document: Json): Json {
  const { components } = document as unknown as OpenApiDocument;
  const oneOf = Object.fromEntries(
    codesOf(document).map(({ const: code, ...rest }) => [code, { ...rest, description: '' }]),
  );
  const schemas = { ...components.schemas, ErrorCode: { ...components.schemas['ErrorCode'], oneOf } };
  return { ...(document as object), components: { ...components, schemas } } as unknown as Json;
}

function errorAnswers({ paths }: OpenApiDocument): string[] {
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  return operations.flatMap(({ responses }) =>
    Object.entries(responses).flatMap(([status, { description = '' }]) => (/^[45]/.test(status) ? [description] : [])),
  );
}
