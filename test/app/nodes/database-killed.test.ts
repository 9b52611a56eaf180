/**
 * The shared database of three nodes is killed under load and comes back. A failure is an acknowledged upload that is
 * gone, a key that runs twice, a node that wrongly says that it is ready, or one that has to be restarted.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { type PostgresServer, startPostgres } from '../../servers/postgres.js';
import { TEST_KEY } from '../../storage/databases.js';
import { type ApiAnswer, type ApiClient, startGateway, type TestGateway } from '../../support/gateway.js';
import { type LoadBalancer, startLoadBalancer } from '../../support/load-balancer.js';
import { freePort } from '../../support/ports.js';
import { held } from '../../support/reliability.js';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';

const WORKERS = 6;
const RETRY_MS = 100;
const TAKEN_WITHIN_MS = 120_000;
/** The database is gone and back before a node notices, or away until every node has noticed. */
const ROUNDS = ['brief', 'long'] as const;

let postgres: PostgresServer;
let sshd: TestSshd;
let gateways: TestGateway[] = [];
let balancer: LoadBalancer;

async function startNode(port: number): Promise<TestGateway> {
  const { username, clientKeyFile: privateKeyFile, files: rootPath } = sshd;
  const login = { type: 'sftp', host: '127.0.0.1', port: sshd.port, username, privateKeyFile, rootPath };
  return startGateway({
    env: { GATEWAY_MASTER_KEY: TEST_KEY },
    connections: [{ id: 'c1', name: 'SSH', defaultPath: '/', ...login }],
    config: { server: { port, trustedProxies: ['127.0.0.1'] }, database: { url: postgres.url } },
  });
}

before(async () => {
  [postgres, sshd] = await startTogether([startPostgres(), startSshd(['MaxStartups 300'])]);
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  gateways = [await startNode(ports[0])];
  gateways.push(...(await startTogether([startNode(ports[1]), startNode(ports[2])])));
  balancer = await startLoadBalancer(ports);
});

after(async () => {
  await balancer?.stop();
  const codes = await Promise.all(gateways.map((gateway) => gateway.stop()));
  await sshd?.stop();
  await postgres?.stop();
  assert.deepEqual(codes, [0, 0, 0]);
});

interface Sent {
  readonly name: string;
  readonly key: string;
  /** The statuses of all attempts, in order; 0 = no answer. The last one is 200. */
  readonly statuses: readonly number[];
  readonly transferId: string;
}

function upload(api: ApiClient, { name, key }: Pick<Sent, 'name' | 'key'>): Promise<ApiAnswer> {
  return api.send('/api/upload/c1', {
    method: 'POST',
    query: { path: '/', filename: name },
    headers: { 'Content-Type': 'application/octet-stream', 'Idempotency-Key': key },
    body: contentOf(name),
  });
}

const contentOf = (name: string): Buffer => Buffer.alloc(20_000, `${name} `);
const idOf = ({ json }: ApiAnswer): string => (json['transfer'] as { id: string }).id;

/** Like a careful client: repeats the same request with the same key until its answer is final. */
async function sendUntilTaken(name: string): Promise<Sent> {
  const key = randomUUID();
  const statuses: number[] = [];
  const until = performance.now() + TAKEN_WITHIN_MS;
  for (;;) {
    const answer = await upload(balancer.api, { name, key }).catch(() => undefined);
    statuses.push(answer?.status ?? 0);
    if (answer?.status === 200) return { name, key, statuses, transferId: idOf(answer) };
    // The database is away, or another attempt of the same request is still running on some node.
    if (answer !== undefined) assert.match(String(answer.status), /^(503|409)$/, `${name}: ${answer.text}`);
    if (answer?.status === 409) assert.equal(answer.headers['x-error-code'], 'idempotency_in_progress', answer.text);
    assert.ok(performance.now() < until, `${name} is not taken: ${statuses.join(' ')} ${answer?.text ?? ''}`);
    await delay(RETRY_MS);
  }
}

