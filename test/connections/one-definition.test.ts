/**
 * A field that is added to a definition appears wherever connections are configured, created, stored, shown and
 * documented.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { jsonContent } from '../../src/api/endpoint.js';
import { draftOf } from '../../src/api/connections/connection-input.js';
import { connectionAnswers, connectionSchemas, describedType } from '../../src/api/connections/schemas.js';
import { MANAGEMENT_API } from '../../src/api/openapi/apis.js';
import { buildDocument } from '../../src/api/openapi/document.js';
import { integer } from '../../src/contract/schema.js';
import { fieldOptions } from '../../src/cli/connection-options.js';
import { exampleFile } from '../../src/config/example.js';
import { secretNameTest } from '../../src/config/secret-names.js';
import { createValidator } from '../../src/config/validate.js';
import type { Definition } from '../../src/contract/connection/definition.js';
import { sftp } from '../../src/contract/connection/sftp.js';
import { given, secret } from '../../src/contract/thing.js';
import { createChecker } from '../../src/base/schema-check.js';
import { configurationSections } from '../../src/docs/configuration.js';
import { redactFacts } from '../../src/observe/redact.js';
import { splitConfig } from '../../src/storage/tables/connection-rows.js';
import { joinConnection } from '../../src/storage/storage.js';

const WORDS = 'Floors that the lift passes.';
const SECRET_WORDS = 'What the porter asks for.';
const definition: Definition = {
  ...sftp,
  settings: { ...sftp.settings, floors: given(integer(1, 9, WORDS), { texts: { label: 'Floors' }, default: 3 }) },
  secrets: { ...sftp.secrets, shibboleth: secret(SECRET_WORDS, { texts: { label: 'Shibboleth' }, isSent: true }) },
};

const ENTRY = { name: 'Tower', type: 'sftp', host: 'sftp.example.com', username: 'gw', password: 'p' } as const;
const INPUT = { ...ENTRY, isActive: true, defaultPath: null, rootPath: '/', atomicUploads: true, pool: {}, port: 22 };
const ROW = {
  accountId: 'a',
  id: 'tower',
  name: 'Tower',
  isActive: true,
  hostKeys: [],
  configured: false,
  secretsConfigured: false,
  secretReferences: {},
} as const;

type Entry = Parameters<typeof splitConfig>[0] & { readonly floors: number; readonly shibboleth: string };

function configured(entry: object): { readonly entry?: Entry; readonly mistakes: readonly string[] } {
  const tree = { accounts: [{ email: 'ops@example.com', plan: 'pro', connections: [{ ...ENTRY, ...entry }] }] };
  const origin = { placeOf: () => undefined, isVariable: () => false, writtenAt: () => undefined };
  const outcome = createValidator([definition])(tree, origin);
  const mistakes = outcome.mistakes.map(({ path, found, allowed }) => `${path}: ${found}; allowed: ${allowed}`);
  return 'config' in outcome ? { mistakes, entry: outcome.config.accounts[0]?.connections[0] as Entry } : { mistakes };
}

test('gateway.yaml accepts it, with its default, and a mistake names the allowed values', () => {
  assert.equal(configured({}).entry?.floors, 3);
  assert.equal(configured({ floors: 7, shibboleth: 'x' }).entry?.shibboleth, 'x');
  const at = 'accounts[0].connections[0]';
  assert.deepEqual(configured({ floors: 10 }).mistakes, [`${at}.floors: 10; allowed: a whole number from 1 to 9`]);
  assert.deepEqual(configured({ shibboleth: [] }).mistakes, [
    `${at}.shibboleth: a list; allowed: text (numbers in quotes), or a mapping with the key from`,
  ]);
});

test('requests that create and change a connection accept it', () => {
  const { create, changes, draft } = connectionSchemas([definition]);
  const made = createChecker(create, 'the body');
  assert.equal(made({ ...ENTRY })['floors'], 3);
  assert.throws(() => made({ ...ENTRY, floors: 0 }), /floors must be >= 1/);
  assert.throws(() => made({ ...ENTRY, shibboleth: '' }), /shibboleth must not be empty/);
  assert.deepEqual(createChecker(changes, 'the body')({ shibboleth: null }), { shibboleth: null });
  assert.equal(createChecker(draft, 'the body')({ ...ENTRY, floors: 5 })['floors'], 5);
});

test('a row stores it, its secret separately, and returns it', async () => {
  const { entry } = configured({ floors: 7, shibboleth: 'x' });
  assert.ok(entry !== undefined);
  const { settings, secrets } = await splitConfig(entry, definition);
  assert.equal((settings as object as Entry).floors, 7);
  assert.deepEqual(secrets, { password: 'p', shibboleth: 'x' });
  const draft = draftOf({ ...INPUT, floors: 5, shibboleth: 'y' }, definition);
  assert.equal((draft.settings as object as Entry).floors, 5);
  assert.deepEqual(draft.secrets, { password: 'p', shibboleth: 'y' });
  const joined: object = joinConnection({ ...ROW, type: 'sftp', settings, allowPrivate: null }, secrets, definition);
  assert.deepEqual([(joined as Entry).floors, (joined as Entry).shibboleth], [7, 'x']);
  // A row from before the field existed.
  const { floors: _, ...older } = settings as object as Entry;
  const row = { ...ROW, type: 'sftp', settings: older as object as typeof settings, allowPrivate: null } as const;
  assert.equal((joinConnection(row, secrets, definition) as object as Entry).floors, 3);
});

test('no log shows its secret', () => {
  const facts = { connection: { floors: 7, shibboleth: 'x' } };
  assert.deepEqual(redactFacts(facts, secretNameTest([definition])), {
    connection: { floors: 7, shibboleth: '[hidden]' },
  });
});

test('the OpenAPI document describes it, in requests and answers', () => {
  const { create } = connectionSchemas([definition]);
  const answer = connectionAnswers([definition])['sftp'] ?? {};
  const success = { 201: { description: 'Made.', content: jsonContent(answer, {}) } };
  const description = { operationId: 'make', tag: 'Connections', summary: 'Make', description: 'Makes.', success };
  const row = { method: 'POST', path: '/manage/connections', access: 'owner', body: 'json' } as const;
  const route = { ...row, json: create, description, handle: async () => ({ status: 201 }) };
  const document = buildDocument(MANAGEMENT_API, [route], { publicUrl: '' });
  const shown = (name: string): Record<string, unknown> =>
    document.components.schemas[name]?.['properties'] as Record<string, unknown>;
  assert.deepEqual(shown('SftpConnectionInput')['floors'], {
    type: 'integer',
    minimum: 1,
    maximum: 9,
    default: 3,
    description: WORDS,
  });
  assert.match(
    JSON.stringify(shown('SftpConnectionInput')['shibboleth']),
    /What the porter asks for\. Written, never shown/,
  );
  assert.deepEqual(shown('SftpConnection')['floors'], { type: 'integer', minimum: 1, maximum: 9, description: WORDS });
  assert.equal('shibboleth' in shown('SftpConnection'), false);
  assert.match(JSON.stringify(shown('SftpConnection')['secrets']), /"shibboleth":\{"type":"boolean"/);
});

test('the form receives it', () => {
  const { schema, sent } = describedType(definition);
  const { floors, shibboleth } = (schema as { readonly properties: Record<string, object> }).properties;
  assert.deepEqual(floors, {
    title: 'Floors',
    type: 'integer',
    minimum: 1,
    maximum: 9,
    default: 3,
    description: WORDS,
  });
  assert.match(JSON.stringify(shibboleth), /"title":"Shibboleth".*"writeOnly":true/);
  assert.deepEqual(sent, ['password', 'shibboleth']);
});

test('the command line has options for it, with help', () => {
  const command = new Command('create');
  for (const { option } of fieldOptions([definition])) command.addOption(option);
  assert.match(command.helpInformation(), /--floors <number> +Floors that the lift passes\./);
  assert.match(command.helpInformation(), /--shibboleth-file <file> +Shibboleth: a file that holds it/);
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  assert.equal(command.parse(['--floors', '5'], { from: 'user' }).opts()['floors'], 5);
  assert.throws(() => command.parse(['--floors', '10'], { from: 'user' }), /from 1 to 9/);
});

test('the documentation and the example file show it', () => {
  const page = configurationSections([definition]);
  assert.ok(page.includes(`| \`accounts[].connections[sftp].floors\` | \`3\` | ${WORDS} |`));
  assert.ok(page.includes(`| \`accounts[].connections[sftp].shibboleth\` | \`""\` | ${SECRET_WORDS} |`));
  assert.ok(exampleFile([definition]).includes(`#         floors: 3 # ${WORDS}\n`));
});
