/** Three gateways behind a load balancer, on one PostgreSQL server: guarantees over all of them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { DATABASES, TEST_KEY, type TestServer } from '../../storage/databases.js';
import { type ApiAnswer, type ApiClient, KEY, startGateway, type TestGateway } from '../../support/gateway.js';
import { type LoadBalancer, startLoadBalancer } from '../../support/load-balancer.js';
import { freePort } from '../../support/ports.js';
import { countingSessions } from '../../support/sessions.js';
import { held } from '../../support/reliability.js';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';

const NODES = [0, 1, 2] as const;
const LIMIT = 5;
const MONTHLY_ACTIONS = 20;
const REQUESTS_PER_SECOND = 30;
const SMALL_KEY = 'ftg_small-key-0123456789-abcdefgh';

function upload(
  api: ApiClient,
  filename: string,
  body: Buffer,
  to = 'c1',
  headers = {},
  key = KEY,
): Promise<ApiAnswer> {
  return api.send(`/api/upload/${to}`, {
    method: 'POST',
    query: { path: '/', filename },
    headers: { 'Content-Type': 'application/octet-stream', ...headers },
    body,
    key,
  });
}

describe('three gateways behind a load balancer', { timeout: 900_000 }, () => {
  let database: TestServer;
  let url: string;
  let sshd: TestSshd;
  let ports: [number, number, number];
  let gateways: TestGateway[];
  let balancer: LoadBalancer;

  function startNode(port: number, limits: object = {}): Promise<TestGateway> {
    const { username, clientKeyFile: privateKeyFile, files: rootPath } = sshd;
    const login = { type: 'sftp', host: '127.0.0.1', port: sshd.port, username, privateKeyFile, rootPath };
    const pool = { maxSessions: LIMIT, maxChannelsPerSession: 1, acquireTimeoutMs: 60_000 };
    return startGateway({
      env: { GATEWAY_MASTER_KEY: TEST_KEY },
      config: {
        server: { port, threads: port === ports[0] ? 2 : 1, trustedProxies: ['127.0.0.1'], retireSeconds: 5 },
        database: { url },
        limits: { plans: { small: { connections: 0, monthlyActions: MONTHLY_ACTIONS } }, ...limits },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            apiKeys: [{ name: 'test', key: KEY }],
            connections: [{ id: 'c1', name: 'SSH', defaultPath: '/', pool, ...login }],
          },
          {
            email: 'small@example.com',
            plan: 'small',
            apiKeys: [{ name: 'small', key: SMALL_KEY }],
            connections: [{ id: 'c2', name: 'SSH', defaultPath: '/', pool, ...login }],
          },
        ],
      },
    });
  }

  const apis = (): ApiClient[] => gateways.map(({ api }) => api);
  const nodeOf = (index: number): ApiClient => apis()[index % NODES.length] as ApiClient;

  before(async () => {
    const server = DATABASES.find(({ name }) => name === 'PostgreSQL server');
    assert.ok(server);
    [database, sshd] = await startTogether([server.start(), startSshd(['MaxStartups 300'])]);
    url = await database.createDatabase();
    ports = [await freePort(), await freePort(), await freePort()];
    // The first one creates the tables; the others start while it serves.
    gateways = [await startNode(ports[0])];
    gateways.push(...(await startTogether([startNode(ports[1]), startNode(ports[2])])));
    balancer = await startLoadBalancer(ports);
  });

  after(async () => {
    await balancer?.stop();
    const codes = await Promise.all((gateways ?? []).map((gateway) => gateway.stop()));
    await sshd?.stop();
    await database?.stop();
    assert.deepEqual(codes, [0, 0, 0]);
  });

  test('any node answers any request', async () => {
    const content = randomBytes(200_000);
    const uploaded = await upload(balancer.api, 'any.bin', content);
    assert.equal(uploaded.status, 200, uploaded.text);
    const { id } = uploaded.json['transfer'] as { id: string };
    for (const api of [...apis(), balancer.api]) {
      const downloaded = await api.get('/api/download/c1', { query: { path: '/any.bin' } });
      assert.ok(downloaded.bytes.equals(content));
      const listed = (await api.get('/api/list/c1')).json['files'] as { name: string }[];
      assert.ok(listed.some(({ name }) => name === 'any.bin'));
      const { transfers } = (await api.get('/api/transfers', { query: { type: 'upload' } })).json;
      assert.ok((transfers as { id: string }[]).some((transfer) => transfer.id === id));
    }
    held({
      area: 'Faults',
      what: 'three nodes behind a load balancer: another node is asked',
      done: 'a file and its history item, written by one node, asked of each',
      held: 'every node answers as the first one does',
      tries: NODES.length + 1,
    });
  });

  test('an Idempotency-Key runs once, whichever node gets it', async () => {
    const headers = { 'Idempotency-Key': 'over-all-nodes' };
    const first = await upload(nodeOf(0), 'once', Buffer.from('1'), 'c1', headers);
    assert.equal(first.status, 200, first.text);
    for (const api of [...apis(), balancer.api]) {
      assert.deepEqual((await upload(api, 'once', Buffer.from('1'), 'c1', headers)).json, first.json);
    }
    const { transfers } = (await nodeOf(1).get('/api/transfers', { query: { limit: '100' } })).json;
    assert.equal((transfers as { filename: string }[]).filter(({ filename }) => filename === 'once').length, 1);
    held({
      area: 'Faults',
      what: 'three nodes behind a load balancer: a request is repeated on another one',
      done: 'the same Idempotency-Key and upload at each node',
      held: 'it ran once; every node gives the first answer',
      tries: NODES.length + 1,
    });
  });

  test('the month of an account ends at the same action for all nodes', async () => {
    const answers = await Promise.all(
      Array.from({ length: MONTHLY_ACTIONS + 10 }, (_, index) =>
        upload(nodeOf(index), `quota-${index}`, Buffer.from('x'), 'c2', {}, SMALL_KEY),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, MONTHLY_ACTIONS, statuses.join(' '));
    assert.equal(statuses.filter((status) => status === 429).length, 10);
    held({
      area: 'Faults',
      what: 'three nodes behind a load balancer: the month of an account ends',
      done: 'more uploads at once than the plan has left, spread over the nodes',
      held: 'exactly the allowed ones run, the others are 429',
      tries: answers.length,
    });
  });

  test('maxSessions of a login applies to all nodes together, and each gets some', async () => {
    const content = Buffer.alloc(64 * 1024, 'x');
    const { result: answers, most } = await countingSessions(sshd, () =>
      Promise.all(Array.from({ length: 90 }, (_, index) => upload(nodeOf(index), `many-${index}`, content))),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.ok(most >= NODES.length && most <= LIMIT, `${most} sessions at once`);
    held({
      area: 'Faults',
      what: 'three nodes behind a load balancer: one login, few sessions',
      done: '90 uploads at once on five sessions, spread over the nodes',
      held: 'never a sixth session on the server, all uploads succeed',
      tries: answers.length,
    });
  });

  test('nodes that stop and come back one after another fail no request', async () => {
    const failures: string[] = [];
    let served = 0;
    let isOver = false;
    const client = async (worker: number): Promise<void> => {
      for (let turn = 0; !isOver; turn++) {
        const name = `rolling-${worker}-${turn}`;
        const answers = [
          () => upload(balancer.api, name, Buffer.from(name)),
          () => balancer.api.get('/api/connections'),
        ];
        for (const send of answers) {
          const failure = await send().then(
            ({ status, text }) => (status === 200 ? undefined : `${status} ${text}`),
            (error: unknown) => String(error),
          );
          if (failure === undefined) served++;
          else failures.push(`${name}: ${failure}`);
        }
      }
    };
    const clients = Promise.all([1, 2, 3, 4].map(client));
    try {
      for (const node of NODES) {
        const before = served;
        await eventually(() => served > before + 10, 'requests are served');
        assert.equal(await gateways[node]?.stop(), 0);
        gateways[node] = await startNode(ports[node]);
        // As in a rolling release, the next one stops when the balancer uses this one again.
        const { api } = gateways[node];
        const own = (): Promise<number> => api.get('/metrics', { key: '' }).then(({ text }) => requestsIn(text));
        const alone = await own();
        await eventually(async () => (await own()) > alone, 'requests reach the node that is back');
      }
    } finally {
      isOver = true;
      await clients;
    }
    assert.deepEqual(failures, []);
    for (const name of ['rolling-1-0', 'rolling-4-0']) {
      assert.equal(readFileSync(path.join(sshd.files, name), 'utf8'), name);
    }
    held({
      area: 'Faults',
      what: 'three nodes behind a load balancer are restarted one after the other',
      done: 'SIGTERM and a new start of each, under uploads and listings',
      held: 'no request fails',
      tries: NODES.length,
    });
  });
});

function requestsIn(metrics: string): number {
  const line = /ftg_requests_total\{route="\/api\/upload\/:connectionId",status="2xx"\} (\d+)/;
  return Number(line.exec(metrics)?.[1] ?? 0);
}

describe('a rate limit over two nodes', () => {
  let database: TestServer;
  let gateways: TestGateway[] = [];

  before(async () => {
    const server = DATABASES.find(({ name }) => name === 'PostgreSQL server');
    assert.ok(server);
    database = await server.start();
    const config = {
      database: { url: await database.createDatabase() },
      limits: { requestsPerSecond: REQUESTS_PER_SECOND },
    };
    const env = { GATEWAY_MASTER_KEY: TEST_KEY };
    gateways = [await startGateway({ config, env }), await startGateway({ config, env })];
  });

  after(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await database?.stop();
  });

  test('all nodes together let through as much as one may', async () => {
    // Each node gets more requests than all may serve together, for longer than a window.
    const passed: number[] = [];
    const ends = performance.now() + 3_000;
    const busy = async ({ api }: TestGateway): Promise<void> => {
      while (performance.now() < ends) {
        const answer = await api.get('/api/connections');
        assert.ok(answer.status === 200 || answer.status === 429, answer.text);
        if (answer.status === 200) passed.push(performance.now());
        else assert.ok(Number(answer.headers['retry-after']) >= 1);
        assert.match(String(answer.headers['ratelimit']), /^"default";r=\d+;t=1$/);
      }
    };
    const started = performance.now();
    await Promise.all(gateways.flatMap((gateway) => [1, 2, 3, 4].map(() => busy(gateway))));
    const windows = Math.ceil((performance.now() - started) / 1_000) + 1;
    assert.ok(passed.length <= windows * REQUESTS_PER_SECOND, `${passed.length} in ${windows} windows`);
    assert.ok(passed.length >= 2 * REQUESTS_PER_SECOND, `${passed.length} are too few`);
    held({
      area: 'Faults',
      what: 'two nodes: one API key asks too often of both',
      done: 'more requests at each than both may take, for longer than a window',
      held: 'together they let through what one may; the rest is 429 with Retry-After',
      tries: 1,
    });
  });
});