const readiness = (): Promise<number[]> =>
  Promise.all(gateways.map(({ api }) => api.get('/readyz').then(({ status }) => status)));

test('killing the database of three nodes loses nothing that was acknowledged', { timeout: 900_000 }, async () => {
  const sent: Sent[] = [];
  let isOver = false;
  const load = Promise.all(
    Array.from({ length: WORKERS }, async (_, worker) => {
      for (let turn = 0; !isOver; turn++) sent.push(await sendUntilTaken(`killed-${worker}-${turn}`));
    }),
  );
  try {
    for (const round of ROUNDS) {
      const before = sent.length;
      await eventually(() => sent.length > before + 4 * WORKERS, 'uploads run');
      await postgres.kill();
      if (round === 'long') {
        await eventually(async () => (await readiness()).every((status) => status === 503), 'every node says so');
        for (const { api } of gateways) {
          assert.equal((await api.get('/healthz')).status, 200);
          const refused = await upload(api, { name: 'refused', key: randomUUID() });
          assert.deepEqual([refused.status, refused.headers['x-error-code']], [503, 'database_away'], refused.text);
          assert.match(refused.headers['retry-after'] ?? '', /^[1-9]\d*$/);
        }
      }
      await postgres.restart();
      await eventually(async () => (await readiness()).every((status) => status === 200), 'every node is back');
      for (const [node, { api }] of gateways.entries()) {
        const name = `after-${round}-${node}`;
        const answer = await upload(api, { name, key: randomUUID() });
        assert.equal(answer.status, 200, `a node that says it is ready: ${answer.text}`);
      }
    }
    const served = sent.length;
    await eventually(() => sent.length > served + 4 * WORKERS, 'uploads run again');
  } finally {
    isOver = true;
    await load;
  }

  assert.ok(
    sent.some(({ statuses }) => statuses.length > 1),
    'no upload met the fault',
  );
  const transfers = await successes();
  for (const { name, transferId, statuses } of sent) {
    assert.ok(readFileSync(path.join(sshd.files, name)).equals(contentOf(name)), `${name} is not whole`);
    const items = transfers.filter(({ filename }) => filename === name);
    assert.ok(
      items.some(({ id }) => id === transferId),
      `${name} was acknowledged and is not in the history`,
    );
    if (statuses.length === 1) assert.equal(items.length, 1, `${name} ran more than once`);
  }
  // Acknowledged uploads stay, on each node: from before, during and after the faults.
  const some = sent.filter(({ statuses }, index) => statuses.length > 1 || index % 10 === 0);
  for (const [index, one] of some.entries()) {
    const again = await upload((gateways[index % gateways.length] as TestGateway).api, one);
    assert.deepEqual([again.status, idOf(again)], [200, one.transferId], one.name);
  }
  assert.equal((await successes()).length, transfers.length, 'a repeated key ran again');
  held({
    area: 'Faults',
    what: 'the database of three nodes is killed (SIGKILL)',
    done: 'under uploads through a load balancer, each repeated with its Idempotency-Key until it is taken; back at once, and after every node has noticed',
    held: 'every acknowledged upload is whole and in the history, no key runs twice once it was taken, readiness is right, no node is started again',
    tries: ROUNDS.length,
  });
});

/** Every successful upload of the history, once none is pending. */
async function successes(): Promise<{ readonly id: string; readonly filename: string }[]> {
  const { api } = gateways[0] as TestGateway;
  const page = async (status: string, offset: number): Promise<{ transfers: { id: string; filename: string }[] }> => {
    const query = { type: 'upload', status, limit: '100', offset: String(offset) };
    return (await api.get('/api/transfers', { query })).json as { transfers: { id: string; filename: string }[] };
  };
  await eventually(async () => (await page('pending', 0)).transfers.length === 0, 'every item has its end');
  const all: { id: string; filename: string }[] = [];
  for (;;) {
    const { transfers } = await page('success', all.length);
    all.push(...transfers);
    if (transfers.length < 100) return all;
  }
}
