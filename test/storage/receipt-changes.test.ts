/** The chain reveals changes in the database: any column of an item or a receipt, any byte of it. */
import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type postgres from 'postgres';
import { BrokenLink, type Keys, keysOf, verifyChain } from '../../src/cli/receipt-chain.js';
import type { ReceiptFacts, Storage } from '../../src/storage/storage.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { openTest, SUCCESS, upload, withSql } from './databases.js';

const FACTS: ReceiptFacts = { type: 'sftp', host: 'h:22', hostKey: 'SHA256:x', verified: 'size' };
const LINKS = 9;
const VICTIM = 5;
/** Tries of each column, with other bytes. */
const TRIES = 6;
/**
 * Columns that no receipt covers. The verification of the file is signed in a field of the receipt itself, and not read
 * from the item.
 */
const UNTOLD: Readonly<Record<'transfers' | 'receipts', readonly string[]>> = {
  // Beside the facts: the request that would repeat a failure, and its repetition.
  transfers: ['counts_action', 'node_id', 'unverified', 'request', 'again_id'],
  receipts: ['recorded_at'],
};
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  type: ['download', 'delete', 'copy'],
  direction: ['inbound'],
  status: ['failed', 'pending'],
};

type Column = { readonly name: string; readonly type: string };

describe('a change in the database is found', () => {
  let server: PostgresServer;
  let storage: Storage;
  let keys: Keys;
  const accountId = randomUUID();
  before(async () => {
    server = await startPostgres();
    storage = await openTest(server.url);
    for (let number = 1; number <= LINKS; number++) {
      const item = upload(accountId, {
        path: `/ordner/ü${number}`,
        requestId: `request-${number}`,
        keyId: randomUUID(),
      });
      const outcome = {
        ...SUCCESS,
        receipt: FACTS,
        digest: Buffer.alloc(32, number),
        stages: { open: 1.5, transfer: 2 },
      };
      await storage.history.begin(item).finish(outcome);
    }
    keys = keysOf({ keys: await storage.receipts.keys() });
  });
  after(async () => {
    await storage?.close();
    await server?.stop();
  });

  async function* chainOf(): AsyncGenerator<string> {
    for (const line of await storage.receipts.list(accountId, 0, 1000)) yield JSON.stringify(line);
  }
  const broken = async (): Promise<number | undefined | 'holds' | 'forgotten'> => {
    try {
      return (await verifyChain(chainOf(), keys)).forgotten > 0 ? 'forgotten' : 'holds';
    } catch (error) {
      assert.ok(error instanceof BrokenLink, String(error));
      return error.sequence;
    }
  };
  const columnsOf = (sql: postgres.Sql, table: string): Promise<readonly Column[]> => sql<Column[]>`
    select column_name as name, data_type as type from information_schema.columns
    where table_name = ${table} and table_schema = current_schema() and is_generated = 'NEVER'`;

  /** Another value of the column, as SQL. */
  function another({ name, type }: Column): string {
    const [other] = (OTHERS[name] ?? []).toSorted(() => Math.random() - 0.5);
    if (other !== undefined) return `'${other}'`;
    switch (type) {
      case 'uuid':
        return 'gen_random_uuid()';
      case 'bigint':
      case 'integer':
        return `coalesce(${name}, 0) + ${randomInt(100, 1000)}`;
      case 'timestamp with time zone':
        return `${name} + ${randomInt(1, 1000)} * interval '1 ms'`;
      case 'boolean':
        return `not ${name}`;
      case 'bytea': {
        const at = randomInt(32);
        return `set_byte(${name}, ${at}, get_byte(${name}, ${at}) # ${randomInt(1, 256)})`;
      }
      default:
        // One character, at any place; a null or empty value gets one more.
        return `case when coalesce(${name}::text, '') = '' then 'x' else overlay(${name}::text placing
          case substr(${name}::text, at.place, 1) when 'a' then 'b' else 'a' end from at.place) end`;
    }
  }

  for (const table of ['transfers', 'receipts'] as const) {
    it(`${table}: any column of a row that a receipt covers`, async () => {
      const [victim] = await storage.receipts.list(accountId, VICTIM - 1, 1);
      const key = table === 'transfers' ? 'id' : 'transfer_id';
      await withSql(server.url, async (sql) => {
        await sql.unsafe(`create table former as table ${table}`);
        const columns = await columnsOf(sql, table);
        for (const column of columns) {
          for (let tries = 0; tries < TRIES; tries++) {
            const what = `${column.name} = ${another(column)}`;
            const { count } = await sql.unsafe(
              `update ${table} t set ${what} from (select 1 + floor(random() * greatest(1, length(${column.name}::text)))::int
                 as place from ${table} where ${key} = $1) at where t.${key} = $1`,
              [victim!.transferId],
            );
            assert.equal(count, 1, what);
            assert.equal(await broken(), expected(table, column.name), what);
            await sql.unsafe(`delete from ${table}`);
            await sql.unsafe(`insert into ${table} select * from former`);
          }
        }
        assert.equal(await broken(), 'holds');
        for (const name of UNTOLD[table])
          assert.ok(
            columns.some((column) => column.name === name),
            name,
          );
        await sql`drop table former`;
      });
    });
  }
});

function expected(table: 'transfers' | 'receipts', column: string): number | string {
  if (UNTOLD[table].includes(column)) return 'holds';
  // The item is not found in its place, like one that the history has deleted.
  return table === 'transfers' && ['id', 'account_id'].includes(column) ? 'forgotten' : VICTIM;
}
