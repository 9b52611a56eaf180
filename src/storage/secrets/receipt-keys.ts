/**
 * The keys that sign receipts: Ed25519 (RFC 8037). The private halves are sealed, the public ones are kept for ever.
 */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { GatewayError } from '../../base/errors.js';
import type { Database } from '../postgres/database.js';
import type { Queryable, Transaction } from '../postgres/sql.js';
import type { NamedSecrets } from './sealed-rows.js';
import { SecretError } from './secrets.js';

const PRIVATE = 'private';
const MAKING_LOCK = 4_702_111_234_005;

/** A public key as a JWK (RFC 7517, RFC 8037). */
export interface ReceiptKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly alg: 'EdDSA';
  readonly use: 'sig';
}

/** Makes a compact JWS (RFC 7515) of a payload. */
export type Signer = (payload: object) => string;

export class ReceiptKeys {
  readonly #database: Database;
  readonly #secrets: NamedSecrets;
  readonly #signers = new Map<string, Signer>();

  constructor(database: Database, secrets: NamedSecrets) {
    this.#database = database;
    this.#secrets = secrets;
  }

  /** Creates the first key if there is none. */
  async ensure(): Promise<void> {
    const active = await this.#database.first`select id from receipt_keys where is_active`;
    if (active === undefined) await this.#make((tx) => tx`select id from receipt_keys where is_active`);
  }

  /** From now on a new key signs; resolves to its id. */
  async rotate(): Promise<string> {
    return this.#make(async (tx) => {
      await tx`update receipt_keys set is_active = false, retired_at = now() where is_active`;
      return [];
    });
  }

  /** Newest first. */
  async all(): Promise<readonly ReceiptKey[]> {
    const rows = await this.#database.all<{ id: string; x: string }>`
      select id, public_key as x from receipt_keys order by created_at desc, id`;
    return rows.map(({ id, x }) => ({ kty: 'OKP', crv: 'Ed25519', x, kid: id, alg: 'EdDSA', use: 'sig' }));
  }

  async signer(sql: Queryable, id: string): Promise<Signer> {
    const known = this.#signers.get(id);
    if (known !== undefined) return known;
    const text = await this.#open(sql, id);
    const signer = signerOf(id, createPrivateKey(text));
    this.#signers.set(id, signer);
    return signer;
  }

  /** @throws GatewayError database_away: the payload waits for a node, or a key, that can sign it */
  async #open(sql: Queryable, id: string): Promise<string> {
    const closed = (cause?: unknown): GatewayError =>
      new GatewayError('database_away', `the key ${id} that signs receipts cannot be opened by this master key`, {
        retryAfterMs: 5_000,
        cause,
      });
    try {
      const text = await this.#secrets.find(sql, id, PRIVATE);
      if (text === undefined) throw closed();
      return text;
    } catch (error) {
      throw error instanceof SecretError ? closed(error) : error;
    }
  }

  /** `findExisting` resolves with an existing key that makes a new one unnecessary. */
  async #make(findExisting: (tx: Transaction) => PromiseLike<readonly object[]>): Promise<string> {
    return this.#database.transaction(async (tx) => {
      await tx`select pg_advisory_xact_lock(${MAKING_LOCK}::bigint)`;
      const [existing] = (await findExisting(tx)) as readonly { readonly id: string }[];
      if (existing !== undefined) return existing.id;
      const { publicKey, privateKey } = generateKeyPairSync('ed25519');
      const { x } = publicKey.export({ format: 'jwk' }) as { readonly x: string };
      const id = thumbprintOf(x);
      await tx`insert into receipt_keys ${tx({ id, publicKey: x })}`;
      await this.#secrets.put(tx, id, PRIVATE, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
      return id;
    });
  }
}

/** RFC 7638. */
function thumbprintOf(x: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url');
}

function signerOf(kid: string, key: KeyObject): Signer {
  const head = Buffer.from(JSON.stringify({ alg: 'EdDSA', kid, typ: 'ftg-receipt+jws' })).toString('base64url');
  return (payload) => {
    const input = `${head}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
    return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
  };
}
