/** Cursors of long lists. A client holds the place itself, signed for that list only; no node stores anything. */
import { refusal } from '../base/errors.js';
import { pathKeyOf, textOfKey } from '../remotes/path.js';
import type { Signatures } from '../storage/storage.js';

/** `list`: the list that the cursor is valid for: the account, and everything that decides the order of entries. */
export function sealCursor(signatures: Signatures, list: readonly unknown[], place: string): string {
  const signature = signatures.sign('cursor', JSON.stringify([list, place]));
  return `${pathKeyOf(place).toString('base64url')}.${signature.toString('base64url')}`;
}

/** @throws GatewayError bad_request for a cursor that is forged or belongs to another list */
export function openCursor(signatures: Signatures, list: readonly unknown[], cursor: string): string {
  const [place = '', signature = ''] = cursor.split('.');
  const text = textOfKey(Buffer.from(place, 'base64url'));
  // Only the canonical form is accepted.
  const isOurs =
    signatures.isSigned('cursor', JSON.stringify([list, text]), Buffer.from(signature, 'base64url')) &&
    sealCursor(signatures, list, text) === cursor;
  if (isOurs) return text;
  throw refusal('bad_request', 'cursor must be the nextCursor of an answer to the same request');
}
