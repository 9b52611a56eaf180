/** What a run says at its end. A skipped test counts as failed, so that nothing is left out silently. */
import path from 'node:path';
import type { run } from 'node:test';
import { type ProcessCost, processorSeconds, watchProcesses } from './processes.js';
import { ROOT } from './selection.js';

const SLOWEST_SHOWN = 25;
const COSTLIEST_SHOWN = 40;
const REASON_LINES = 12;

interface Ended {
  readonly name: string;
  readonly file?: string;
  readonly nesting: number;
  readonly type?: string;
  readonly duration_ms: number;
  /** It failed. */
  readonly error?: Error;
  readonly isSkipped: boolean;
}

/** A process of several files that ended before all of them had. */
export interface Broken {
  readonly files: readonly string[];
  readonly unfinished: readonly string[];
  /** Absent if the process gave no reason because a test had failed. */
  readonly reason: string | undefined;
}

export class Report {
  #passed = 0;
  /** Named again at the very end: of a long report, logs often keep only that. */
  readonly #failures: string[] = [];
  readonly #secondsOf = new Map<string, number>();
  /** The files of each entry that runs several. */
  readonly #entries = new Map<string, readonly string[]>();
  readonly #processes = watchProcesses();

  get failed(): number {
    return this.#failures.length;
  }

  /**
   * `entries` run several files in one process each, by the path of the entry. When the stream has ended, the result says
   * which of these processes ended before all of their files had.
   */
  listen(stream: ReturnType<typeof run>, entries: ReadonlyMap<string, readonly string[]>): () => readonly Broken[] {
    for (const [entry, files] of entries) this.#entries.set(entry, files);
    const shared = new Set([...entries.values()].flat());
    const finished = new Set<string>();
    const reasons = new Map<string, string>();
    // Tests end before what holds them, and the processes are reported one after the other.
    let held: Ended[] = [];
    const dropUnfinished = (): void => {
      // The process is gone. Its files run again, but what failed has failed.
      const failed = held.filter(({ error }) => error !== undefined);
      held = [];
      if (failed.length > 0) this.#count(failed);
    };
    const end = (event: Ended): void => {
      held.push(event);
      if (event.nesting > 0) return;
      if (entries.has(event.name)) {
        if (event.error !== undefined) reasons.set(event.name, reasonOf(event.error));
        held.pop();
        return dropUnfinished();
      }
      if (shared.has(event.name)) finished.add(event.name);
      this.#count(held, shared.has(event.name) ? event : undefined);
      held = [];
    };
    stream.on('test:start', ({ nesting }) => nesting === 0 && dropUnfinished());
    stream.on('test:pass', ({ skip, todo, details, ...event }) =>
      end({ ...event, ...details, isSkipped: skip !== undefined || todo !== undefined }),
    );
    stream.on('test:fail', ({ details, ...event }) => end({ ...event, ...details, isSkipped: false }));
    return () => {
      dropUnfinished();
      return [...entries]
        .map(([entry, files]) => ({
          files,
          unfinished: files.filter((file) => !finished.has(file)),
          reason: reasons.get(entry),
        }))
        .filter(({ unfinished, reason }) => unfinished.length > 0 || reason !== undefined);
    };
  }

  fail(file: string, name: string, why: string): void {
    this.#failures.push(`${file}: ${name}: ${why}`);
  }

  /** The exit code: a run in which nothing passed has also failed. */
  print(): 0 | 1 {
    const slowest = [...this.#secondsOf].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN);
    console.log('\nthe slowest files, in seconds of their tests:');
    for (const [file, seconds] of slowest) console.log(`${seconds.toFixed(0).padStart(5)}  ${sourceOf(file)}`);
    this.#printProcesses();
    for (const failure of this.#failures) console.log(`\nfailed: ${failure}`);
    console.log(`\n${this.#passed} passed, ${this.#failures.length} failed`);
    return this.#failures.length > 0 || this.#passed === 0 ? 1 : 0;
  }

  #printProcesses(): void {
    const seconds = processorSeconds();
    if (seconds === undefined) return;
    console.log('\nthe costliest processes, in seconds of processor time, and on the clock:');
    const costliest = this.#processes.toSorted((a, b) => b.processorSeconds - a.processorSeconds);
    for (const cost of costliest.slice(0, COSTLIEST_SHOWN)) {
      const { processorSeconds: own, wallSeconds } = cost;
      console.log(`${own.toFixed(1).padStart(7)}${wallSeconds.toFixed(0).padStart(6)}  ${this.#nameOf(cost)}`);
    }
    console.log(`\n${(seconds / 60).toFixed(1)} minutes of processor time`);
  }

  /** The files that a process has run, or the program that they share. */
  #nameOf({ args }: ProcessCost): string {
    const last = args.at(-1) ?? '';
    return (this.#entries.get(last) ?? [last]).map(sourceOf).join(' ');
  }

  /** `events` ends with a top-level one; `whole` is the suite that is a file. */
  #count(events: readonly Ended[], whole?: Ended): void {
    const last = events.at(-1);
    const file = whole?.name ?? last?.file ?? '';
    this.#secondsOf.set(file, (this.#secondsOf.get(file) ?? 0) + (last?.duration_ms ?? 0) / 1_000);
    const failures = this.#failures.length;
    for (const { type, error, isSkipped, name, file: from = file } of events) {
      const at = sourceOf(from);
      // A suite fails with its tests; only what cannot be counted below it is counted here.
      if (error !== undefined && (type !== 'suite' || error.message === 'test failed'))
        this.fail(at, name, reasonOf(error));
      else if (error === undefined && type !== 'suite' && isSkipped) this.fail(at, name, 'skipped');
      else if (error === undefined && type !== 'suite') this.#passed++;
    }
    if (whole?.error !== undefined && this.#failures.length === failures)
      this.fail(sourceOf(file), 'the file', reasonOf(whole.error));
  }
}

/** The path in the repository, even if the file was compiled from it. */
function sourceOf(file: string): string {
  return path.relative(ROOT, file).replace(/^dist[\\/](.*)\.js$/, '$1.ts');
}

/** The first lines of what was thrown; the report of the test has all of it. */
function reasonOf({ message, cause }: Error): string {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : message;
  return text.split('\n').slice(0, REASON_LINES).join('\n    ');
}
