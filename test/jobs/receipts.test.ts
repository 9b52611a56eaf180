/** With `digests: always` of the account each file of a job has its digest and its receipt, on every node. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { keysOf, type Payload, verifyChain } from '../../src/cli/receipt-chain.js';
import { FTP_SERVERS, SFTP_SERVERS } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { type Cluster, startCluster } from './cluster.js';
import { begin, ENDED } from './support.js';

const FILES = 150;

interface Line {
  readonly receipt: string;
  readonly transfer: Payload['transfer'];
}

describe('receipts of jobs', () => {
  let cluster: Cluster<'from' | 'to'>;
  const digests = new Map<string, string>();

  before(async () => {
    cluster = await startCluster(
      { from: SFTP_SERVERS[1], to: FTP_SERVERS[0] },
      { nodes: 2, account: { digests: 'always' } },
    );
    for (let number = 0; number < FILES; number++) {
      const content = randomBytes(number % 50 === 0 ? 300_000 : 10 + number);
      await cluster.servers.from.disk.write(`/source/f${number}`, content);
      digests.set(`/copied/f${number}`, `sha-256:${createHash('sha256').update(content).digest('hex')}`);
    }
  });
  after(() => cluster?.stop());

  test('a copy whose node is killed: each file once, in one chain', async () => {
    const { id } = await begin(cluster.api, {
      type: 'copy',
      source: { connectionId: 'from', path: '/source' },
      destination: { connectionId: 'to', path: '/copied' },
    });
    await eventually(async () => (await cluster.see(id)).counts.done > FILES / 5, 'some are done');
    await cluster.kill(1);
    await cluster.add();
    await eventually(async () => ENDED.includes((await cluster.see(id)).state), 'the job has ended');
    assert.equal((await cluster.see(id)).state, 'succeeded');
    const { text } = await cluster.api.get('/api/receipts');
    const lines = text.split('\n').slice(0, -1);
    const keys = keysOf((await cluster.api.get('/.well-known/jwks.json')).json);
    const { receipts } = await verifyChain(
      (async function* () {
        yield* lines;
      })(),
      keys,
    );
    assert.equal(receipts, FILES);
    const transfers = lines.map((line) => (JSON.parse(line) as Line).transfer);
    assert.deepEqual(new Map(transfers.map(({ path, digest }) => [path as string, digest])), digests);
    assert.ok(transfers.every(({ jobId, type }) => jobId === id && type === 'copy'));
  });
});
