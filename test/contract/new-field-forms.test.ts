/**
 * A new field of a watched folder needs its definition and its German texts: the dashboard has an invented one in its
 * form, sends it and shows it; webhooks and jobs show theirs, too. The dashboard is bundled with definitions that have
 * it.
 */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import ts from 'typescript';
import { jobExample } from '../../src/contract/job.js';
import { webhookExample } from '../../src/contract/webhook.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const WEB = join(ROOT, 'src/dashboard/web');
const BUNDLE = fileURLToPath(new URL('./bundled-with-new-field.mjs', import.meta.url));

const IMPORT = "import { Type as MadeUp } from 'typebox';\n";
const FIELD = `
  moonPhase: given(oneOf(['new', 'full'], 'When files are reported.'), {
    texts: { label: 'Phase of the moon', hint: 'Only then.', choices: { new: 'New moon', full: 'Full moon' } },
    default: 'new',
  }),
  tideMetres: given(MadeUp.Integer({ minimum: 1, maximum: 9, description: 'The least tide.' }), {
    texts: { label: 'Least tide' },
    default: null,
  }),
`;
const GERMAN = `
    moonPhase: { label: 'Mondphase', hint: 'Nur dann.', choices: { new: 'Neumond', full: 'Vollmond' } },
    tideMetres: { label: 'Kleinste Tide' },
`;
/** The names of the fields and of the German texts. */
const THINGS = [
  { file: 'watched-folder', fields: 'watchedFolderFields', thing: 'watchedFolder' },
  { file: 'webhook', fields: 'webhookFields', thing: 'webhook' },
  { file: 'job', fields: 'jobOptionFields', thing: 'jobOptions' },
];
const withField = (text: string): string =>
  IMPORT + THINGS.reduce((now, { fields }) => behind(now, `export const ${fields} = {\n`, FIELD), text);
const withTexts = (text: string): string =>
  THINGS.reduce((now, { thing }) => behind(now, `\n  ${thing}: {\n`, GERMAN), text);
const behind = (text: string, line: string, added: string): string => text.replace(line, `${line}${added.slice(1)}`);

const madeUp: Plugin = {
  name: 'a definition with made-up fields',
  setup: (building) => {
    const changed = (filter: RegExp, change: (text: string) => string): void =>
      building.onLoad({ filter }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        assert.notEqual(change(text), text, path);
        return { contents: change(text), loader: 'ts' };
      });
    for (const { file } of THINGS) changed(new RegExp(`[\\\\/]src[\\\\/]contract[\\\\/]${file}\\.ts$`), withField);
    changed(/[\\/]src[\\/]contract[\\/]de[\\/]fields\.ts$/, withTexts);
  },
};

/** The groups are from a form that does not know the fields. */
const ENTRY = `
  import { QueryClientProvider } from '@tanstack/react-query';
  import { renderToStaticMarkup } from 'react-dom/server';
  import { loadFirstTexts, loadLaterTexts } from './texts/texts.ts';

  export async function dashboard(language) {
    await loadFirstTexts(language);
    await loadLaterTexts(language);
    const { FormFields, useForm } = await import('./ui/form.tsx');
    const { otherFacts } = await import('./ui/field-facts.ts');
    const { changesOf, draftOf } = await import('./ui/draft.ts');
    const { factsOf: webhookFacts } = await import('./screens/webhooks/facts.tsx');
    const { factsOf: jobFacts } = await import('./screens/jobs/facts.tsx');
    const { formFields } = await import('../../contract/derived/form-fields.ts');
    const { queries } = await import('./api/hooks.ts');
    function Form() {
      const form = useForm(['watchedFolder'], {});
      return <FormFields form={form} groups={[{ names: ['connectionId', 'path', 'name'] }]} />;
    }
    const fields = formFields.watchedFolder;
    return {
      form: renderToStaticMarkup(<QueryClientProvider client={queries}><Form /></QueryClientProvider>),
      facts: (stored) => otherFacts('watchedFolder', stored, ['path']),
      webhookFacts: (stored) => webhookFacts(stored, String),
      jobFacts: (settings) => jobFacts({ type: 'sync', source: null, destination: null, settings }, String),
      changes: (typed, former) => changesOf(fields, { ...draftOf(fields, former), ...typed }, former),
    };
  }
`;

/** Globals that modules of the page use when they are loaded. A real channel would keep the test running. */
const PAGE = `
  const location = new URL('http://localhost/');
  const addEventListener = () => undefined;
  class BroadcastChannel extends EventTarget {}
  const navigator = { language: 'en' };
  const document = { documentElement: {}, cookie: '' };
`;

