/** Receipts in the database: one for each written row, in one chain, even if the row changes later. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { BrokenLink, type Chain, keysOf, verifyChain } from '../../src/cli/receipt-chain.js';
import { changeReceiptKey } from '../../src/storage/open.js';
import type { ReceiptFacts, Storage, TransferOutcome } from '../../src/storage/storage.js';
import { DATABASES, FAILURE, openTest, SUCCESS, testOptions, type TestServer, upload, withSql } from './databases.js';

const FACTS: ReceiptFacts = { type: 'sftp', host: 'h:22', hostKey: 'SHA256:x', verified: 'size' };
const AT_ONCE = 150;
const RECEIPTED: TransferOutcome = { ...SUCCESS, receipt: FACTS, digest: Buffer.alloc(32, 7), stages: { open: 1.5 } };

for (const kind of DATABASES) {
  describe(`receipts on ${kind.name}`, () => {
    let server: TestServer;
    let url: string;
    let storage: Storage;
    let other: Storage;
    before(async () => {
      server = await kind.start();
      url = await server.createDatabase();
      [storage, other] = [await openTest(url), await openTest(url)];
    });
    after(async () => {
      await storage.close();
      await other.close();
      await server.stop();
    });

    async function* linesOf(accountId: string, after = 0): AsyncGenerator<string> {
      for (const line of await storage.receipts.list(accountId, after, 10_000)) yield JSON.stringify(line);
    }
    const chainOf = async (accountId: string, after = 0): Promise<Chain> =>
      verifyChain(linesOf(accountId, after), keysOf({ keys: await storage.receipts.keys() }));

    it('many rows at once on two nodes and of three accounts: three chains', async () => {
      const accounts = [randomUUID(), randomUUID(), randomUUID()];
      const each = 400;
      const record = async (number: number): Promise<void> => {
        const on = number % 2 === 0 ? storage : other;
        const accountId = accounts[number % accounts.length]!;
        const transfer = on.history.begin(upload(accountId, { path: `/ü${number}`, requestId: `r${number}` }));
        await transfer.finish(RECEIPTED);
        assert.ok(await on.receipts.find(accountId, transfer.id), 'it is there when the item is');
      };
      // Not all of them together: a row that is not written within five seconds is refused.
      await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, first) => {
          for (let number = first; number < each * accounts.length; number += AT_ONCE) await record(number);
        }),
      );
      for (const accountId of accounts) {
        const { receipts, first, last } = await chainOf(accountId);
        assert.deepEqual([receipts, first.sequence, last.sequence], [each, 1, each]);
        assert.equal(await storage.history.count(accountId), each);
      }
      assert.equal(
        await storage.receipts.find(accounts[0]!, (await chainOf(accounts[1]!)).first.transfer.id),
        undefined,
      );
    });

    it('a failure has none, and an item without facts has none', async () => {
      const accountId = randomUUID();
      await storage.history.begin(upload(accountId)).finish({ ...FAILURE, receipt: FACTS });
      await storage.history.begin(upload(accountId)).finish(SUCCESS);
      await assert.rejects(chainOf(accountId), BrokenLink);
    });

    it('a row that was declared failed too early gets its receipt with its true end', async () => {
      const accountId = randomUUID();
      const transfer = storage.history.begin(upload(accountId));
      await transfer.recordPending();
      await withSql(
        url,
        (sql) => sql`
          update transfers set status = 'failed', error_code = 'internal',
            error_message = 'the gateway stopped while this transfer was running' where id = ${transfer.id}`,
      );
      await transfer.finish(RECEIPTED);
      assert.equal((await storage.history.find(accountId, transfer.id))?.status, 'success');
      assert.equal((await chainOf(accountId)).receipts, 1);
    });

    it('another key signs from then on, on every node, and the chain continues', async () => {
      const accountId = randomUUID();
      const finish = (on: Storage): Promise<unknown> => on.history.begin(upload(accountId)).finish(RECEIPTED);
      await finish(storage);
      const former = (await storage.receipts.keys())[0]?.kid;
      // An embedded database has one owner: the test opens it by its address.
      const next = await changeReceiptKey(testOptions(url));
      await finish(storage);
      await finish(other);
      assert.notEqual(next, former);
      assert.deepEqual(
        (await storage.receipts.keys()).slice(0, 2).map(({ kid }) => kid),
        [next, former],
      );
      assert.equal((await chainOf(accountId)).receipts, 3);
      const signedBy = (await storage.receipts.list(accountId, 0, 10)).map(
        ({ receipt }) =>
          (JSON.parse(Buffer.from(receipt.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid,
      );
      assert.deepEqual(signedBy, [former, next, next]);
    });

    it('the oldest are deleted, and the rest is a chain', async () => {
      const accountId = randomUUID();
      for (let number = 0; number < 5; number++) await storage.history.begin(upload(accountId)).finish(RECEIPTED);
      await withSql(
        url,
        (sql) => sql`
          update receipts set recorded_at = now() - interval '9 days' where account_id = ${accountId} and sequence <= 3`,
      );
      const weekAgo = new Date(Date.now() - 7 * 24 * 60 * 60 * 1000);
      assert.equal(await storage.receipts.deleteOlder(weekAgo, 2), 2);
      assert.equal(await storage.receipts.deleteOlder(weekAgo, 2), 1);
      assert.equal(await storage.receipts.deleteOlder(weekAgo, 2), 0);
      const { receipts, first } = await chainOf(accountId);
      assert.deepEqual([receipts, first.sequence], [2, 4]);
    });

    /** The claim of another node, which does not continue. */
    const claim = (accountId: string, seconds: number): Promise<unknown> =>
      withSql(
        url,
        (sql) => sql`
          insert into receipt_chains as c (account_id, claim, claimed_until)
          values (${accountId}, gen_random_uuid(), clock_timestamp() + make_interval(secs => ${seconds}))
          on conflict (account_id) do update set claim = excluded.claim, claimed_until = excluded.claimed_until`,
      );

    it('a node that stops in the middle of a chain loses it to others', async () => {
      const accountId = randomUUID();
      await storage.history.begin(upload(accountId)).finish(RECEIPTED);
      const since = performance.now();
      await claim(accountId, 1);
      await storage.history.begin(upload(accountId)).finish(RECEIPTED);
      const waited = performance.now() - since;
      assert.ok(waited > 950, `${waited} ms`);
      assert.equal((await chainOf(accountId)).receipts, 2);
    });

    it('stopped chains delay no other account, nor other rows of their own', async () => {
      const [claimed, locked] = [0, 1].map(() => Array.from({ length: 6 }, () => randomUUID()));
      const accountId = randomUUID();
      const finish = (of: string, outcome = RECEIPTED): Promise<unknown> =>
        storage.history.begin(upload(of)).finish(outcome);
      await finish(accountId);
      for (const one of claimed!) await claim(one, 3_600);
      for (const one of locked!) await finish(one);
      const ends = await withSql(url, (sql) =>
        sql.begin(async (tx) => {
          await tx`select from receipt_chains where account_id = any(${locked!}::uuid[]) for update`;
          const stuck = [...claimed!, ...locked!];
          let ended = 0;
          const ends = stuck.map((one) => finish(one).finally(() => ended++));
          // At once: what waits for the locks has only the time that a statement may take.
          await Promise.all(stuck.flatMap((one) => [finish(accountId), finish(one, SUCCESS)]));
          assert.equal(ended, 0, 'all of them still stand still');
          return { ends };
        }),
      );
      for (const one of claimed!) await claim(one, 0);
      await Promise.all(ends.ends);
      for (const one of claimed!) assert.equal((await chainOf(one)).receipts, 1);
      for (const one of locked!) assert.equal((await chainOf(one)).receipts, 2);
    });

    it('a node that has lost its claim writes none of its signed receipts, and starts again', async () => {
      const accountId = randomUUID();
      const atOnce = 300;
      await storage.history.begin(upload(accountId)).finish(RECEIPTED);
      const thief = randomUUID();
      let stolen = 0;
      let made = 1;
      await withSql(url, async (sql) => {
        // It may sign them before it is looked at.
        for (let round = 0; stolen === 0 && round < 20; round++) {
          const begun = Array.from({ length: atOnce }, () => storage.history.begin(upload(accountId)));
          made += begun.length;
          let isOver = false;
          const all = Promise.all(begun.map((one) => one.finish(RECEIPTED))).finally(() => (isOver = true));
          while (stolen === 0 && !isOver) {
            const { count: taken } = await sql`
              update receipt_chains set claim = ${thief}, claimed_until = clock_timestamp() + interval '200 ms'
              where account_id = ${accountId} and claim <> ${thief}`;
            stolen += taken;
          }
          await all;
        }
      });
      assert.equal(stolen, 1, 'the claim was taken while it signed');
      const { receipts, last } = await chainOf(accountId);
      assert.deepEqual([receipts, last.sequence], [made, made]);
      assert.equal(await storage.history.count(accountId), made);
    });

    it('if another node has ended some rows meanwhile, only the others get a receipt', async () => {
      const accountId = randomUUID();
      const transfers = Array.from({ length: 3 }, () => storage.history.begin(upload(accountId)));
      for (const transfer of transfers) await transfer.recordPending();
      await withSql(url, (sql) => sql`update transfers set status = 'failed' where id = ${transfers[1]!.id}`);
      await Promise.all(transfers.map((transfer) => transfer.finish(RECEIPTED)));
      assert.equal((await chainOf(accountId)).receipts, 2);
      assert.equal(await storage.receipts.find(accountId, transfers[1]!.id), undefined);
    });
  });
}
