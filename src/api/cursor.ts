/** Where a client goes on in a long list: it holds the place itself, signed for that list alone, and no node keeps anything. */
import { refusal } from '../base/errors.js';
import { pathBytes, textOfBytes } from '../remotes/path.js';
import type { Signatures } from '../storage/storage.js';

/** `list`: what the cursor is good for: the account, and all that decides which entries follow each other. */
export function sealCursor(signatures: Signatures, list: readonly unknown[], place: string): string {
  const signature = signatures.sign('cursor', JSON.stringify([list, place]));
  return `${pathBytes(place).toString('base64url')}.${signature.toString('base64url')}`;
}

/** @throws GatewayError bad_request for one that the gateway has not given, or for another list */
export function openCursor(signatures: Signatures, list: readonly unknown[], cursor: string): string {
  const [place = '', signature = ''] = cursor.split('.');
  const text = textOfBytes(Buffer.from(place, 'base64url'));
  // Written in one way alone.
  const isOurs =
    signatures.isSigned('cursor', JSON.stringify([list, text]), Buffer.from(signature, 'base64url')) &&
    sealCursor(signatures, list, text) === cursor;
  if (isOurs) return text;
  throw refusal('bad_request', 'cursor must be the nextCursor of an answer to the same request');
}