interface Dashboard {
  readonly form: string;
  readonly facts: (stored: object) => Readonly<Record<string, string>>;
  readonly webhookFacts: (stored: object) => Readonly<Record<string, unknown>>;
  readonly jobFacts: (settings: object) => Readonly<Record<string, unknown>>;
  readonly changes: (typed: object, former: object) => object;
}

let dashboard: (language: 'en' | 'de') => Promise<Dashboard>;

before(async () => {
  await build({
    stdin: { contents: ENTRY, resolveDir: WEB, loader: 'tsx' },
    outfile: BUNDLE,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    target: 'es2023',
    jsx: 'automatic',
    logLevel: 'error',
    banner: { js: PAGE },
    plugins: [madeUp],
  });
  ({ dashboard } = (await import(pathToFileURL(BUNDLE).href)) as { dashboard: typeof dashboard });
});
after(() => rmSync(BUNDLE, { force: true }));

test('the form has it in its last group, with its label, hint, choices and limits', async () => {
  const { form } = await dashboard('en');
  const more = form.slice(form.indexOf('<summary>More options</summary>'));
  assert.match(more, />Phase of the moon<\/label>/);
  assert.match(more, /<option value="new" selected="">New moon<\/option><option value="full">Full moon<\/option>/);
  assert.match(more, />Only then\.<\/p>/);
  assert.match(more, /<input type="number"[^>]* min="1" max="9"/);
});

test('only changed values are sent, and an emptied one is removed', async () => {
  const { changes } = await dashboard('en');
  const former = { path: '/in', moonPhase: 'full', tideMetres: 3, scheduleMinutes: 5 };
  assert.deepEqual(changes({ moonPhase: 'new' }, former), { moonPhase: 'new' });
  assert.deepEqual(changes({ tideMetres: '7' }, former), { tideMetres: 7 });
  assert.deepEqual(changes({ tideMetres: '' }, former), { tideMetres: null });
  assert.deepEqual(changes({}, former), {});
});

test('its facts show values that differ from the default', async () => {
  const { facts } = await dashboard('en');
  assert.deepEqual(facts({ path: '/in', moonPhase: 'full', tideMetres: 3 }), {
    'Phase of the moon': 'Full moon',
    'Least tide': '3',
  });
  assert.deepEqual(facts({ path: '/in', moonPhase: 'new', tideMetres: null }), {});
});

test('the facts of a webhook and of a job show all values that differ from their defaults', async () => {
  const { webhookFacts, jobFacts } = await dashboard('en');
  const labels = ['Only the success of these operations', 'Format', 'Delete even if the source is empty', 'Dry run'];
  const othersOf = (facts: Readonly<Record<string, unknown>>): object =>
    Object.fromEntries(
      Object.entries(facts).filter(([label]) => [...labels, 'Phase of the moon', 'Least tide'].includes(label)),
    );
  const webhook = { ...webhookExample, url: 'https://example.com/', isActive: true, connections: [], endedAt: null };
  const sent = { operations: ['upload', 'copy'], format: 'cloudevents', moonPhase: 'full' };
  assert.deepEqual(othersOf(webhookFacts({ ...webhook, ...sent })), {
    'Only the success of these operations': 'upload, copy',
    Format: 'CloudEvents 1.0',
    'Phase of the moon': 'Full moon',
  });
  assert.deepEqual(othersOf(webhookFacts({ ...webhook, operations: [], format: 'standard' })), {});
  const { settings } = jobExample;
  assert.deepEqual(othersOf(jobFacts({ ...settings, allowEmptySource: true, dryRun: true, tideMetres: 3 })), {
    'Delete even if the source is empty': 'yes',
    'Dry run': 'yes',
    'Least tide': '3',
  });
  assert.deepEqual(othersOf(jobFacts(settings)), {});
});

test('both speak German', async () => {
  const { form, facts } = await dashboard('de');
  assert.match(form, />Mondphase<\/label>/);
  assert.match(form, />Vollmond<\/option>/);
  assert.deepEqual(facts({ moonPhase: 'full' }), { Mondphase: 'Vollmond' });
});

test('without its German texts it does not compile', () => {
  const german = join(ROOT, 'src/contract/de/fields.ts');
  const host = ts.createCompilerHost({});
  const readFile = host.readFile.bind(host);
  host.readFile = (file) =>
    file.endsWith('src/contract/watched-folder.ts') ? withField(readFile(file) ?? '') : readFile(file);
  const program = ts.createProgram(
    [german],
    {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
      lib: ['lib.es2023.d.ts'],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
    },
    host,
  );
  const mistakes = ts
    .getPreEmitDiagnostics(program, program.getSourceFile(german))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  assert.equal(mistakes.length, 1, mistakes.join('\n'));
  assert.match(mistakes[0] ?? '', /moonPhase, tideMetres/);
});
