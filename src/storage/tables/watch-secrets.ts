/** Secrets of watched folders, sealed like those of connections: `whsec_…` to sign with, and the login of the webhook's URL. */
import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Database, Transaction } from '../postgres/database.js';
import type { Keyring } from '../secrets/secrets.js';

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
        where folder_id = ${folderId} and kind = 'signing' and (expires_at is null or expires_at > now())
        order by expires_at desc nulls first, id desc`,
    );
    return rows.map((row) => this.#open(row));
  }

  /** `user:password` of the webhook's URL, percent-encoded as there. */
  async login(folderId: string): Promise<string | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<SecretRow[]>`
        select id, folder_id, key_id, wrapped_key, nonce, ciphertext from watched_folder_secrets
        where folder_id = ${folderId} and kind = 'login'`,
    );
    return row === undefined ? undefined : this.#open(row);
  }

  async setLogin(tx: Transaction, folderId: string, login: string | undefined): Promise<void> {
    await tx`delete from watched_folder_secrets where folder_id = ${folderId} and kind = 'login'`;
    if (login !== undefined) await this.#seal(tx, folderId, 'login', login);
  }

  /** Version 1.0 kept the logins of webhooks in their URLs. */
  async sealLogins(): Promise<void> {
    await this.#database.transaction(async (tx) => {
      const rows = await tx<{ id: string; url: string }[]>`
        select id, webhook_url as url from watched_folders where webhook_url ~ '^[^/]*//[^/?#]*@' for update`;
      for (const { id, url } of rows) {
        const target = withoutLogin(url);
        await tx`update watched_folders set webhook_url = ${target.url} where id = ${id}`;
        await this.setLogin(tx, id, target.login);
      }
    });
  }

  /** Makes a new secret; the one before signs along for a day. Resolves to the new one. */
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

  async #seal(tx: Transaction, folderId: string, kind: 'signing' | 'login', secret: string): Promise<void> {
    const id = uuidv7();
    const { keyId, wrappedKey, nonce, ciphertext } = this.#keyring.seal(secret, placeOf(id, folderId));
    await tx`
      insert into watched_folder_secrets (id, folder_id, kind, key_id, wrapped_key, nonce, ciphertext)
      values (${id}, ${folderId}, ${kind}, ${keyId}, ${wrappedKey}, ${nonce}, ${ciphertext})`;
  }

  #open(row: SecretRow): string {
    const { key_id: keyId, wrapped_key: wrappedKey, nonce, ciphertext } = row;
    return this.#keyring.open({ keyId, wrappedKey, nonce, ciphertext }, placeOf(row.id, row.folder_id));
  }
}

export interface WebhookTarget {
  readonly url: string;
  readonly login: string | undefined;
}

/** A URL and what stood before its `@`. */
export function withoutLogin(text: string): WebhookTarget {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.username === '' && url.password === '')) return { url: text, login: undefined };
  const login = `${url.username}:${url.password}`;
  url.username = '';
  url.password = '';
  return { url: url.href, login };
}

export function withLogin(text: string, login: string | undefined): string {
  if (login === undefined) return text;
  const url = new URL(text);
  const colon = login.indexOf(':');
  url.username = login.slice(0, colon);
  url.password = login.slice(colon + 1);
  return url.href;
}

export function placeOf(id: string, folderId: string) {
  return { table: WATCH_SECRETS_TABLE, rowId: folderId, name: id };
}
