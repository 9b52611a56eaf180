/** Places on remote servers where a dead process may have left files. */
import { LRUCache } from 'lru-cache';
import { atMost } from '../../base/cache-size.js';
import { uuidv7 } from '../../base/uuid.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import type { Database } from '../postgres/database.js';
import { columnsOf, rowOf } from '../postgres/sql.js';
import type { NodeRegistry } from '../cluster/nodes.js';

export type Leftover =
  | {
      readonly kind: 'folder';
      readonly id: string;
      readonly accountId: string;
      readonly connectionId: string;
      readonly folder: string;
      readonly tag: string;
    }
  | {
      readonly kind: 'multipart';
      readonly id: string;
      readonly accountId: string;
      readonly connectionId: string;
      readonly path: string;
      readonly uploadId: string;
    }
  | {
      readonly kind: 'aside';
      readonly id: string;
      readonly accountId: string;
      readonly connectionId: string;
      readonly aside: string;
      readonly path: string;
    };

const MAX_REMEMBERED = 50_000;

const rowFields = {
  kind: hidden<Leftover['kind']>(),
  id: hidden<string>(),
  connectionId: hidden<string>(),
  path: hidden<string>(),
  tag: hidden<string>(),
  /** The id of the upload, or the name of the file that is aside. */
  about: hidden<string>({ column: 'uploadId' }),
};

interface LeftoverRow extends RowOf<typeof rowFields> {
  readonly accountId: string;
}

export class LeftoverNotes {
  readonly #database: Database;
  readonly #node: NodeRegistry;
  /** Folders whose note is durable or being written. */
  readonly #noted = new LRUCache<string, Promise<void>>(atMost(MAX_REMEMBERED));

  constructor(database: Database, node: NodeRegistry) {
    this.#database = database;
    this.#node = node;
  }

  /** This process's tag in temporary names: 8 lower-case hex digits, unique among live nodes. */
  get tag(): string {
    return this.#node.tag;
  }

  /** Durable; folders that are already noted are remembered in memory. */
  async expectFolder(connectionId: string, folder: string): Promise<void> {
    const key = `${connectionId}\0${folder}`;
    const known = this.#noted.get(key);
    if (known !== undefined) return known;
    const noting = this.#note('folder', uuidv7(), connectionId, folder, '');
    this.#noted.set(key, noting);
    try {
      await noting;
    } catch (error) {
      if (this.#noted.get(key) === noting) this.#noted.delete(key);
      throw error;
    }
  }

  /** Durable; resolves to the note's id. */
  async expectMultipart(connectionId: string, path: string, uploadId: string): Promise<string> {
    const id = uuidv7();
    await this.#note('multipart', id, connectionId, path, uploadId);
    return id;
  }

  /** Durable; resolves to the note's id. */
  async expectAside(connectionId: string, aside: string, path: string): Promise<string> {
    const id = uuidv7();
    await this.#note('aside', id, connectionId, aside, path);
    return id;
  }

  /** Ends the note of a multipart upload, or of a file that was aside. */
  async forget(note: string): Promise<void> {
    await this.#database.all`delete from leftovers where id = ${note}`;
  }

  /**
   * Claims the notes of dead processes (their heartbeat stopped) for this one, and returns them with those that were
   * claimed earlier and not settled.
   */
  async claimDead(): Promise<readonly Leftover[]> {
    const rows = await this.#database.run(
      (sql) => sql<LeftoverRow[]>`
        update leftovers l set node_id = ${this.#node.id}
        from connections c
        where c.id = l.connection_id
          and (${this.#node.isDead(sql, sql`l.node_id`)} or (l.node_id = ${this.#node.id} and l.tag <> ${this.tag}))
        returning ${columnsOf(sql, rowFields, { table: 'l' })}, c.account_id`,
    );
    return rows.map((row) => {
      const place = { id: row.id, accountId: row.accountId, connectionId: row.connectionId };
      if (row.kind === 'folder') return { kind: 'folder', ...place, folder: row.path, tag: row.tag };
      if (row.kind === 'aside') return { kind: 'aside', ...place, aside: row.path, path: row.about };
      return { kind: 'multipart', ...place, path: row.path, uploadId: row.about };
    });
  }

  /** The place is clean. */
  async settle(leftover: Leftover): Promise<void> {
    await this.#database.all`delete from leftovers where id = ${leftover.id}`;
    this.#node.noteLoss();
  }

  async #note(kind: Leftover['kind'], id: string, connectionId: string, path: string, about: string): Promise<void> {
    await this.#database.run((sql) => {
      const row = rowOf(sql, rowFields, { id, kind, tag: this.tag, connectionId, path, about });
      return sql`
        insert into leftovers ${sql({ ...row, nodeId: this.#node.id })}
        on conflict (tag, connection_id, path, upload_id) do nothing`;
    });
  }
}
