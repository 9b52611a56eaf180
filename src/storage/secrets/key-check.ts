/** Which master key belongs to this database, and the change to another one. */
import type { PendingQuery, Row } from 'postgres';
import type { Database, Queryable, Transaction } from '../postgres/database.js';
import {
  createMasterKeyFile,
  isReadableByOthers,
  masterKeyFile,
  type MasterKey,
  parseMasterKey,
  readMasterKeyFile,
} from './master-key.js';
import { Keyring, makeCheckValue, matchesCheckValue } from './secrets.js';
import { StartupError } from '../startup-error.js';
import type { StorageOptions } from '../storage.js';

interface ActiveKey {
  readonly key_id: string;
  readonly check_value: Buffer;
}

interface SecretRow {
  readonly table: 'connection_secrets' | 'watched_folder_secrets' | 'account_secrets';
  readonly row_id: string;
  readonly name: string;
  readonly key_id: string;
  readonly wrapped_key: Buffer;
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
}

const REWRAP_BATCH = 500;
const ROTATION_PATIENCE_MS = 15 * 60_000;

/**
 * The master key of the configuration or of the key file, proven against the database's check value. A fresh database
 * takes the key it is given; a database that knows another key is refused with a StartupError before anything is
 * written, and no key file is made for one that already has a key.
 */
export async function openMasterKey(
  database: Database,
  options: Pick<StorageOptions, 'masterKey' | 'dataDir' | 'log'>,
): Promise<MasterKey> {
  const active = await database.run((sql) => readActive(sql));
  const key = await readConfiguredKey(options, active);
  const accepted = active ?? (await database.transaction((tx) => registerFirst(tx, key)));
  if (accepted.key_id !== key.id || !matchesCheckValue(key, accepted.check_value)) {
    throw new StartupError(
      `the master key (id ${key.id}) is not the one that encrypted the secrets of this database (id ${accepted.key_id}): ` +
        `set GATEWAY_MASTER_KEY, or ${masterKeyFile(options.dataDir)}, to that one; all nodes of a database share one key`,
    );
  }
  return key;
}

async function readConfiguredKey(
  { masterKey, dataDir, log }: Pick<StorageOptions, 'masterKey' | 'dataDir' | 'log'>,
  active: ActiveKey | undefined,
): Promise<MasterKey> {
  if (masterKey !== '') return parseMasterKey(masterKey);
  const file = masterKeyFile(dataDir);
  const key = await readMasterKeyFile(file);
  if (key !== undefined) {
    if (await isReadableByOthers(file))
      log('warn', 'the key file can be read by others; set its mode to 0600', { file });
    return key;
  }
  if (active === undefined) return createMasterKeyFile(file);
  throw new StartupError(
    `the secrets of this database are encrypted with master key ${active.key_id}, and there is none: ` +
      `set GATEWAY_MASTER_KEY, or put the key file back at ${file}`,
  );
}

async function readActive(sql: Queryable): Promise<ActiveKey | undefined> {
  const [row] = await sql<ActiveKey[]>`select key_id, check_value from master_keys where active`;
  return row;
}

async function registerFirst(tx: Transaction, key: MasterKey): Promise<ActiveKey> {
  // Two nodes may come to a fresh database at once, with different keys: the first one's stands.
  await tx`lock table master_keys in exclusive mode`;
  const active = await readActive(tx);
  if (active !== undefined) return active;
  const checkValue = makeCheckValue(key);
  await tx`insert into master_keys (key_id, check_value, active) values (${key.id}, ${checkValue}, true)`;
  return { key_id: key.id, check_value: checkValue };
}

/**
 * Rewraps every secret from the former master key to the next one, in one transaction: all or none. Nodes that still run
 * with the former key must be restarted with the next one. Resolves to the number of secrets.
 */
export async function rotateMasterKey(database: Database, former: MasterKey, next: MasterKey): Promise<number> {
  return database.transaction(async (tx) => {
    await tx`lock table master_keys in exclusive mode`;
    const active = await readActive(tx);
    if (active !== undefined && !(active.key_id === former.id && matchesCheckValue(former, active.check_value))) {
      throw new StartupError(`the former master key (id ${former.id}) is not the active one (id ${active.key_id})`);
    }
    await tx`update master_keys set active = false where active`;
    await tx`
      insert into master_keys (key_id, check_value, active) values (${next.id}, ${makeCheckValue(next)}, true)
      on conflict (key_id) do update set active = true, check_value = excluded.check_value`;
    // Keeps provisioning out, so that no secret is written with the former key meanwhile.
    await tx`lock table connection_secrets, watched_folder_secrets, account_secrets in share row exclusive mode`;
    return rewrapAll(tx, new Keyring(next, [former]), former.id);
  }, ROTATION_PATIENCE_MS);
}

async function rewrapAll(tx: Transaction, keyring: Keyring, formerId: string): Promise<number> {
  let count = 0;
  for (;;) {
    const rows = await tx<SecretRow[]>`
      select 'connection_secrets' as table, connection_id as row_id, name, key_id, wrapped_key, nonce, ciphertext
      from connection_secrets where key_id <> ${keyring.activeId}
      union all
      select 'watched_folder_secrets', folder_id::text, id::text, key_id, wrapped_key, nonce, ciphertext
      from watched_folder_secrets where key_id <> ${keyring.activeId}
      union all
      select 'account_secrets', account_id::text, name, key_id, wrapped_key, nonce, ciphertext
      from account_secrets where key_id <> ${keyring.activeId}
      limit ${REWRAP_BATCH}`;
    if (rows.length === 0) return count;
    for (const row of rows) {
      if (row.key_id !== formerId)
        throw new StartupError(`a secret is encrypted with a third master key (id ${row.key_id})`);
      const place = { table: row.table, rowId: row.row_id, name: row.name };
      const sealed = { keyId: row.key_id, wrappedKey: row.wrapped_key, nonce: row.nonce, ciphertext: row.ciphertext };
      const rewrapped = keyring.rewrap(sealed, place);
      await updateKey(tx, row, tx`key_id = ${rewrapped.keyId}, wrapped_key = ${rewrapped.wrappedKey}`);
      count += 1;
    }
  }
}

function updateKey(tx: Transaction, { table, row_id: rowId, name }: SecretRow, change: PendingQuery<Row[]>) {
  switch (table) {
    case 'connection_secrets':
      return tx`update connection_secrets set ${change} where connection_id = ${rowId} and name = ${name}`;
    case 'watched_folder_secrets':
      return tx`update watched_folder_secrets set ${change} where id = ${name}`;
    case 'account_secrets':
      return tx`update account_secrets set ${change} where account_id = ${rowId} and name = ${name}`;
  }
}
