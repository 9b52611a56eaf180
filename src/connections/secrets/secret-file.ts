/** Reads a secret from a file, as Docker and Kubernetes lay it down. */
import { constants, open } from 'node:fs/promises';
import { systemCodeOf } from '../../base/errors.js';
import { unreadable } from './unreadable.js';

const MAX_BYTES = 65_536;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'this user may not read',
};

/**
 * A text of one line has no line break at its end, as an editor may have added it; a text of several lines is unchanged.
 * @throws GatewayError login_refused
 */
export async function readSecretFile(path: string): Promise<string> {
  const content = await contentOf(path);
  const line = content.replace(/\r?\n$/, '');
  return line.includes('\n') ? content : line;
}

/** Opening a pipe must not wait for its writer. */
async function contentOf(path: string): Promise<string> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { size } = await regular(file);
      if (size > MAX_BYTES) throw unreadable(`has more than ${MAX_BYTES} bytes`);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = systemCodeOf(error);
    throw code in REASONS || code.startsWith('E') ? unreadable(REASONS[code] ?? `cannot be read (${code})`) : error;
  }
}

async function regular(file: Awaited<ReturnType<typeof open>>): Promise<{ readonly size: number }> {
  const stats = await file.stat();
  if (stats.isFile()) return stats;
  throw unreadable('is not a file');
}
