/** Applies the configured accounts: upserts in one transaction, one node at a time; removes nothing. */
import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { AccountConfig, ApiKeyConfig, ConnectionConfig } from '../../config/config.js';
import { hashApiKey, isPlausibleKey, randomText } from './api-key.js';
import type { ConnectionType, SecretValues, Settings } from '../../connections/connection.js';
import { addressOf } from '../../connections/definition.js';
import { definitionOf } from '../../connections/types.js';
import { splitConfig } from './connection-rows.js';
import { SECRETS_TABLE } from './connections.js';
import type { Database, Transaction } from '../postgres/database.js';
import { hashPassword, verifyPassword } from '../secrets/passwords.js';
import { type Keyring, SecretError, type SealedSecret } from '../secrets/secrets.js';
import { StartupError } from '../startup-error.js';

const PROVISION_LOCK = 4_702_111_234_002;
/** Other nodes may be provisioning the same accounts just now. */
const PATIENCE_MS = 120_000;

interface PreparedConnection {
  readonly config: ConnectionConfig;
  readonly settings: Settings;
  readonly secrets: SecretValues;
}

/** StartupError names the entry that cannot be applied; nothing is changed then. */
export async function provisionAccounts(
  database: Database,
  keyring: Keyring,
  accounts: readonly AccountConfig[],
  sandboxId?: string,
): Promise<void> {
  if (accounts.length === 0) return database.transaction((tx) => markConfigured(tx, [], []));
  // Files are read before the lock is taken.
  const prepared = await Promise.all(
    accounts.map(async (account) => ({
      account,
      connections: await Promise.all(
        account.connections.map(async (config) => ({ config, ...(await splitConfig(config)) })),
      ),
    })),
  );
  await database.transaction(async (tx) => {
    await tx`select set_config('statement_timeout', ${String(PATIENCE_MS)}, true)`;
    await tx`select pg_advisory_xact_lock(${PROVISION_LOCK}::bigint)`;
    const connectionIds: string[] = [];
    for (const { account, connections } of prepared) {
      const accountId = await upsertAccount(tx, account);
      await upsertKeys(tx, accountId, account);
      connectionIds.push(...(await upsertConnections(tx, keyring, accountId, account, connections, sandboxId)));
    }
    const keys = accounts.flatMap((account) => account.apiKeys);
    const keyHashes = keys.map(({ key }) => hashApiKey(key).toString('base64'));
    await markConfigured(tx, connectionIds, keyHashes);
  }, PATIENCE_MS);
}

async function upsertAccount(tx: Transaction, account: AccountConfig): Promise<string> {
  const [found] = await tx<{ id: string; current: string | null; configured: string | null }[]>`
    select id, password_hash as current, configured_password_hash as configured
    from accounts where lower(email) = lower(${account.email})`;
  const id = found?.id ?? uuidv7();
  const { current, configured } = await nextPasswords(account.password, found ?? { current: null, configured: null });
  await tx`
    insert into accounts (id, email, plan, allow_private, password_hash, configured_password_hash)
    values (${id}, ${account.email}, ${account.plan}, ${account.allowPrivate ?? null}, ${current}, ${configured})
    on conflict (id) do update set email = excluded.email, plan = excluded.plan, updated_at = now(),
      allow_private = excluded.allow_private,
      password_hash = excluded.password_hash, configured_password_hash = excluded.configured_password_hash
    where (accounts.email, accounts.plan, accounts.allow_private, accounts.password_hash,
        accounts.configured_password_hash)
      is distinct from (excluded.email, excluded.plan, excluded.allow_private, excluded.password_hash,
        excluded.configured_password_hash)`;
  if (found !== undefined && found.current !== current) {
    await tx`update login_sessions set ended_at = now() where account_id = ${id} and ended_at is null`;
  }
  return id;
}

interface PasswordHashes {
  /** In force. */
  readonly current: string | null;
  /** Of the password that the configuration gave last. */
  readonly configured: string | null;
}

