/**
 * Loaded before the gateway (`--import`), it lets its wall clock jump: at SIGUSR2 to so many milliseconds off the true
 * time as the file named by CLOCK_OFFSET_FILE says. The monotonic clock and the timers go on, as on a real machine.
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
