/** Runs shell lines at a terminal, with somebody who types what is asked for. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface TypedOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What is typed by what is asked, such as `Password`. */
  readonly answers: Readonly<Record<string, string>>;
}

/** Resolves to all that stood on the screen; rejects with it when the lines fail. */
export async function typeAtTerminal(code: string, { cwd, env, answers }: TypedOptions): Promise<string> {
  // util-linux' own: a terminal without a screen. Its command is taken from a variable, so that it needs no quotes.
  const child = spawn('script', ['-qec', 'bash -euo pipefail -c "$TYPED"', '/dev/null'], {
    cwd,
    env: { ...env, TYPED: code, TERM: 'dumb' },
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: 120_000,
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
