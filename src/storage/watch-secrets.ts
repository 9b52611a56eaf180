/** Signing secrets of watched folders: `whsec_…`, sealed like the secrets of connections. */
import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Database, Transaction } from './database.js';
import type { Keyring } from './secrets.js';

export const WATCH_SECRETS_TABLE = 'watched_folder_secrets';
const SECRET_BYTES = 32;
const FORMER_HOURS = 24;

interface SecretRow {
  readonly id: string;
  readonly folder_id: string;
  readonly key_id: string;
  readonly wrapped_key: Buffer;
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
}

export class WatchSecrets {
  readonly #database: Database;
  readonly #keyring: Keyring;

  constructor(database: Database, keyring: Keyring) {
    this.#database = database;
    this.#keyring = keyring;
  }

  /** The secrets that sign now, the current one first. */
  async current(folderId: string): Promise<readonly string[]> {
    const rows = await this.#database.run(
      (sql) => sql<SecretRow[]>`
        select id, folder_id, key_id, wrapped_key, nonce, ciphertext from watched_folder_secrets
        where folder_id = ${folderId} and (expires_at is null or expires_at > now())
        order by expires_at desc nulls first, id desc`,
    );
    return rows.map((row) => {
      const { key_id: keyId, wrapped_key: wrappedKey, nonce, ciphertext } = row;
      return this.#keyring.open({ keyId, wrappedKey, nonce, ciphertext }, placeOf(row.id, folderId));
    });
  }

  /** Makes a new secret; the one before signs along for a day. Resolves to the new one. */
  async rotate(folderId: string): Promise<string> {
    return this.#database.transaction(async (tx) => {
      await tx`delete from watched_folder_secrets where folder_id = ${folderId} and expires_at <= now()`;
      await tx`
        update watched_folder_secrets set expires_at = now() + ${`${FORMER_HOURS} hours`}::interval
        where folder_id = ${folderId} and expires_at is null`;
      return this.add(tx, folderId);
    });
  }

  async add(tx: Transaction, folderId: string): Promise<string> {
    const id = uuidv7();
    const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    const { keyId, wrappedKey, nonce, ciphertext } = this.#keyring.seal(secret, placeOf(id, folderId));
    await tx`
      insert into watched_folder_secrets (id, folder_id, key_id, wrapped_key, nonce, ciphertext)
      values (${id}, ${folderId}, ${keyId}, ${wrappedKey}, ${nonce}, ${ciphertext})`;
    return secret;
  }
}

export function placeOf(id: string, folderId: string) {
  return { table: WATCH_SECRETS_TABLE, rowId: folderId, name: id };
}
