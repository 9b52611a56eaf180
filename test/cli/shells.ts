/** Interactive shells: typed text, and the completion of the Tab key. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { PATIENCE_MS } from '../support/eventually.js';

interface Shell {
  readonly command: string;
  /** Ready to read a line, with the completion of ftg. */
  readonly setUp: string;
}

export const INTERACTIVE: Readonly<Record<'bash' | 'zsh', Shell>> = {
  bash: { command: 'bash --norc --noprofile -i', setUp: 'source <(ftg completion bash)' },
  zsh: {
    command: 'zsh -f -i',
    setUp: 'PROMPT_SP=; autoload -Uz compinit; compinit -u -D; source <(ftg completion zsh)',
  },
};

const PROMPT = '> ';
const END = '#end';

/** The text of the command line after Tab, starting with `typed`. */
export async function completed(
  { command, setUp }: Shell,
  typed: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<readonly string[]> {
  const env = { ...options.env, TERM: 'dumb', PS1: PROMPT, LC_ALL: 'C.UTF-8' };
  const child = spawn('script', ['-qec', `stty cols 500; ${command}`, '/dev/null'], {
    cwd: options.cwd,
    env,
    timeout: PATIENCE_MS,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
  const shows = async (text: string): Promise<string> => {
    while (!screen.includes(text)) await once(child.stdout, 'data', { signal: AbortSignal.timeout(PATIENCE_MS) });
    const [before = ''] = screen.split(text);
    screen = screen.slice(before.length + text.length);
    return before;
  };
  child.stdin.write(`${setUp}; echo rea''dy\n`);
  await shows('ready');
  // After the prompt, the shell echoes the typed text; before it, the terminal does.
  await shows(PROMPT);
  const lines: string[] = [];
  for (const line of typed) {
    // Text that is typed after the Tab is shown once the completion is done.
    child.stdin.write(`${line}\t${END}`);
    const before = await shows(END);
    // zsh goes back over the blank that it has added.
    const plain = stripVTControlCharacters(before.slice(before.lastIndexOf('ftg')));
    lines.push(plain.replaceAll('\b', '').trimEnd());
    // Discards the line.
    child.stdin.write('\u0015');
  }
  child.stdin.end();
  child.kill('SIGKILL');
  await once(child, 'close');
  return lines;
}
