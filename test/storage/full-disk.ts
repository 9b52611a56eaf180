import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';

/** Writes until there is no room for another kilobyte. */
export async function fillDisk(file: string): Promise<void> {
  const handle = await open(file, 'w');
  try {
    for (const size of [1024 * 1024, 64 * 1024, 1024]) {
      const chunk = Buffer.alloc(size);
      try {
        for (;;) await handle.writeFile(chunk);
      } catch (error) {
        assert.ok(error instanceof Error && 'code' in error && error.code === 'ENOSPC', String(error));
      }
    }
  } finally {
    await handle.close();
  }
}
