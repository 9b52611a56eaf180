/**
 * Envelope encryption of values that a dump must not reveal: AES-256-GCM with a data key for each secret; the master
 * key wraps that key (also AES-256-GCM). A new master key rewraps 32 bytes per secret and changes no ciphertext. Both
 * layers are bound to the place of the secret, so a ciphertext copied to another row does not open.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { hidden, type RowOf } from '../../contract/thing.js';
import { MASTER_KEY_BYTES, type MasterKey } from './master-key.js';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CHECK_TEXT = 'file-transfer-gateway master key check';

/** One encrypted value, as stored in a row. */
export const sealedFields = {
  /** The id of the master key that wrapped the data key. */
  keyId: hidden<string>(),
  /** nonce, ciphertext and tag of the data key. */
  wrappedKey: hidden<Buffer>(),
  nonce: hidden<Buffer>(),
  /** Ciphertext and tag. */
  ciphertext: hidden<Buffer>(),
};
export type SealedSecret = RowOf<typeof sealedFields>;

/** The place of a secret; the associated data of its encryption. */
interface SecretPlace {
  readonly table: string;
  readonly rowId: string;
  readonly name: string;
}

export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** Seals with the active master key; opens with any of its keys. */
export class Keyring {
  readonly #active: MasterKey;
  readonly #keys: ReadonlyMap<string, MasterKey>;

  constructor(active: MasterKey, former: readonly MasterKey[] = []) {
    this.#active = active;
    this.#keys = new Map([...former, active].map((key) => [key.id, key]));
  }

  get activeId(): string {
    return this.#active.id;
  }

  seal(plaintext: string, place: SecretPlace): SealedSecret {
    const dataKey = randomBytes(MASTER_KEY_BYTES);
    const nonce = randomBytes(NONCE_BYTES);
    return {
      keyId: this.#active.id,
      wrappedKey: wrap(dataKey, this.#active, place),
      nonce,
      ciphertext: encrypt(dataKey, nonce, Buffer.from(plaintext, 'utf8'), bindingOf('value', place)),
    };
  }

  /** The plaintext; SecretError if the key is unknown or the row was changed or moved. */
  open(sealed: SealedSecret, place: SecretPlace): string {
    const dataKey = this.#unwrap(sealed, place);
    return decrypt(dataKey, sealed.nonce, sealed.ciphertext, bindingOf('value', place)).toString('utf8');
  }

  /** The same secret with its data key wrapped by the active master key. */
  rewrap(sealed: SealedSecret, place: SecretPlace): SealedSecret {
    const dataKey = this.#unwrap(sealed, place);
    return { ...sealed, keyId: this.#active.id, wrappedKey: wrap(dataKey, this.#active, place) };
  }

  /** HMAC-SHA-256 with a key for this purpose, derived from the active master key. */
  mac(purpose: string, content: string): Buffer {
    const derived = hkdfSync('sha256', this.#active.bytes, '', `file-transfer-gateway ${purpose}`, MASTER_KEY_BYTES);
    return createHmac('sha256', Buffer.from(derived)).update(content).digest();
  }

  #unwrap(sealed: SealedSecret, place: SecretPlace): Buffer {
    const key = this.#keys.get(sealed.keyId);
    if (key === undefined) throw new SecretError(`secret ${place.name} is encrypted with unknown key ${sealed.keyId}`);
    return unpack(key.bytes, sealed.wrappedKey, bindingOf('key', place));
  }
}

/** A known text, encrypted with the key: opens only with the same key. */
export function makeCheckValue(key: MasterKey): Buffer {
  return pack(key.bytes, Buffer.from(CHECK_TEXT), Buffer.from(key.id));
}

export function matchesCheckValue(key: MasterKey, value: Buffer): boolean {
  try {
    return unpack(key.bytes, value, Buffer.from(key.id)).toString() === CHECK_TEXT;
  } catch {
    return false;
  }
}

function bindingOf(layer: 'key' | 'value', place: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify([layer, place.table, place.rowId, place.name]));
}

function wrap(dataKey: Buffer, key: MasterKey, place: SecretPlace): Buffer {
  return pack(key.bytes, dataKey, bindingOf('key', place));
}

function pack(key: Buffer, plain: Buffer, binding: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  return Buffer.concat([nonce, encrypt(key, nonce, plain, binding)]);
}

function unpack(key: Buffer, packed: Buffer, binding: Buffer): Buffer {
  return decrypt(key, packed.subarray(0, NONCE_BYTES), packed.subarray(NONCE_BYTES), binding);
}

function encrypt(key: Buffer, nonce: Buffer, plain: Buffer, binding: Buffer): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(binding);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, nonce: Buffer, sealed: Buffer, binding: Buffer): Buffer {
  if (sealed.length < TAG_BYTES) throw new SecretError('an encrypted value is cut short');
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(binding);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES)), decipher.final()]);
  } catch (error) {
    throw new SecretError('an encrypted value does not open: it was changed, or encrypted with another key', {
      cause: error,
    });
  }
}
