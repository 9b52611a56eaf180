/** dist/validators: each known schema has a validator, ajv makes the same one now, and a start needs no ajv. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inPackage } from '../../src/base/package-root.js';
import { createAjv, validatorName, validatorOf, VALIDATORS } from '../../src/base/validators.js';
import { compileSchemas, knownSchemas } from '../../src/build/validators.js';
import { configSchema } from '../../src/config/schema.js';
import { CONNECTION_TYPES } from '../../src/contract/connection/types.js';
import { MAIN } from '../support/start-args.js';

const BUILT = fileURLToPath(inPackage(VALIDATORS));

test('every known schema has a validator, and a fresh one would be the same', async () => {
  const known = await knownSchemas();
  const names = new Set(known.map(({ schema, kind }) => `${validatorName(schema, kind)}.cjs`));
  assert.ok(names.size > 50, 'the schemas of the endpoints were not found');
  assert.deepEqual(readdirSync(BUILT).sort(), [...names].sort());
  const fresh = mkdtempSync(path.join(tmpdir(), 'ftg-validators-'));
  try {
    await compileSchemas(known, fresh);
    for (const name of names) {
      assert.equal(readFileSync(path.join(BUILT, name), 'utf8'), readFileSync(path.join(fresh, name), 'utf8'), name);
    }
  } finally {
    rmSync(fresh, { recursive: true });
  }
});

test('a compiled validator sets defaults, converts and refuses as ajv itself does, in the same words', () => {
  const config = configSchema(CONNECTION_TYPES);
  const query = {
    type: 'object',
    properties: { limit: { type: 'integer', minimum: 1, default: 100 }, all: { type: 'boolean' } },
    additionalProperties: false,
  };
  const cases = [
    ['config', config, [{}, { server: { port: 'eighty', prot: 80 } }, { network: { allowPrivate: 'ten.0.0.0/8' } }]],
    ['config', config, [{ accounts: [{ email: 'nobody', connections: [{ type: 'gopher' }] }] }]],
    ['coerced', query, [{}, { limit: '7', all: 'true' }, { limit: '0' }, { limt: '1' }]],
  ] as const;
  for (const [kind, schema, values] of cases) {
    const compiled = validatorOf(schema, kind);
    const fresh = createAjv(kind, {}).compile(schema);
    for (const value of values) {
      const [one, other] = [structuredClone(value) as unknown, structuredClone(value) as unknown];
      assert.equal(compiled(one), fresh(other), JSON.stringify(value));
      assert.deepEqual(one, other);
      const factsOf = (errors: typeof fresh.errors): unknown =>
        (errors ?? []).map((error) => ({ ...error, schemaPath: undefined }));
      assert.deepEqual(factsOf(compiled.errors), factsOf(fresh.errors));
    }
  }
});

test('the start of the gateway compiles no schema: it needs no ajv', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-no-ajv-'));
  try {
    const guard = path.join(folder, 'guard.cjs');
    writeFileSync(
      guard,
      `const Module = require('node:module');
       const load = Module._load;
       Module._load = function (request, ...more) {
         if (/^ajv/.test(request)) throw new Error(request + ' was loaded');
         return load.call(this, request, ...more);
       };`,
    );
    const env = { PATH: process.env['PATH'] ?? '', PORT: 'eighty', NODE_OPTIONS: `--require ${guard}` };
    const err = await new Promise<string>((resolve) => {
      execFile(process.execPath, [MAIN], { env, cwd: folder }, (_error, _stdout, stderr) => resolve(stderr));
    });
    assert.match(err, /^server\.port: "eighty"; allowed: .*\n$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
