/** A receipt: a signed record of a transfer, with the hash of the previous receipt. */
import { count, text } from './schema.js';
import { derived, kept, type RowOf } from './thing.js';

export const receiptFields = {
  sequence: kept(count('Its number in the chain of the account.')),
  transferId: kept(text('Identifier of a transfer.')),
  /** A compact JWS. */
  receipt: kept(text('A JWS.', { pattern: '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$' })),
  keyId: derived(text('The `kid` of the key that signed it, which `/.well-known/jwks.json` has.')),
};

export type Receipt = RowOf<typeof receiptFields>;
