/** Encrypted values in rows: written and read in one way, whichever table they stand in. */
import type { Queryable } from '../postgres/database.js';
import type { Keyring } from './secrets.js';

const ACCOUNT_TABLE = 'account_secrets';

interface SealedRow {
  readonly key_id: string;
  readonly wrapped_key: Buffer;
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
}

export async function putAccountSecret(
  sql: Queryable,
  keyring: Keyring,
  accountId: string,
  name: string,
  value: string,
): Promise<void> {
  const sealed = keyring.seal(value, { table: ACCOUNT_TABLE, rowId: accountId, name });
  await sql`
    insert into account_secrets (account_id, name, key_id, wrapped_key, nonce, ciphertext)
    values (${accountId}, ${name}, ${sealed.keyId}, ${sealed.wrappedKey}, ${sealed.nonce}, ${sealed.ciphertext})
    on conflict (account_id, name) do update set key_id = excluded.key_id, wrapped_key = excluded.wrapped_key,
      nonce = excluded.nonce, ciphertext = excluded.ciphertext, updated_at = now()`;
}

export async function accountSecret(
  sql: Queryable,
  keyring: Keyring,
  accountId: string,
  name: string,
): Promise<string | undefined> {
  const [row] = await sql<SealedRow[]>`
    select key_id, wrapped_key, nonce, ciphertext from account_secrets
    where account_id = ${accountId} and name = ${name}`;
  if (row === undefined) return undefined;
  const sealed = { keyId: row.key_id, wrappedKey: row.wrapped_key, nonce: row.nonce, ciphertext: row.ciphertext };
  return keyring.open(sealed, { table: ACCOUNT_TABLE, rowId: accountId, name });
}

export async function dropAccountSecret(sql: Queryable, accountId: string, name: string): Promise<void> {
  await sql`delete from account_secrets where account_id = ${accountId} and name = ${name}`;
}

/** A value of `connection_secrets`; null takes it away. */
export async function putConnectionSecret(
  sql: Queryable,
  keyring: Keyring,
  connectionId: string,
  name: string,
  value: string | null,
): Promise<void> {
  if (value === null) {
    await sql`delete from connection_secrets where connection_id = ${connectionId} and name = ${name}`;
    return;
  }
  const sealed = keyring.seal(value, { table: 'connection_secrets', rowId: connectionId, name });
  await sql`
    insert into connection_secrets (connection_id, name, key_id, wrapped_key, nonce, ciphertext)
    values (${connectionId}, ${name}, ${sealed.keyId}, ${sealed.wrappedKey}, ${sealed.nonce}, ${sealed.ciphertext})
    on conflict (connection_id, name) do update set key_id = excluded.key_id, wrapped_key = excluded.wrapped_key,
      nonce = excluded.nonce, ciphertext = excluded.ciphertext, updated_at = now()`;
}