/** A password changed by hand stands until the configuration gives another one than it gave last. */
async function nextPasswords(password: string | undefined, stored: PasswordHashes): Promise<PasswordHashes> {
  if (password === undefined || password === '') return stored;
  const last = stored.configured ?? stored.current;
  if (last !== null && (await verifyPassword(password, last))) return { current: stored.current, configured: last };
  const hash = await hashPassword(password);
  return { current: hash, configured: hash };
}

/** What the configuration lists now: the next start would undo changes made to it by hand. */
async function markConfigured(
  tx: Transaction,
  connectionIds: readonly string[],
  keyHashes: readonly string[],
): Promise<void> {
  await tx`
    update connections set configured = not configured
    where configured <> (id = any(${tx.types.texts(connectionIds)}))`;
  await tx`
    update api_keys set configured = not configured
    where configured <> (encode(key_hash, 'base64') = any(${tx.types.texts(keyHashes)}))`;
}

async function upsertKeys(tx: Transaction, accountId: string, account: AccountConfig): Promise<void> {
  const names = account.apiKeys.map((key) => key.name);
  for (const key of account.apiKeys) {
    const where = `accounts: API key "${key.name}" of ${account.email}`;
    if (!isPlausibleKey(key.key)) {
      throw new StartupError(
        `${where}: not a key; allowed: ftg_ and 24 to 200 printable characters in all (one that looks generated must have the right checksum)`,
      );
    }
    const hash = hashApiKey(key.key);
    const [holder] = await tx<{ id: string; account_id: string; name: string; revoked: boolean }[]>`
      select id, account_id, name, revoked_at is not null as revoked from api_keys where key_hash = ${hash}`;
    if (holder !== undefined && holder.account_id !== accountId) {
      throw new StartupError(`${where}: the same key is already in use by another account`);
    }
    if (holder !== undefined && (holder.name !== key.name || holder.revoked)) {
      // The key moved to another name. Its old row stays, with a hash that no key has.
      await tx`
        update api_keys set key_hash = ${randomBytes(32)},
          revoked_at = case when ${names.includes(holder.name)} then revoked_at else coalesce(revoked_at, now()) end
        where id = ${holder.id}`;
    }
    await upsertKey(tx, accountId, key, hash);
  }
}

async function upsertKey(tx: Transaction, accountId: string, key: ApiKeyConfig, hash: Buffer): Promise<void> {
  const expiresAt = key.expiresAt === null ? null : new Date(key.expiresAt);
  await tx`
    insert into api_keys (id, account_id, name, key_hash, scopes, connection_ids, allowed_ips, expires_at)
    values (${uuidv7()}, ${accountId}, ${key.name}, ${hash}, ${tx.types.texts(key.scopes)},
            ${tx.types.texts(key.connections)}, ${tx.types.texts(key.allowedIps)}, ${expiresAt})
    on conflict (account_id, name) where revoked_at is null do update set key_hash = excluded.key_hash,
      scopes = excluded.scopes, connection_ids = excluded.connection_ids, allowed_ips = excluded.allowed_ips,
      expires_at = excluded.expires_at`;
}

async function upsertConnections(
  tx: Transaction,
  keyring: Keyring,
  accountId: string,
  account: AccountConfig,
  connections: readonly PreparedConnection[],
  sandboxId: string | undefined,
): Promise<readonly string[]> {
  const applied = new Set<string>();
  for (const connection of connections) {
    const { config } = connection;
    const where = `accounts: connection "${config.id ?? config.name}" of ${account.email}`;
    const id = config.id ?? (await idByName(tx, accountId, config.name));
    if (applied.has(id)) throw new StartupError(`${where}: stands twice; give each connection an id of its own`);
    applied.add(id);
    const [owner] = await tx<{ account_id: string }[]>`select account_id from connections where id = ${id}`;
    if (owner !== undefined && owner.account_id !== accountId) {
      throw new StartupError(`${where}: the id is already in use by another account; choose another one`);
    }
    await upsertConnection(tx, accountId, id, connection, sandboxId);
    await upsertSecrets(tx, keyring, id, connection.secrets);
  }
  return [...applied];
}

