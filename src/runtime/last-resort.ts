import { createRequire } from 'node:module';

/**
 * Ends the process in so many seconds, whatever it does: by the system's own timer, whose SIGALRM nobody here handles.
 * A later call takes the place of the former.
 *
 * No timer of Node.js can do that. An event loop that computes reaches none, and process.exit() waits for native work in
 * threads (a key derivation, say), which nothing interrupts. Does nothing on Windows.
 */
export function endWithin(seconds: number): void {
  if (process.platform === 'win32') return;
  try {
    const koffi = createRequire(import.meta.url)('koffi') as {
      load(name: null): { func(definition: string): (seconds: number) => number };
    };
    // The C library that this process runs on, whatever its name.
    koffi.load(null).func('unsigned int alarm(unsigned int seconds)')(Math.max(1, Math.ceil(seconds)));
  } catch {
    // No build of the library for this system: whoever supervises the process has to end it.
  }
}
