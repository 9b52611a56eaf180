/**
 * Reads secrets from a file, from standard input or from the keyboard; never from the command line, which other users
 * can see.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { Writable } from 'node:stream';
import { UsageError } from './exit-codes.js';

/** The content of a file, or of standard input for "-", without the line break at its end. */
export async function readSecret(file: string): Promise<string> {
  return (await readText(file)).replace(/\r?\n$/, '');
}

export async function readText(file: string): Promise<string> {
  return file === '-' ? text(process.stdin) : readFileSync(file, 'utf8');
}

/** Asks at the terminal; input is visible unless `isHidden`. @throws UsageError without a terminal */
export async function ask(
  question: string,
  options: { readonly isHidden: boolean; readonly signal: AbortSignal },
): Promise<string> {
  if (!process.stdin.isTTY)
    throw new UsageError(`${question}: there is no terminal to ask at; see --help for the option`);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const line = createInterface({
    input: process.stdin,
    output: options.isHidden ? nowhere : process.stderr,
    terminal: true,
  });
  // Printed only now: input typed before readline controls the terminal would be visible.
  if (options.isHidden) process.stderr.write(`${question}: `);
  // In raw mode the terminal sends no SIGINT; readline receives the key.
  line.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return await line.question(options.isHidden ? '' : `${question}: `, { signal: options.signal });
  } finally {
    line.close();
    if (options.isHidden) process.stderr.write('\n');
  }
}
