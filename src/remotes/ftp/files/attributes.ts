/** SIZE and MDTM of one path (RFC 3659, 3 and 4). */
import type { RemotePath } from '../../path.js';
import { parseTimeValue } from '../names/facts.js';
import type { Operation } from '../session/operation.js';
import { isUnsupported, type Reply } from '../session/replies.js';

/** Bytes, or the server's refusal. Asked under TYPE I: in ASCII the answer would be another one, or none. */
export async function askSize(operation: Operation, path: RemotePath): Promise<number | Reply> {
  const reply = await operation.ask('SIZE', path, [213]);
  if (reply.code !== 213) return reply;
  const digits = /^213[ -](\d{1,16})\b/.exec(reply.text)?.[1];
  return digits === undefined ? { code: 502, text: reply.text } : Number(digits);
}

/** Undefined where the server keeps or tells no time. */
export async function askModifiedAt(operation: Operation, path: RemotePath): Promise<Date | undefined> {
  const { memory } = operation.lease;
  if (!memory.hasMdtm) return undefined;
  const reply = await operation.ask('MDTM', path, [213]);
  if (isUnsupported(reply)) memory.hasMdtm = false;
  return reply.code === 213 ? parseTimeValue(reply.text.slice(4).trim()) : undefined;
}
