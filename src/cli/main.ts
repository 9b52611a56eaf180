#!/usr/bin/env node
/**
 * `ftg`: runs one command and ends with its exit code (exit-codes.ts). After Ctrl-C it cleans up; a second Ctrl-C ends
 * it at once.
 */
import { constants } from 'node:os';
import { CommanderError } from 'commander';
import { readManifest } from '../base/package-root.js';
import { commandOf } from './completion/words.js';
import { EXIT, Exit, exitCodeOf, UsageError } from './exit-codes.js';
import { usageHint } from './hints.js';
import { Output } from './output.js';
import { createProgram } from './program.js';

const BROKEN_PIPE = 128 + constants.signals.SIGPIPE;

const words = process.argv.slice(2);
const interrupt = new AbortController();
let interruptedBy: 'SIGINT' | 'SIGTERM' | undefined;

process.on('SIGINT', onSignal);
process.on('SIGTERM', onSignal);
process.stdout.on('error', onBrokenPipe);
let isHandedOver = false;

const exitCode = await run();
// Open handles, such as standard input, must not keep the process alive; all output must be written first.
if (!isHandedOver) process.stdout.write('', () => process.exit(exitCode));

/** The gateway that starts handles signals and exit codes itself. */
function handOver(): void {
  isHandedOver = true;
  process.off('SIGINT', onSignal);
  process.off('SIGTERM', onSignal);
  process.stdout.off('error', onBrokenPipe);
}

/** `ftg get … - | head` is not a failure. */
function onBrokenPipe(error: NodeJS.ErrnoException): never {
  process.exit(error.code === 'EPIPE' ? BROKEN_PIPE : EXIT.failure);
}

async function run(): Promise<number> {
  const { version } = readManifest();
  const program = await createProgram({ words, signal: interrupt.signal, version, handOver });
  try {
    await program.parseAsync(words, { from: 'user' });
    return EXIT.success;
  } catch (error) {
    if (interruptedBy !== undefined) return 128 + constants.signals[interruptedBy];
    const out = new Output(words.includes('--json'));
    if (error instanceof CommanderError) {
      // Help and version are already printed.
      if (error.exitCode === 0) return EXIT.success;
      if (error.code === 'commander.help') return EXIT.usage;
      const message = error.message.replace(/^error: /, '');
      out.fail(new UsageError(message, usageHint(message, commandOf(program, words), words)));
      return EXIT.usage;
    }
    if (!(error instanceof Exit)) out.fail(error);
    return exitCodeOf(error);
  }
}

function onSignal(signal: 'SIGINT' | 'SIGTERM'): void {
  if (interruptedBy !== undefined) process.exit(128 + constants.signals[signal]);
  interruptedBy = signal;
  interrupt.abort(new Error(`interrupted by ${signal}`));
}
