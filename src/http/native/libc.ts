/** What the front end and Node.js have no call for. */
import { createRequire } from 'node:module';

interface Library {
  func(definition: string): unknown;
}

/** Throws where this is no Linux with the GNU C library. */
export function loadLibc(): Library {
  const koffi = createRequire(import.meta.url)('koffi') as { load(name: string | null): Library };
  return koffi.load('libc.so.6');
}
