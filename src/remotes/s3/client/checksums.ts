/**
 * Checksums of bodies. A bucket with Object Lock requires one. Content-MD5 is the checksum that every store knows; to
 * AWS the SDK sends its own with every body, even with streams. `checksums` of the connection steers both.
 */
import { hash } from 'node:crypto';
import { GatewayError } from '../../../base/errors.js';
import type { Calls, CallOptions } from './calls.js';
import type { Support } from '../memory.js';
import { refusesWithoutChecksum } from './replies.js';

/** Up to this size a body always carries its MD5. The MD5 of an 8 MiB part would block the event loop for 15 ms. */
const ALWAYS_SUMMED_BYTES = 1024 * 1024;

/** In the form of the Content-MD5 header (RFC 1864). */
export const contentMd5 = (body: Buffer | string): string => hash('md5', body, 'base64');

type Sender = Pick<Calls, 'traits' | 'connection'>;

/** Whether bodies need a checksum that the gateway computes. */
export function wantsMd5({ traits, connection: { bucket, checksums } }: Sender): Support {
  if (traits.sendsChecksums || checksums === 'never') return 'no';
  return checksums === 'always' ? 'yes' : traits.wantsChecksums(bucket);
}

/**
 * Sends a body from memory: with its MD5 if it is short, or if its bucket is known to require one. If it is refused for
 * lack of a checksum, it is sent again with one, and the bucket is remembered.
 */
export async function sendBody<T>(calls: Calls, bytes: number, send: (withMd5: boolean) => Promise<T>): Promise<T> {
  const { traits, connection } = calls;
  const { bucket, checksums } = connection;
  if (traits.sendsChecksums || checksums === 'never') return send(false);
  const withMd5 = bytes <= ALWAYS_SUMMED_BYTES || wantsMd5(calls) === 'yes';
  try {
    const answer = await send(withMd5);
    if (!withMd5) traits.learnChecksums(bucket, 'no');
    return answer;
  } catch (error) {
    if (withMd5 || !refusesWithoutChecksum(error)) throw error;
    traits.learnChecksums(bucket, 'yes');
    return send(true);
  }
}

/** The error of a streamed body: names the cause if the bucket requires a checksum, and remembers the bucket. */
export function streamedError(
  { traits, connection: { bucket, checksums } }: Calls,
  failure: GatewayError,
  { step, what }: Pick<CallOptions, 'step' | 'what'>,
): GatewayError {
  if (checksums === 'never' || !refusesWithoutChecksum(failure)) return failure;
  traits.learnChecksums(bucket, 'yes');
  const text = `${what}: bucket "${bucket}" takes nothing without a checksum (Object Lock); from now on the gateway sends one, so send the file again`;
  return new GatewayError('remote_failure', text, { step, remote: failure.remote, cause: failure });
}
