/**
 * Loaded before the gateway (`--import`), it lets the wall clock jump: at SIGUSR2 it is set off the true time by the
 * milliseconds in the file CLOCK_OFFSET_FILE. The monotonic clock and the timers continue, as on a real machine.
 */
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

let offsetMs = 0;
const TrueDate = Date;

class JumpingDate extends TrueDate {
  constructor(...parts: [] | ConstructorParameters<typeof Date>) {
    if (parts.length === 0) super(JumpingDate.now());
    else super(...parts);
  }

  static override now(): number {
    return TrueDate.now() + offsetMs;
  }
}

if (isMainThread) {
  globalThis.Date = JumpingDate as DateConstructor;
  process.on('SIGUSR2', () => {
    offsetMs = Number(readFileSync(process.env['CLOCK_OFFSET_FILE'] ?? '', 'utf8'));
    process.stderr.write(`the clock is set to ${offsetMs} ms off\n`);
  });
}
