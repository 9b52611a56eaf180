import { createRequire } from 'node:module';

/**
 * Ends the process after this many seconds, in any state: by the system's own timer, whose SIGALRM has no handler here.
 * A later call replaces the former.
 *
 * No timer of Node.js can do that. An event loop that computes never reaches its timers, and process.exit() waits for
 * native work in threads (a key derivation, for example), which cannot be interrupted. Does nothing on Windows.
 */
export function endWithin(seconds: number): void {
  if (process.platform === 'win32') return;
  try {
    const koffi = createRequire(import.meta.url)('koffi') as {
      load(name: null): { func(definition: string): (seconds: number) => number };
    };
    // The C library of this process, under any name.
    koffi.load(null).func('unsigned int alarm(unsigned int seconds)')(Math.max(1, Math.ceil(seconds)));
  } catch {
    // No build of the library for this system: the supervisor of the process must end it.
  }
}
