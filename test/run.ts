/**
 * Runs the tests: all of them, or those whose path contains one of the arguments. A skipped test counts as failed, so
 * that nothing is left out silently. Files that measure run at the end, when little else does. What clients meet first
 * runs a second time on the other front end, node:http; TEST_FRONT_END=node runs everything on it, and nothing twice.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
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
  /^(http\/(client-limits|connections|downloads|event-loop|requests|retire|server|uploads)|attacks\/(connections|fuzz|numbers|sockets)|faults\/(clients|leaving-clients)|operations\/flat-memory|conformance\/memory)\./;
/** They hold a time or memory against a bound, or the time of one client against another's: neighbours would be measured, too. */
const MEASURES =
  /^(attacks\/(connections|hostile-servers|isolation-http|isolation-listings|names|own-crowd|sessions|sockets|watch-shares)|conformance\/memory|dashboard\/queue|faults\/(readiness|stalls)|operations\/(flat-memory|long-chains|returned-memory)|uploads\/(memory|purge))\./;
/** Those of a minute and more, the longest first: one that begins when the others are done keeps everybody waiting. The rest follow by name. */
const LONG = [
  ...['uploads/ends', 'operations/probes', 'jobs/in-flight', 'attacks/isolation-http', 'conformance/s3', 'watch/crash'],
  ...['uploads/broken-lines', 'conformance/pure-ftpd', 'app/threads', 'remotes/ftp/servers', 'remotes/ftp/seam'],
  ...['dashboard/tasks', 'attacks/hostile-servers', 'attacks/watch-shares', 'watch/routes', 'dashboard/queue'],
  ...['uploads/servers', 'app/nodes/balanced', 'attacks/fuzz', 'docs/recipes', 'webhooks/feed-kill'],
  ...['operations/flat-memory', 'faults/clients', 'faults/leaving-clients'],
];
const CORES = availableParallelism();
/** One more than there are cores: most wait now and then. */
const SIDE_BY_SIDE = CORES + 1;
/** Two leave enough of two cores; each more wants two. */
const MEASURING = Math.max(2, Math.floor(CORES / 2));
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
  .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
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

function rank(name: string): number {
  const place = LONG.findIndex((start) => name.startsWith(start));
  return place === -1 ? LONG.length : place;
}

/** Of all processes of the tests that have ended, in minutes, user and system (Linux). */
function processorMinutes(): number {
  const text = readFileSync('/proc/self/stat', 'latin1');
  const [user = 0, system = 0] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15)
    .map(Number);
  return (user + system) / 100 / 60;
}

/** The first lines of what was thrown; the whole stands in the report above. */
function reasonOf({ message, cause }: Error): string {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : message;
  return text.split('\n').slice(0, REASON_LINES).join('\n    ');
}

async function runFiles(names: readonly string[], concurrency: number): Promise<void> {
  if (names.length === 0) return;
  const paths = names.map((name) => join(folder, name));
  const stream = run({ files: paths, concurrency, timeout: wanted.length === 0 ? FILE_TIMEOUT_MS : Infinity });
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

async function runAll(names: readonly string[]): Promise<void> {
  await runFiles(
    names.filter((name) => !MEASURES.test(name)),
    SIDE_BY_SIDE,
  );
  await runFiles(
    names.filter((name) => MEASURES.test(name)),
    MEASURING,
  );
}

await runAll(files);
if (again.length > 0) {
  console.log('\non node:http\n');
  process.env['TEST_FRONT_END'] = 'node';
  process.env['FUZZ_REQUESTS'] ??= FUZZ_REQUESTS_AGAIN;
  await runAll(again);
}
const slowest = [...secondsOf].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN);
console.log('\nthe slowest files, in seconds of their tests:');
for (const [file, seconds] of slowest) console.log(`${seconds.toFixed(0).padStart(5)}  ${relative(root, file)}`);
console.log(`\n${processorMinutes().toFixed(1)} minutes of processor time`);
for (const failure of failures) console.log(`\nfailed: ${failure}`);
process.exitCode = failures.length > 0 || passed === 0 ? 1 : 0;
console.log(`\n${passed} passed, ${failures.length} failed`);
