/** Runs shell lines at a terminal, and types the answers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PATIENCE_MS } from '../support/eventually.js';

export interface TypedOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The answer for each prompt, such as `Password`. */
  readonly answers: Readonly<Record<string, string>>;
}

/** Resolves to everything on the screen; rejects with it when the lines fail. */
export async function typeAtTerminal(code: string, { cwd, env, answers }: TypedOptions): Promise<string> {
  // From util-linux: a terminal without a screen. Its command comes from a variable, so that it needs no quotes.
  const child = spawn('script', ['-qec', 'bash -euo pipefail -c "$TYPED"', '/dev/null'], {
    cwd,
    env: { ...env, TYPED: code, TERM: 'dumb' },
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: PATIENCE_MS,
  });
  let screen = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    for (const [question, answer] of Object.entries(answers)) {
      const at = screen.indexOf(`${question}: `, seen);
      if (at === -1) continue;
      seen = at + question.length;
      child.stdin.write(`${answer}\r`);
    }
  });
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error(`ended with ${status}: ${screen}`);
  return screen;
}
