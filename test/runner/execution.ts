/** Runs test files, several at once, those that measure at the end, and what clients meet first on both front ends. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { TEMPLATES_VARIABLE } from '../servers/data-folders.js';
import { FRONT_END } from '../support/front-end.js';
import { makeScratch } from '../support/scratch.js';
import { measures, waits } from '../tiers.js';
import { type Batches, batchesOf } from './batches.js';
import { endTrees, showWhatHangs } from './processes.js';
import type { Broken, Report } from './report.js';
import { serveShared } from './shared.js';
import { FOLDER } from './selection.js';

/** Ends a process that hangs. A run of named files has no such limit. Six files of two minutes may share a process. */
const PROCESS_TIMEOUT_MS = 1_800_000;
/** What such a process and its children do is printed this long before its end. */
const SHOWN_BEFORE_MS = 5_000;
/** Files of a minute and more, the longest first: a long one that begins last runs alone at the end. The rest follow by name. */
const LONG = `
  s3/tools/first s3/multipart-kill s3/join-kill remotes/s3/seam remotes/sftp/seam remotes/ftp/seam docs/recipes
  attacks/fuzz jobs/kill s3/tools release/installed bench/smoke uploads/broken-lines dashboard/queue storage/open
  dashboard/screens api/status-table-remotes dashboard/tasks conformance/ watch/crash docs/site remotes/sftp/long-line
  watch/routes uploads/servers jobs/url-upload jobs/sync remotes/s3/radosgw faults/repeated-after-kill jobs/cancel
  faults/leaving-clients uploads/ends attacks/isolation http/retire http/client-limits
  attacks/hostile-servers attacks/watch-shares connections/health/probes app/nodes/clocks
`
  .trim()
  .split(/\s+/);
const CORES = availableParallelism();
/** A file keeps a third of a core busy, and waits for the rest of its time. */
const SIDE_BY_SIDE = 3 * CORES;
/** Two measuring files suit two cores; each further one needs two more. */
const MEASURING = Math.max(2, Math.floor(CORES / 2));
/** Beside the measuring ones. */
const WAITING = 1;
/** What is made by chance need not be as much as the first time. */
const FUZZ_REQUESTS_AGAIN = '5000';

export interface Options {
  readonly concurrency: number;
  /** Milliseconds of one process. */
  readonly timeout: number;
  /** Receives the report while the files run. */
  readonly print: (text: string | Buffer) => void;
}

export interface Execution {
  readonly files: readonly string[];
  /** They run on node:http afterwards; TEST_FRONT_END=node runs everything on it, and nothing twice. */
  readonly onNodeToo: readonly string[];
  readonly endsWhatHangs: boolean;
}

/** Where the tests of this process and its children put their files, until it exits, and its children with it. */
export function prepareScratch(): void {
  const scratch = makeScratch();
  process.once('exit', () => {
    endTrees(process.pid, `TMPDIR=${scratch.folder}`);
    scratch.remove();
  });
  // A second one, as from npm and the terminal, must not cut that off.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
  process.env['TMPDIR'] = scratch.folder;
  const templates = path.join(scratch.folder, 'templates');
  mkdirSync(templates);
  process.env[TEMPLATES_VARIABLE] = templates;
}

export async function execute({ files, onNodeToo, endsWhatHangs }: Execution, report: Report): Promise<void> {
  const timeout = endsWhatHangs ? PROCESS_TIMEOUT_MS : Infinity;
  await runAll(files, timeout, report);
  const again = FRONT_END === 'node' ? [] : onNodeToo;
  if (again.length === 0) return;
  console.log('\non node:http\n');
  process.env['TEST_FRONT_END'] = 'node';
  process.env['FUZZ_REQUESTS'] ??= FUZZ_REQUESTS_AGAIN;
  await runAll(again, timeout, report);
}

function print(text: string | Buffer): void {
  process.stdout.write(text);
}

async function runAll(files: readonly string[], timeout: number, report: Report): Promise<void> {
  const sorted = [...files].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  // Anew on each front end: gateways are also shared.
  const endShared = await serveShared(tmpdir());
  try {
    await runFiles(
      sorted.filter((name) => !measures(name)),
      { concurrency: SIDE_BY_SIDE, timeout, print },
      report,
    );
    const measuring = sorted.filter(measures);
    // Shown at the end: the reports of two runs would be mixed line by line.
    const held: string[] = [];
    await Promise.all([
      runFiles(
        measuring.filter((name) => !waits(name)),
        { concurrency: MEASURING, timeout, print },
        report,
      ),
      runFiles(
        measuring.filter(waits),
        { concurrency: WAITING, timeout, print: (text) => held.push(String(text)) },
        report,
      ),
    ]);
    print(held.join(''));
  } finally {
    await endShared();
  }
}

function rank(name: string): number {
  const place = LONG.findIndex((start) => name.startsWith(start));
  return place === -1 ? LONG.length : place;
}

async function runFiles(names: readonly string[], options: Options, report: Report): Promise<void> {
  const long = names.filter(isLong);
  const others = batchesOf(
    names.filter((name) => !isLong(name)),
    FOLDER,
    options.concurrency,
  );
  const whole = (some: readonly string[]): string[] => some.map((name) => path.join(FOLDER, name));
  await runBatches({ alone: whole(long), together: others.together.map(whole) }, whole(others.alone), options, report);
}

/** Absolute paths. Files that a process had not finished when it ended run again, alone. */
export async function runBatches(
  first: Batches,
  last: readonly string[],
  options: Options,
  report: Report,
): Promise<void> {
  const entries = new Map(first.together.map((batch) => [writeEntry(batch), batch]));
  const broken = await runPaths([...first.alone, ...entries.keys(), ...last], entries, options, report);
  for (const { files, unfinished, reason = 'a test had failed' } of broken) {
    const names = (some: readonly string[]): string => some.map((file) => path.relative(FOLDER, file)).join(', ');
    console.log(
      `\nthe process of ${names(files)} ended early: ${reason}\nthese run again, alone: ${names(unfinished)}\n`,
    );
    const failures = report.failed;
    await runPaths(unfinished, new Map(), options, report);
    // Each passes alone: they disturb each other in one process.
    if (report.failed === failures) report.fail(names(files), 'together in one process', reason);
  }
}

async function runPaths(
  files: readonly string[],
  entries: ReadonlyMap<string, readonly string[]>,
  options: Options,
  report: Report,
): Promise<readonly Broken[]> {
  if (files.length === 0) return [];
  const endShowing = Number.isFinite(options.timeout)
    ? showWhatHangs(options.timeout - SHOWN_BEFORE_MS, (program) => files.includes(program), console.log)
    : undefined;
  const stream = run({ files: [...files], concurrency: options.concurrency, timeout: options.timeout });
  const brokenOnes = report.listen(stream, entries);
  for await (const text of stream.compose<NodeJS.ReadableStream>(new spec())) options.print(text);
  endShowing?.();
  return brokenOnes();
}

/** `run` starts one process for each file that it is given, without arguments. */
function writeEntry(files: readonly string[]): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-together-'));
  const entry = path.join(folder, 'together.mjs');
  const loader = pathToFileURL(path.join(FOLDER, 'runner', 'together.js')).href;
  writeFileSync(
    entry,
    `import { runTogether } from ${JSON.stringify(loader)};\nawait runTogether(${JSON.stringify(files)});\n`,
  );
  return entry;
}

function isLong(name: string): boolean {
  return rank(name) < LONG.length;
}
