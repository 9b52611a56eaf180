/**
 * Runs the tests: all of them, or those whose path contains one of the arguments. A skipped test counts as failed, so
 * that nothing is left out silently. What clients meet first runs a second time on the other front end, node:http;
 * TEST_FRONT_END=node runs everything on it, and nothing twice.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { TEMPLATES_VARIABLE } from './servers/data-folders.js';
import { ensurePackages } from './servers/packages.js';
import { FRONT_END } from './support/front-end.js';
import { makeScratch } from './support/scratch.js';

/** Only for what hangs while nobody looks: the slowest file takes two minutes on an idle machine. Who names files may ask for hours. */
const FILE_TIMEOUT_MS = 900_000;
const ON_BOTH =
  /^(http\/(client-limits|connections|downloads|event-loop|requests|retire|server|uploads)|attacks\/(connections|fuzz|sockets)|faults\/(clients|leaving-clients)|operations\/flat-memory|conformance\/memory)\./;
/** What is made by chance need not be as much as the first time. */
const FUZZ_REQUESTS_AGAIN = '5000';
const SLOWEST_SHOWN = 25;
const REASON_LINES = 12;
const folder = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.js'))
  // Of a file that has moved or gone the compiled one stays behind.
  .filter((name) => existsSync(join(root, 'test', name.replace(/\.js$/, '.ts'))))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .sort();
const again = FRONT_END === 'node' ? [] : files.filter((name) => ON_BOTH.test(name));

await ensurePackages();
const scratch = makeScratch();
process.once('exit', () => scratch.remove());
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.env['TMPDIR'] = scratch.folder;
const templates = join(scratch.folder, 'templates');
mkdirSync(templates);
process.env[TEMPLATES_VARIABLE] = templates;

let passed = 0;
/** Named again at the very end: of a long report, logs often keep only that. */
const failures: string[] = [];
const secondsOf = new Map<string, number>();

interface Ended {
  readonly name: string;
  readonly file?: string;
  readonly nesting: number;
  readonly details: { readonly duration_ms: number };
}

/** The first lines of what was thrown; the whole stands in the report above. */
function reasonOf({ message, cause }: Error): string {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : message;
  return text.split('\n').slice(0, REASON_LINES).join('\n    ');
}

async function runFiles(names: readonly string[]): Promise<void> {
  const paths = names.map((name) => join(folder, name));
  const stream = run({ files: paths, concurrency: 2, timeout: wanted.length === 0 ? FILE_TIMEOUT_MS : Infinity });
  const note = ({ file = '', nesting, details }: Ended): void => {
    if (nesting === 0) secondsOf.set(file, (secondsOf.get(file) ?? 0) + details.duration_ms / 1_000);
  };
  const fail = ({ name, file = '' }: Ended, why: string): void => {
    failures.push(`${relative(root, file)}: ${name}: ${why}`);
  };
  stream.on('test:pass', (event) => {
    note(event);
    if (event.details.type === 'suite') return;
    if (event.skip !== undefined || event.todo !== undefined) fail(event, 'skipped');
    else passed++;
  });
  stream.on('test:fail', (event) => {
    note(event);
    const { type, error } = event.details;
    // A suite fails with its tests; only what cannot be counted below it is counted here.
    if (type !== 'suite' || error.message === 'test failed') fail(event, reasonOf(error));
  });
  const report = stream.compose<NodeJS.ReadableStream>(new spec());
  for await (const text of report) process.stdout.write(text);
}

await runFiles(files);
if (again.length > 0) {
  console.log('\non node:http\n');
  process.env['TEST_FRONT_END'] = 'node';
  process.env['FUZZ_REQUESTS'] ??= FUZZ_REQUESTS_AGAIN;
  await runFiles(again);
}
const slowest = [...secondsOf].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN);
console.log('\nthe slowest files, in seconds of their tests:');
for (const [file, seconds] of slowest) console.log(`${seconds.toFixed(0).padStart(5)}  ${relative(root, file)}`);
for (const failure of failures) console.log(`\nfailed: ${failure}`);
process.exitCode = failures.length > 0 || passed === 0 ? 1 : 0;
console.log(`\n${passed} passed, ${failures.length} failed`);
