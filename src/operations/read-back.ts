/** Reads the stored bytes again, and compares them with what was sent, before the file is published. */
import { pipeline } from 'node:stream/promises';
import { GatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import type { Commit } from '../remotes/remote.js';
import { streamOf } from '../remotes/whole.js';
import { ContentHash } from './content-hash.js';
import type { Operation } from './operation.js';

interface Checking {
  /** Must be updated with everything that is sent. */
  readonly hash: ContentHash | undefined;
  readonly check: Commit['check'];
}

interface Sent {
  readonly value: Buffer;
}

/** The checks for the bytes of a file that is sent to `connection`. */
export function checkingOf(
  operation: Operation,
  connection: Connection,
  { readsBack = false }: { readonly readsBack?: boolean | undefined } = {},
): Checking {
  const wanted = operation.evidence.hashing();
  if (!readsBack && connection.verify !== 'readback') return { hash: wanted, check: undefined };
  const sent = wanted ?? new ContentHash();
  return { hash: sent, check: checkAgainst(operation, sent) };
}

/** `sent`: the digest and size of what was sent, available once it has been. */
export function checkAgainst(operation: Operation, sent: Sent): NonNullable<Commit['check']> {
  return async (open) => {
    operation.mark('verify');
    const stored = new ContentHash();
    const { signal } = operation;
    await pipeline(
      streamOf(await open()),
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) stored.update(chunk);
      },
      { signal },
    );
    if (!stored.value.equals(sent.value)) throw mismatch(sent, stored);
    operation.evidence.readBack();
  };
}

function mismatch(sent: Sent, stored: ContentHash): GatewayError {
  const [one, other] = [sent, stored].map(({ value }) => `sha-256:${value.toString('hex')}`);
  const text = `what the server has stored is not what it was sent: read again it is ${other}, and ${one} was sent`;
  return new GatewayError('readback_mismatch', text, { step: 'verify' });
}
