/**
 * A new error code needs one entry in the catalogue: an invented one appears in everything that derives from it. The
 * programs are bundled with a catalogue that has it.
 */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import ts from 'typescript';
import { N8N_WORKFLOW } from '../n8n/context.js';
import type * as Derived from './derived-from-errors.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CATALOGUE = join(ROOT, 'src/contract/errors.ts');
/** The folder of this file, so that paths relative to the bundled modules are right. */
const BUNDLE = fileURLToPath(new URL('./bundled-with-new-error.mjs', import.meta.url));

const ENTRY = `
  made_up: {
    status: 503,
    fault: 'gateway',
    retry: 'retry_after',
    endpoints: 'body',
    repeat: 'always',
    inJobs: 'retry',
    fixedAt: 'connection',
    meaning: 'The moon is in the way.',
    remedy: 'Wait until it sets.',
    details: 'It takes half a day.',
    example: 'the moon is in the way',
  },
`;
const EXPLAINED = { meaning: 'The moon is in the way.', remedy: 'Wait until it sets.' };

function withEntry(): string {
  const text = readFileSync(CATALOGUE, 'utf8').replace(/(?<=\nconst catalogue = \{\n)/, ENTRY.slice(1));
  assert.ok(text.includes(ENTRY.slice(1)), 'the catalogue was not found');
  return text;
}

const madeUp: Plugin = {
  name: 'a catalogue with a made-up code',
  setup: (building) => {
    // n8n provides it.
    building.onResolve({ filter: /^n8n-workflow$/ }, ({ path }) => ({ path, namespace: 'n8n' }));
    building.onLoad({ filter: /.*/, namespace: 'n8n' }, () => ({ contents: N8N_WORKFLOW, loader: 'js' }));
    building.onLoad({ filter: /[\\/]src[\\/]contract[\\/]errors\.ts$/ }, () => ({
      contents: withEntry(),
      loader: 'ts',
    }));
  },
};

let derived: typeof Derived;

before(async () => {
  await build({
    entryPoints: [join(ROOT, 'test/contract/derived-from-errors.ts')],
    outfile: BUNDLE,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    target: 'es2023',
    plugins: [madeUp],
    logLevel: 'error',
  });
  derived = (await import(pathToFileURL(BUNDLE).href)) as typeof Derived;
});
after(() => rmSync(BUNDLE, { force: true }));

test('answers have its status, and jobs act on it', () => {
  const error = derived.made('made_up');
  assert.deepEqual([error.status, error.inJobs, error.keepsSession], [503, 'retry', true]);
});

test('both OpenAPI documents have it where it belongs, with its meaning, remedy and example', () => {
  for (const document of derived.documents()) {
    const schema = document.components.schemas['ErrorCode']?.['oneOf'] as readonly Record<string, string>[];
    const [own] = schema.filter((one) => one['const'] === 'made_up');
    assert.deepEqual(own, {
      const: 'made_up',
      title: '503 made_up',
      description: 'The moon is in the way. Wait until it sets.',
    });
    for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
      const codes: readonly string[] = operation['x-error-codes'] ?? [];
      const isGiven = codes.includes('unsupported_media_type');
      assert.equal(codes.includes('made_up'), isGiven, operation.operationId);
      if (isGiven)
        assert.match(operation.responses['503']?.description ?? '', /^`made_up`: The moon is in the way\.$/m);
    }
    const example = document.components.responses['ServiceUnavailable']?.content?.['application/json']?.examples;
    assert.deepEqual(example?.['made_up']?.value, { error: 'the moon is in the way' });
  }
});

test('the page of errors has its row', () => {
  const row =
    '| `made_up` | 503 | The moon is in the way. It takes half a day. | after `Retry-After` | Wait until it sets. |';
  assert.ok(derived.pageOfErrors().split('\n').includes(row));
});

test('the client for TypeScript has it in its types, and retries it', () => {
  assert.match(derived.clientTexts()['src/client/api-types.ts'] ?? '', /'made_up'/);
  assert.ok(derived.NOT_BEGUN.includes('made_up' as never));
});

test('the client for Python has it in its types, and retries it', () => {
  const texts = derived.clientTexts();
  const [types, codes] = ['types', '_codes'].map((name) => texts[`src/python/file_transfer_gateway/${name}.py`] ?? '');
  assert.match(types ?? '', /^ErrorCode = Literal\[.*"made_up"/m);
  assert.match(codes ?? '', /^NOT_BEGUN = frozenset\([^)]*"made_up"/m);
});

test('ftg shows its remedy as a hint, and exits with the code for busy', async () => {
  const { hint, exitCode } = await derived.ftg('made_up', 503);
  assert.deepEqual([hint, exitCode], [EXPLAINED.remedy, 8]);
});

test('MCP, the nodes for n8n and the dashboard explain it', () => {
  assert.deepEqual(derived.explain('made_up'), { means: EXPLAINED.meaning, remedy: EXPLAINED.remedy });
  assert.match(derived.n8nDescription('made_up', 503), /^Wait until it sets\. Retry On Fail /);
  assert.deepEqual(derived.english['made_up' as never], EXPLAINED);
  assert.ok(derived.FIXED_AT_CONNECTION.includes('made_up' as never));
});

test('without its German text it does not compile', () => {
  const german = join(ROOT, 'src/contract/de/errors.ts');
  const host = ts.createCompilerHost({});
  const readFile = host.readFile.bind(host);
  host.readFile = (file) => (file.endsWith('src/contract/errors.ts') ? withEntry() : readFile(file));
  const program = ts.createProgram(
    [german],
    {
      strict: true,
      noEmit: true,
      types: [],
      lib: ['lib.es2023.d.ts'],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
    },
    host,
  );
  const mistakes = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  assert.equal(mistakes.length, 1, mistakes.join('\n'));
  assert.match(mistakes[0] ?? '', /'made_up' is missing/);
});
