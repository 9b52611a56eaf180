/** The contents that are moved: random, so that they cannot be compressed, and compared byte by byte afterwards. */
import { randomFillSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';

const MIB = 1024 * 1024;
const STEP = 4 * MIB;

/** A file of `bytes` random bytes below `folder`, made once. */
export async function randomFile(folder: string, bytes: number): Promise<string> {
  const path = join(folder, `source-${bytes}`);
  if (existsSync(path)) return path;
  const part = Buffer.allocUnsafe(Math.min(bytes, STEP));
  const file = await open(`${path}.part`, 'w');
  for (let left = bytes; left > 0; left -= part.length) {
    randomFillSync(part);
    await file.write(part, 0, Math.min(left, part.length));
  }
  await file.close();
  await rename(`${path}.part`, path);
  return path;
}

/** @throws if the two differ in any byte */
export async function expectSame(actual: string, expected: string): Promise<void> {
  const [{ size: actualBytes }, { size: expectedBytes }] = await Promise.all([stat(actual), stat(expected)]);
  if (actualBytes !== expectedBytes) throw new Error(`${actual} has ${actualBytes} bytes instead of ${expectedBytes}`);
  const files = await Promise.all([open(actual), open(expected)]);
  try {
    const [left, right] = [Buffer.allocUnsafe(STEP), Buffer.allocUnsafe(STEP)];
    for (let at = 0; at < actualBytes; at += STEP) {
      const [one, other] = await Promise.all([files[0].read(left, 0, STEP, at), files[1].read(right, 0, STEP, at)]);
      if (!left.subarray(0, one.bytesRead).equals(right.subarray(0, other.bytesRead))) {
        throw new Error(`${actual} differs from ${expected} after byte ${at}`);
      }
    }
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
}
