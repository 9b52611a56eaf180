/** `ftg` as a user runs it: a separate process with a separate home folder. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { FTG } from '../support/start-args.js';

export { FTG };

export interface Ended {
  /** 128 plus the signal's number if a signal ended it, as in a shell. */
  readonly code: number;
  readonly bytes: Buffer;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;

export class Terminal {
  readonly #env: Environment;
  /** The folder of this terminal, in which commands run. */
  readonly home = mkdtempSync(join(tmpdir(), 'ftg-cli-'));

  constructor(env: Environment = {}) {
    this.#env = env;
  }

  start(words: readonly string[], env: Environment = {}): ChildProcess {
    const inherited = { PATH: process.env['PATH'] ?? '', HOME: this.home };
    return spawn(process.execPath, [FTG, ...words], {
      cwd: this.home,
      env: { ...inherited, ...this.#env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  async run(
    words: readonly string[],
    options: { readonly input?: string | Buffer; readonly env?: Environment } = {},
  ): Promise<Ended> {
    const child = this.start(words, options.env);
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input ?? '');
    return ended(child);
  }

  /** The command must succeed. */
  async ok(words: readonly string[], options: { readonly input?: string | Buffer } = {}): Promise<string> {
    const result = await this.run(words, options);
    assert.equal(result.code, 0, `ftg ${words.join(' ')}: ${result.stdout}${result.stderr}`);
    return result.stdout;
  }

  /** The output with --json. */
  async json<T = Record<string, unknown>>(...words: readonly string[]): Promise<T> {
    return JSON.parse(await this.ok(['--json', ...words])) as T;
  }

  /** The command must end with this code and this message. */
  async fails(code: number, text: RegExp, words: readonly string[], env: Environment = {}): Promise<Ended> {
    const result = await this.run(words, { env });
    assert.equal(result.code, code, `ftg ${words.join(' ')}: ${result.stdout}${result.stderr}`);
    assert.match(result.stderr, text);
    return result;
  }

  close(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

/**
 * Sets a file's time ahead of the server's clock: then it has no version yet, so the part of an interrupted download is
 * not kept.
 */
export function stillChanging(file: string): void {
  const tomorrow = Date.now() / 1000 + 86_400;
  utimesSync(file, tomorrow, tomorrow);
}

export async function ended(child: ChildProcess): Promise<Ended> {
  const exited = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  assert.ok(child.stdout !== null && child.stderr !== null);
  const [bytes, errors, [code]] = await Promise.all([buffer(child.stdout), buffer(child.stderr), exited]);
  return { code: code ?? -1, bytes, stdout: bytes.toString(), stderr: errors.toString() };
}
