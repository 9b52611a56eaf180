/** C library calls that neither the front end nor Node.js offers. */
import { createRequire } from 'node:module';

interface Library {
  func(definition: string): unknown;
}

/** Throws if this is not Linux with the GNU C library. */
export function loadLibc(): Library {
  const koffi = createRequire(import.meta.url)('koffi') as { load(name: string | null): Library };
  return koffi.load('libc.so.6');
}