async function idByName(tx: Transaction, accountId: string, name: string): Promise<string> {
  const [row] = await tx<{ id: string }[]>`
    select id from connections where account_id = ${accountId} and name = ${name} order by ordinal limit 1`;
  return row?.id ?? `conn_${randomText(16).toLowerCase()}`;
}

async function upsertConnection(
  tx: Transaction,
  accountId: string,
  id: string,
  { config, settings }: PreparedConnection,
  sandboxId: string | undefined,
): Promise<void> {
  const [found] = await tx<{ type: ConnectionType; settings: Settings; host_keys: string[] }[]>`
    select type, settings, host_keys from connections where id = ${id} for update`;
  const given = 'hostKey' in config && config.hostKey !== undefined ? [config.hostKey].flat() : undefined;
  // Learned keys belong to the server they came from.
  const sameServer =
    found !== undefined &&
    addressOf(definitionOf(found.type), found.settings) === addressOf(definitionOf(config.type), settings);
  const hostKeys = given ?? (sameServer ? found.host_keys : []);
  // What the file does not give may be forgotten by hand, also where a hand or an earlier file has pinned it.
  const learned = given === undefined && hostKeys.length > 0;
  await tx`
    insert into connections (id, account_id, name, type, is_active, settings, host_keys, host_keys_learned,
      secrets_configured)
    values (${id}, ${accountId}, ${config.name}, ${config.type}, ${config.isActive}, ${tx.json({ ...settings })},
            ${tx.types.texts(hostKeys)}, ${learned}, ${id !== sandboxId})
    on conflict (id) do update set name = excluded.name, type = excluded.type, is_active = excluded.is_active,
      settings = excluded.settings, host_keys = excluded.host_keys, host_keys_learned = excluded.host_keys_learned,
      secrets_configured = excluded.secrets_configured, updated_at = now()
    where (connections.name, connections.type, connections.is_active, connections.settings, connections.host_keys,
        connections.host_keys_learned, connections.secrets_configured)
      is distinct from (excluded.name, excluded.type, excluded.is_active, excluded.settings, excluded.host_keys,
        excluded.host_keys_learned, excluded.secrets_configured)`;
}

async function upsertSecrets(tx: Transaction, keyring: Keyring, id: string, secrets: SecretValues): Promise<void> {
  const rows = await tx<{ name: string; key_id: string; wrapped_key: Buffer; nonce: Buffer; ciphertext: Buffer }[]>`
    select name, key_id, wrapped_key, nonce, ciphertext from connection_secrets where connection_id = ${id}`;
  const stored = new Map(
    rows.map((row) => [
      row.name,
      { keyId: row.key_id, wrappedKey: row.wrapped_key, nonce: row.nonce, ciphertext: row.ciphertext },
    ]),
  );
  for (const [name, value] of Object.entries(secrets)) {
    const place = { table: SECRETS_TABLE, rowId: id, name };
    const sealed = stored.get(name);
    stored.delete(name);
    if (sealed !== undefined && opensTo(keyring, sealed, place, value)) continue;
    const { keyId, wrappedKey, nonce, ciphertext } = keyring.seal(value, place);
    await tx`
      insert into connection_secrets (connection_id, name, key_id, wrapped_key, nonce, ciphertext)
      values (${id}, ${name}, ${keyId}, ${wrappedKey}, ${nonce}, ${ciphertext})
      on conflict (connection_id, name) do update set key_id = excluded.key_id, wrapped_key = excluded.wrapped_key,
        nonce = excluded.nonce, ciphertext = excluded.ciphertext, updated_at = now()`;
  }
  const dropped = [...stored.keys()];
  if (dropped.length > 0) {
    await tx`delete from connection_secrets where connection_id = ${id} and name = any(${tx.types.texts(dropped)})`;
  }
}

function opensTo(keyring: Keyring, sealed: SealedSecret, place: Parameters<Keyring['open']>[1], value: string) {
  try {
    return keyring.open(sealed, place) === value;
  } catch (error) {
    if (error instanceof SecretError) return false;
    throw error;
  }
}
