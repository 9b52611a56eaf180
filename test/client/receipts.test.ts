/** Receipts and their transfers, through the typed client. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { FileTransferGateway, FtgError, type Receipt } from '../../src/client/index.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { error, type Reply, startFaultServer } from './fault-server.js';

let gateway: TestAccount;
let ftg: FileTransferGateway;

before(async () => {
  gateway = await openAccount({ sandbox: true, digests: 'always' });
  ftg = new FileTransferGateway({ baseUrl: gateway.url, apiKey: gateway.keyOf(KEY) });
});
after(() => gateway?.stop());

async function all(receipts: AsyncIterable<Receipt>): Promise<Receipt[]> {
  const found: Receipt[] = [];
  for await (const receipt of receipts) found.push(receipt);
  return found;
}

test('transfers of a file are found by its digest, and each has its receipt', async () => {
  const ids: string[] = [];
  for (const filename of ['a', 'b', 'c']) ids.push((await ftg.upload('sandbox', 'same', { filename })).id);
  const digest = `sha-256:${createHash('sha256').update('same').digest('hex')}`;
  const { transfers, total } = await ftg.transfers({ digest });
  assert.deepEqual([total, transfers.map(({ id }) => id)], [3, ids.toReversed()]);
  const [first = ''] = ids;
  assert.equal((await ftg.transfer(first)).digest, digest);

  const chain = await all(ftg.receipts());
  assert.deepEqual(
    chain.map(({ sequence, transferId, transfer }) => [sequence, transferId, transfer?.digest]),
    ids.map((id, index) => [index + 1, id, digest]),
  );
  assert.equal(await ftg.receipt(first), chain[0]?.receipt);
  assert.deepEqual(await all(ftg.receipts({ after: 1 })), chain.slice(1));
  assert.deepEqual(await all(ftg.receipts({ after: 3 })), []);
  await assert.rejects(ftg.receipt('0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001'), (thrown) => {
    return thrown instanceof FtgError && thrown.code === 'unknown_item';
  });
});

test('a chain that breaks off continues after its last whole line, as long as it makes progress', async (t) => {
  const lineOf = (sequence: number): string =>
    `${JSON.stringify({ sequence, transferId: `t${sequence}`, receipt: 'r', transfer: null })}\n`;
  const broken =
    (text: string): Reply =>
    (response, request) => {
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
      response.write(text, () => request.socket.destroy());
    };
  const server = await startFaultServer(t, [
    broken(lineOf(1) + lineOf(2) + lineOf(3).slice(0, 9)),
    broken(lineOf(3)),
    broken(lineOf(4)),
    error(503, 'draining'),
    broken(lineOf(5)),
    (response) => response.end(lineOf(6)),
  ]);
  const client = new FileTransferGateway({ baseUrl: server.url, apiKey: 'k', retry: { delayMs: 1, attempts: 3 } });
  const found = await all(client.receipts());
  assert.deepEqual(
    found.map(({ sequence }) => sequence),
    [1, 2, 3, 4, 5, 6],
  );
  assert.deepEqual(
    server.asked.map(({ url }) => url.split('after=')[1]),
    [undefined, '2', '3', '4', '4', '5'],
  );
  const lost = await startFaultServer(t, [broken(lineOf(1)), broken('')]);
  const other = new FileTransferGateway({ baseUrl: lost.url, apiKey: 'k', retry: { delayMs: 1, attempts: 3 } });
  await assert.rejects(all(other.receipts()), (thrown) => {
    return thrown instanceof FtgError && thrown.code === 'network_error';
  });
});
