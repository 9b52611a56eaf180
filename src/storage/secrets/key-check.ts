/** Finds out which master key belongs to this database, and changes it. */
import { MINUTE_MS } from '../../contract/units.js';
import type { Database } from '../postgres/database.js';
import { fromExcluded, type Queryable, templateIn, type Transaction } from '../postgres/sql.js';
import {
  createMasterKeyFile,
  isReadableByOthers,
  masterKeyFile,
  type MasterKey,
  parseMasterKey,
  readMasterKeyFile,
} from './master-key.js';
import { rewrapAll } from './sealed-rows.js';
import { Keyring, makeCheckValue, matchesCheckValue } from './secrets.js';
import { StartupError, type StorageOptions } from '../startup.js';

interface ActiveKey {
  readonly keyId: string;
  readonly checkValue: Buffer;
}

const ROTATION_PATIENCE_MS = 15 * MINUTE_MS;

/**
 * The master key of the configuration or of the key file, verified against the database's check value. A fresh database
 * accepts the given key. A database with another key is refused with a StartupError before anything is written, and no
 * key file is created if the database already has a key.
 */
export async function openMasterKey(
  database: Database,
  options: Pick<StorageOptions, 'masterKey' | 'dataDir' | 'log'>,
): Promise<MasterKey> {
  const active = await database.run((sql) => readActive(sql));
  const key = await readConfiguredKey(options, active);
  const accepted = active ?? (await database.transaction((tx) => registerFirst(tx, key)));
  if (accepted.keyId !== key.id || !matchesCheckValue(key, accepted.checkValue)) {
    throw new StartupError(
      `the master key (id ${key.id}) is not the one that encrypted the secrets of this database (id ${accepted.keyId}): ` +
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
    `the secrets of this database are encrypted with master key ${active.keyId}, and there is none: ` +
      `set GATEWAY_MASTER_KEY, or put the key file back at ${file}`,
  );
}

async function readActive(sql: Queryable): Promise<ActiveKey | undefined> {
  const [row] = await sql<ActiveKey[]>`select key_id, check_value from master_keys where active`;
  return row;
}

async function registerFirst(tx: Transaction, key: MasterKey): Promise<ActiveKey> {
  // Two nodes may open a fresh database at once, with different keys: the first one wins.
  await tx`lock table master_keys in exclusive mode`;
  const active = await readActive(tx);
  if (active !== undefined) return active;
  const checkValue = makeCheckValue(key);
  await tx`insert into master_keys ${tx({ keyId: key.id, checkValue, active: true })}`;
  return { keyId: key.id, checkValue };
}

/**
 * Rewraps every secret from the former master key to the next one, in one transaction: all or none. Nodes that still
 * run with the former key must be restarted with the next one. Resolves to the number of secrets.
 */
export async function rotateMasterKey(database: Database, former: MasterKey, next: MasterKey): Promise<number> {
  return database.transaction(async (tx) => {
    await tx`lock table master_keys in exclusive mode`;
    const active = await readActive(tx);
    if (active !== undefined && !(active.keyId === former.id && matchesCheckValue(former, active.checkValue))) {
      throw new StartupError(`the former master key (id ${former.id}) is not the active one (id ${active.keyId})`);
    }
    await tx`update master_keys set active = false where active`;
    await tx`
      insert into master_keys ${tx({ keyId: next.id, checkValue: makeCheckValue(next), active: true })}
      on conflict (key_id) do update set ${tx(templateIn(fromExcluded(['active', 'checkValue'])))}`;
    return rewrapAll(tx, new Keyring(next, [former]), former.id);
  }, ROTATION_PATIENCE_MS);
}
