/** Sealed values in rows: only this module writes, opens and rewraps them, for all tables. */
import { randomBytes } from 'node:crypto';
import { uuidv7 } from '../../base/uuid.js';
import type { Database } from '../postgres/database.js';
import {
  columnsOf,
  fromExcluded,
  type Queryable,
  selected,
  tableColumns,
  tableOf,
  templateIn,
  type Transaction,
} from '../postgres/sql.js';
import { StartupError } from '../startup.js';
import { type Keyring, SecretError, sealedFields, type SealedSecret } from './secrets.js';

/** The columns that identify a value: its row, and its name there. */
const TABLES = {
  connection_secrets: { row: 'connection_id', name: 'name' },
  account_secrets: { row: 'account_id', name: 'name' },
  job_secrets: { row: 'job_id', name: 'name' },
  receipt_key_secrets: { row: 'receipt_key_id', name: 'name' },
  s3_access_key_secrets: { row: 'access_key_id', name: 'name' },
  transfer_secrets: { row: 'transfer_id', name: 'name' },
  webhook_secrets: { row: 'webhook_id', name: 'name' },
  watched_folder_secrets: { row: 'folder_id', name: 'id' },
} as const;

/** Tables whose values are found by their names. */
type NamedTable = Exclude<keyof typeof TABLES, 'watched_folder_secrets'>;

const REWRAP_BATCH = 500;
const SECRET_BYTES = 32;
const FORMER_HOURS = 24;

const SEALED = tableColumns(sealedFields);
const REPLACING = templateIn(fromExcluded(SEALED));
const { keyId: _keyId, ...byteFields } = sealedFields;
const DECODED = Object.fromEntries(tableColumns(byteFields).map((name) => [name, `decode(t.${name}, 'hex')`]));
const TYPES = {
  owner: 'uuids',
  keyId: 'texts',
  ...Object.fromEntries(Object.keys(byteFields).map((name) => [name, 'texts'])),
} as const;

/** The columns of a sealed value. */
export const sealedColumns = (sql: Queryable, table?: string) =>
  columnsOf(sql, sealedFields, table === undefined ? {} : { table });

interface SealedWith {
  readonly values: readonly { readonly owner: string; readonly value: string }[];
  /** Owners. */
  readonly forgotten: readonly string[];
}

const inHex = (bytes: Readonly<Record<string, Buffer>>) =>
  Object.fromEntries(Object.entries(bytes).map(([name, value]) => [name, value.toString('hex')]));

/** The sealed values of accounts, connections, jobs, transfers, webhooks, receipt keys or S3 access keys, by name. */
export class NamedSecrets {
  readonly #keyring: Keyring;
  readonly #table: NamedTable;
  /** The columns of a value of `t` in hexadecimal. */
  readonly #sealing: TemplateStringsArray;

  constructor(keyring: Keyring, table: NamedTable) {
    this.#keyring = keyring;
    this.#table = table;
    this.#sealing = templateIn(selected({ [TABLES[table].row]: 't.owner', name: '?', keyId: 't.key_id', ...DECODED }));
  }

  async find(sql: Queryable, owner: string, name: string): Promise<string | undefined> {
    const [row] = await sql<SealedSecret[]>`
      select ${sealedColumns(sql)} from ${sql(this.#table)}
      where ${sql(TABLES[this.#table].row)} = ${owner} and name = ${name}`;
    return row === undefined ? undefined : this.open(owner, name, row);
  }

  open(owner: string, name: string, sealed: SealedSecret): string {
    return this.#keyring.open(sealed, { table: this.#table, rowId: owner, name });
  }

