/** RNFR and RNTO, and what to do where a server will not rename onto an existing file or into a missing folder. */
import { randomBytes } from 'node:crypto';
import { GatewayError } from '../../../base/errors.js';
import { baseName, joinPath, parentOf, type RemotePath } from '../../path.js';
import { makeFolder } from './folders.js';
import { find } from './lookup.js';
import type { Operation } from '../session/operation.js';
import { isPositive, refusal, type Reply } from '../session/replies.js';

const MAX_NAME_BYTES = 255;

/**
 * Puts `from` at `to`, replacing a file there; missing folders are made. On any failure a former file at `to` stands.
 * Errors: is_a_folder, permission_denied, remote_failure, no_space.
 */
export async function renameOnto(operation: Operation, from: RemotePath, to: RemotePath): Promise<void> {
  await renameAnyhow(operation, from, to);
  // pure-ftpd says 250 and changes blanks at the end of a name.
  if (to.endsWith(' ') && (await find(operation, to)) === undefined) throw storedElsewhere(to);
}

/** The server took the bytes, but not the name. */
export function storedElsewhere(path: RemotePath): GatewayError {
  const text = `${path}: the FTP server stored the file under another name than it was told`;
  return new GatewayError('remote_failure', text, { step: 'verify' });
}

async function renameAnyhow(operation: Operation, from: RemotePath, to: RemotePath): Promise<void> {
  let reply = await rename(operation, from, to);
  if (isPositive(reply)) return;
  const existing = await find(operation, to);
  if (existing?.isDirectory === true) {
    throw new GatewayError('is_a_folder', `a folder stands at ${to}`, { step: 'publish' });
  }
  if (existing !== undefined) return replaceAside(operation, from, to, reply);
  if (!(await operation.isFolder(parentOf(to)))) {
    await makeFolder(operation, parentOf(to));
    reply = await rename(operation, from, to);
    if (isPositive(reply)) return;
  }
  throw refusal(reply, 'publish', `renaming to ${to}`);
}

/** The last reply of the pair; a refused RNFR is the answer. */
async function rename(operation: Operation, from: RemotePath, to: RemotePath): Promise<Reply> {
  const ready = await operation.ask('RNFR', from, [350]);
  return ready.code === 350 ? operation.ask('RNTO', to) : ready;
}

/**
 * For servers that refuse to replace: the former file steps aside and comes back if the new one cannot take its place.
 * Its name is none that a sweep for leftovers would delete: after a crash in between it is the only copy.
 */
async function replaceAside(operation: Operation, from: RemotePath, to: RemotePath, refused: Reply): Promise<void> {
  const aside = joinPath(parentOf(to), asideName(baseName(to)));
  if (!isPositive(await rename(operation, to, aside))) throw refusal(refused, 'publish', `replacing ${to}`);
  let reply: Reply;
  try {
    reply = await rename(operation, from, to);
  } catch (error) {
    await restoreLater(operation, aside, to);
    throw error;
  }
  if (!isPositive(reply)) {
    const back = await rename(operation, aside, to);
    const where = isPositive(back) ? '' : `; the former file now stands at ${aside}`;
    throw refusal(reply, 'publish', `replacing ${to}${where}`);
  }
  operation.lease.memory.renameReplaces = false;
  const removed = await operation.ask('DELE', aside);
  if (!isPositive(removed)) operation.context.leftovers.removeLater(aside);
}

const RESTORE_TIMEOUT_MS = 15_000;

/** The connection died between the two renames: a new one in the same slot brings the former file back. */
async function restoreLater(operation: Operation, aside: RemotePath, to: RemotePath): Promise<void> {
  const patient = operation.under(AbortSignal.timeout(RESTORE_TIMEOUT_MS));
  try {
    await operation.lease.reconnect(patient.signal);
    if ((await find(patient, to)) === undefined) await rename(patient, aside, to);
    else await patient.ask('DELE', aside);
  } catch (cause) {
    operation.deps.log('FTP file that stepped aside could not be brought back', {
      host: operation.host,
      standsAt: aside,
      cause: String(cause),
    });
  }
}

function asideName(name: string): string {
  const prefix = `.aside-${randomBytes(6).toString('hex')}.`;
  let kept = name;
  while (Buffer.byteLength(prefix + kept) > MAX_NAME_BYTES) kept = [...kept].slice(1).join('');
  return prefix + kept;
}
