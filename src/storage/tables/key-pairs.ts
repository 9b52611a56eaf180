/** Key pairs made by the gateway: the public half is shown, the private half is encrypted and never shown. */
import { uuidv7 } from '../../base/uuid.js';
import { type KeyPair, keyPairFields } from '../../contract/key-pair.js';
import { refusingDuplicates } from '../postgres/errors.js';
import type { Database } from '../postgres/database.js';
import { columnsOf, type Queryable, rowOf } from '../postgres/sql.js';
import type { NamedSecrets } from '../secrets/sealed-rows.js';
import { type Actor, recordAudit } from './audit-log.js';

export interface MadeKeyPair {
  readonly name: string;
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly privateKey: string;
}

/** The name of its private key among the account's secrets. */
const keyPairSecret = (id: string): string => `key_pair:${id}`;

export class KeyPairs {
  readonly #database: Database;
  readonly #secrets: NamedSecrets;

  constructor(database: Database, secrets: NamedSecrets) {
    this.#database = database;
    this.#secrets = secrets;
  }

  async list(accountId: string): Promise<readonly KeyPair[]> {
    return this.#database.all<KeyPair>`
      select ${columns} from key_pairs where account_id = ${accountId} order by id desc`;
  }

  async privateKey(accountId: string, id: string): Promise<string | undefined> {
    return this.#database.run((sql) => this.privateKeyIn(sql, accountId, id));
  }

  /** The same inside a transaction. */
  async privateKeyIn(sql: Queryable, accountId: string, id: string): Promise<string | undefined> {
    return this.#secrets.find(sql, accountId, keyPairSecret(id));
  }

  async add(actor: Actor, pair: MadeKeyPair): Promise<KeyPair> {
    const id = uuidv7();
    const { name, fingerprint } = pair;
    return refusingDuplicates(`name: there is a key pair called "${name}" already`, () =>
      this.#database.transaction(async (tx) => {
        const row = rowOf(tx, keyPairFields, { ...pair, id });
        const [made] = await tx<KeyPair[]>`
          insert into key_pairs ${tx({ ...row, accountId: actor.accountId })} returning ${columns(tx)}`;
        await this.#secrets.put(tx, actor.accountId, keyPairSecret(id), pair.privateKey);
        await recordAudit(tx, actor, {
          action: 'key_pair.create',
          target: { kind: 'key_pair', id, name },
          details: { fingerprint },
        });
        return made as KeyPair;
      }),
    );
  }

  async remove(actor: Actor, { id, name }: KeyPair): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await tx`delete from key_pairs where id = ${id} and account_id = ${actor.accountId}`;
      await this.#secrets.put(tx, actor.accountId, keyPairSecret(id), null);
      await recordAudit(tx, actor, { action: 'key_pair.delete', target: { kind: 'key_pair', id, name } });
    });
  }
}

function columns(sql: Queryable) {
  const usedBy = sql`array(select c.id from connections c where c.key_pair_id = key_pairs.id order by c.ordinal)`;
  return columnsOf(sql, keyPairFields, { table: 'key_pairs', made: { usedBy } });
}