  /** null deletes it. */
  async put(sql: Queryable, owner: string, name: string, value: string | null): Promise<void> {
    const row = sql(TABLES[this.#table].row);
    if (value === null) {
      await sql`delete from ${sql(this.#table)} where ${row} = ${owner} and name = ${name}`;
      return;
    }
    const sealed = this.#keyring.seal(value, { table: this.#table, rowId: owner, name });
    await sql`
      insert into ${sql(this.#table)} ${sql({ [TABLES[this.#table].row]: owner, name, ...sealed })}
      on conflict (${row}, name) do update set ${sql(REPLACING)}, updated_at = now()`;
  }

  /**
   * Parts of a statement whose part `written` has written rows of owners: those with a value get it, if they have none,
   * and those that are named lose it.
   */
  sealingWritten(sql: Queryable, name: string, { values, forgotten }: SealedWith) {
    const row = sql(TABLES[this.#table].row);
    const sealed = values.map(({ owner, value }) => {
      const { keyId, ...bytes } = this.#keyring.seal(value, { table: this.#table, rowId: owner, name });
      return { owner, keyId, ...inHex(bytes) };
    });
    return sql`
      sealed as (
        insert into ${sql(this.#table)} ${sql(this.#sealing, name)}
        from ${tableOf(sql, sealed, TYPES)} join written w on w.id = t.owner
        on conflict do nothing
      ),
      forgotten as (
        delete from ${sql(this.#table)} where ${row} = any(${sql.types.uuids(forgotten)}) and name = ${name}
      ),`;
  }

  /** Stores exactly these values for the owner; equal stored values are not changed. */
  async replaceAll(sql: Queryable, owner: string, values: Readonly<Record<string, string>>): Promise<void> {
    const rows = await sql<(SealedSecret & { readonly name: string })[]>`
      select name, ${sealedColumns(sql)} from ${sql(this.#table)} where ${sql(TABLES[this.#table].row)} = ${owner}`;
    const stored = new Map(rows.map((row) => [row.name, row]));
    for (const [name, value] of Object.entries(values)) {
      const sealed = stored.get(name);
      stored.delete(name);
      if (sealed === undefined || !this.#opensTo(owner, name, sealed, value)) await this.put(sql, owner, name, value);
    }
    for (const name of stored.keys()) await this.put(sql, owner, name, null);
  }

  #opensTo(owner: string, name: string, sealed: SealedSecret, value: string): boolean {
    try {
      return this.open(owner, name, sealed) === value;
    } catch (error) {
      if (error instanceof SecretError) return false;
      throw error;
    }
  }
}

/** The sealed values of watched folders: `whsec_…` to sign with, and the login of the webhook's URL. */
export class FolderSecrets {
  readonly #database: Database;
  readonly #keyring: Keyring;

  constructor(database: Database, keyring: Keyring) {
    this.#database = database;
    this.#keyring = keyring;
  }

  /** The secrets that sign now, the current one first. */
  async current(folderId: string): Promise<readonly string[]> {
    return this.#find(folderId, 'signing');
  }

  /** `user:password` of the webhook's URL, percent-encoded as in the URL. */
  async login(folderId: string): Promise<string | undefined> {
    return (await this.#find(folderId, 'login'))[0];
  }

  async setLogin(tx: Transaction, folderId: string, login: string | undefined): Promise<void> {
    await tx`delete from watched_folder_secrets where folder_id = ${folderId} and kind = 'login'`;
    if (login !== undefined) await this.#seal(tx, folderId, 'login', login);
  }

  /** Makes a new secret; the former one also signs for one more day. Resolves to the new one. */
  async rotate(folderId: string): Promise<string> {
    return this.#database.transaction(async (tx) => {
      await tx`delete from watched_folder_secrets where folder_id = ${folderId} and expires_at <= now()`;
      await tx`
        update watched_folder_secrets set expires_at = now() + ${`${FORMER_HOURS} hours`}::interval
        where folder_id = ${folderId} and kind = 'signing' and expires_at is null`;
      return this.add(tx, folderId);
    });
  }

  async add(tx: Transaction, folderId: string): Promise<string> {
    const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    await this.#seal(tx, folderId, 'signing', secret);
    return secret;
  }

  async #find(folderId: string, kind: 'signing' | 'login'): Promise<readonly string[]> {
    const rows = await this.#database.all<SealedSecret & { readonly id: string }>`
      select id, ${(sql) => sealedColumns(sql)} from watched_folder_secrets
      where folder_id = ${folderId} and kind = ${kind} and (expires_at is null or expires_at > now())
      order by expires_at desc nulls first, id desc`;
    return rows.map((row) => this.#keyring.open(row, folderPlace(folderId, row.id)));
  }

  async #seal(tx: Transaction, folderId: string, kind: 'signing' | 'login', secret: string): Promise<void> {
    const id = uuidv7();
    const sealed = this.#keyring.seal(secret, folderPlace(folderId, id));
    await tx`insert into watched_folder_secrets ${tx({ id, folderId, kind, ...sealed })}`;
  }
}

function folderPlace(folderId: string, id: string) {
  return { table: 'watched_folder_secrets', rowId: folderId, name: id };
}

/** Wraps everything that `formerId` has wrapped with the active key of `keyring`; resolves to the number of values. */
export async function rewrapAll(tx: Transaction, keyring: Keyring, formerId: string): Promise<number> {
  // Blocks provisioning, so that no secret is written with the former key meanwhile.
  await tx`lock table connection_secrets, watched_folder_secrets, account_secrets, job_secrets,
    webhook_secrets, receipt_key_secrets, s3_access_key_secrets, transfer_secrets in share row exclusive mode`;
  let count = 0;
  for (const [table, columns] of Object.entries(TABLES)) {
    for (;;) {
      const rows = await tx<(SealedSecret & { readonly rowId: string; readonly name: string })[]>`
        select ${tx(columns.row)} as row_id, ${tx(columns.name)} as name, ${sealedColumns(tx)}
        from ${tx(table)} where key_id <> ${keyring.activeId} limit ${REWRAP_BATCH}`;
      if (rows.length === 0) break;
      for (const { rowId, name, ...sealed } of rows) {
        if (sealed.keyId !== formerId) {
          throw new StartupError(`a secret is encrypted with a third master key (id ${sealed.keyId})`);
        }
        const { keyId, wrappedKey } = keyring.rewrap(sealed, { table, rowId, name });
        await tx`
          update ${tx(table)} set key_id = ${keyId}, wrapped_key = ${wrappedKey}
          where ${tx(columns.row)} = ${rowId} and ${tx(columns.name)} = ${name}`;
      }
      count += rows.length;
    }
  }
  return count;
}
