/** The key that wraps all others: from the configuration, or from a file that the program creates. */
import { createHash, randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, systemCodeOf } from '../../base/errors.js';
import { writePrivateDraft } from '../../base/private-file.js';
import { StartupError } from '../startup.js';

export const MASTER_KEY_BYTES = 32;

export interface MasterKey {
  /** First half of a hash of the key: names it in rows and messages without revealing it. */
  readonly id: string;
  readonly bytes: Buffer;
}

function masterKeyOf(bytes: Buffer): MasterKey {
  const digest = createHash('sha256').update('file-transfer-gateway master key\0').update(bytes).digest('hex');
  return { id: digest.slice(0, 16), bytes };
}

/**
 * Reads 32 bytes as hex (64 digits) or base64, which may be URL-safe and unpadded. `source` names the setting in
 * errors.
 */
export function parseMasterKey(text: string, source = 'GATEWAY_MASTER_KEY'): MasterKey {
  const trimmed = text.trim();
  const bytes = /^[0-9a-f]{64}$/i.test(trimmed)
    ? Buffer.from(trimmed, 'hex')
    : /^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)
      ? Buffer.from(trimmed, 'base64')
      : undefined;
  if (bytes?.length !== MASTER_KEY_BYTES) {
    throw new StartupError(`${source}: not a key; allowed: 32 bytes as base64 or as 64 hex digits`);
  }
  return masterKeyOf(bytes);
}

export function masterKeyFile(dataDir: string): string {
  return path.resolve(dataDir, 'master.key');
}

/** The key in the file, or undefined if there is no file. */
export async function readMasterKeyFile(file: string): Promise<MasterKey | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw new StartupError(`the key file ${file} cannot be read; set GATEWAY_MASTER_KEY or correct its permissions`);
  }
  return parseMasterKey(text, `the key file ${file}`);
}

/** Whether other users of this machine can read the file. Always false on systems without file modes. */
export async function isReadableByOthers(file: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  return ((await stat(file)).mode & 0o077) !== 0;
}

/** Creates the file with a new key unless another process was faster; resolves to the key in the file. */
export async function createMasterKeyFile(file: string): Promise<MasterKey> {
  const draft = await writeKeyDraft(file, randomBytes(MASTER_KEY_BYTES));
  try {
    // A link, unlike a rename, never replaces: of two processes that start at once, one wins with its complete key.
    await link(draft, file);
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST')
      throw new StartupError(`the key file ${file} cannot be made: ${messageOf(error)}`);
  } finally {
    await rm(draft, { force: true });
  }
  const key = await readMasterKeyFile(file);
  if (key === undefined) throw new StartupError(`the key file ${file} vanished while it was made`);
  return key;
}

/** Replaces the key in the file, completely or not at all. */
export async function replaceMasterKeyFile(file: string, key: MasterKey): Promise<void> {
  await rename(await writeKeyDraft(file, key.bytes), file);
}

async function writeKeyDraft(file: string, bytes: Buffer): Promise<string> {
  try {
    return await writePrivateDraft(file, `${bytes.toString('hex')}\n`);
  } catch (error) {
    throw new StartupError(`dataDir: the key file ${file} cannot be written: ${messageOf(error)}`);
  }
}
