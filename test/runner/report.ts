/** What a run says at its end. A skipped test counts as failed, so that nothing is left out silently. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { run } from 'node:test';
import { ROOT } from './selection.js';

const SLOWEST_SHOWN = 25;
const REASON_LINES = 12;

interface Ended {
  readonly name: string;
  readonly file?: string;
  readonly nesting: number;
  readonly details: { readonly duration_ms: number };
}

export class Report {
  #passed = 0;
  /** Named again at the very end: of a long report, logs often keep only that. */
  readonly #failures: string[] = [];
  readonly #secondsOf = new Map<string, number>();

  listen(stream: ReturnType<typeof run>): void {
    stream.on('test:pass', (event) => {
      this.#note(event);
      if (event.details.type === 'suite') return;
      if (event.skip !== undefined || event.todo !== undefined) this.#fail(event, 'skipped');
      else this.#passed++;
    });
    stream.on('test:fail', (event) => {
      this.#note(event);
      const { type, error } = event.details;
      // A suite fails with its tests; only what cannot be counted below it is counted here.
      if (type !== 'suite' || error.message === 'test failed') this.#fail(event, reasonOf(error));
    });
  }

  /** The exit code: a run in which nothing passed has failed, too. */
  print(): 0 | 1 {
    const slowest = [...this.#secondsOf].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN);
    console.log('\nthe slowest files, in seconds of their tests:');
    for (const [file, seconds] of slowest)
      console.log(`${seconds.toFixed(0).padStart(5)}  ${path.relative(ROOT, file)}`);
    const minutes = processorMinutes();
    if (minutes !== undefined) console.log(`\n${minutes.toFixed(1)} minutes of processor time`);
    for (const failure of this.#failures) console.log(`\nfailed: ${failure}`);
    console.log(`\n${this.#passed} passed, ${this.#failures.length} failed`);
    return this.#failures.length > 0 || this.#passed === 0 ? 1 : 0;
  }

  #note({ file = '', nesting, details }: Ended): void {
    if (nesting === 0) this.#secondsOf.set(file, (this.#secondsOf.get(file) ?? 0) + details.duration_ms / 1_000);
  }

  #fail({ name, file = '' }: Ended, why: string): void {
    this.#failures.push(`${path.relative(ROOT, file)}: ${name}: ${why}`);
  }
}

/** The first lines of what was thrown; the report of the test has all of it. */
function reasonOf({ message, cause }: Error): string {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : message;
  return text.split('\n').slice(0, REASON_LINES).join('\n    ');
}

/** Of all processes of the tests that have ended, user and system; where the system says so (Linux). */
function processorMinutes(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const text = readFileSync('/proc/self/stat', 'latin1');
  const [user = 0, system = 0] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15)
    .map(Number);
  return (user + system) / 100 / 60;
}
