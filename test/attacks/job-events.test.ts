/**
 * Event streams of jobs as an attack: thousands that are opened and left, unread ones, more than an account may have;
 * on several nodes, and while a node stops.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';
import { SFTP_SERVERS } from '../servers/catalogue.js';
import { type Cluster, startCluster } from '../jobs/cluster.js';
import { begin, eachOf } from '../jobs/support.js';
import { eventually } from '../support/eventually.js';
import { KEY, memoryOf, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';

const STREAMS_PER_ACCOUNT = 10;
const VISITS = 2_000;
const MIB = 1024 * 1024;
const FILES = 400;

interface Watching {
  readonly status: number;
  text(): string;
  readonly ended: Promise<unknown>;
  leave(): void;
}

describe('watchers of jobs', { timeout: 900_000 }, () => {
  let cluster: Cluster<'from' | 'to'>;

  before(async () => {
    cluster = await startCluster(
      { from: SFTP_SERVERS[1], to: SFTP_SERVERS[1] },
      { nodes: 2, config: { server: { drainSeconds: 180 } } },
    );
    const { disk } = cluster.servers.from;
    const names = Array.from({ length: FILES }, (_, number) => `/tree/${'n'.repeat(150)}-${number}`);
    await eachOf(names, (name) => disk.write(name, Buffer.alloc(20_000)));
  });
  after(() => cluster?.stop());

  const order = (path: string, bytesPerSecond: number): object => ({
    type: 'copy',
    bytesPerSecond,
    source: { connectionId: 'from', path: '/tree' },
    destination: { connectionId: 'to', path },
  });

  async function watch({ port }: TestGateway, id: string): Promise<Watching> {
    const headers = { Authorization: `Bearer ${KEY}` };
    const request = http.get({ host: '127.0.0.1', port, path: `/api/jobs/${id}/events`, headers, agent: false });
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    let text = '';
    answer.setEncoding('utf8').on('data', (part: string) => (text += part));
    answer.on('error', () => undefined);
    request.on('error', () => undefined);
    const ended = new Promise((done) => answer.once('close', done));
    return { status: answer.statusCode ?? 0, text: () => text, ended, leave: () => request.destroy() };
  }
  const cancel = async (id: string): Promise<unknown> => cluster.api.post(`/api/jobs/${id}/cancel`, {});

  test('a job is watched on either node, and watching again returns everything relevant', async () => {
    const { id } = await begin(cluster.api, order('/watched', (FILES * 20_000) / 4));
    const watchers = await Promise.all(cluster.nodes.map((node) => watch(node, id)));
    const names = (watching: Watching): Set<string> =>
      new Set([...watching.text().matchAll(/^event: (\w+)$/gm)].map(([, name]) => name ?? ''));
    const isTold = (): boolean => watchers.every((one) => names(one).size === 2);
    await eventually(isTold, 'both get events of the job and of files');
    const [first] = watchers;
    first?.leave();
    const again = await watch(cluster.node(0), id);
    await eventually(() => names(again).has('job'), 'the job is sent at once');
    await Promise.all([...watchers, again].map(({ ended }) => ended));
    for (const one of [watchers[1], again]) assert.match(one?.text() ?? '', /"state":"succeeded"[^\n]*\n\n$/);
  });

  test('an account gets its limit, none of the others’ places, and each place is free again', async () => {
    const { id } = await begin(cluster.api, order('/bound', 10_000));
    const node = cluster.node(0);
    const open = await Promise.all(Array.from({ length: STREAMS_PER_ACCOUNT }, () => watch(node, id)));
    assert.ok(open.every(({ status }) => status === 200));
    const more = await watch(node, id);
    assert.equal(more.status, 429, more.text());
    for (const one of open) one.leave();
    await eventually(async () => {
      const one = await watch(node, id);
      one.leave();
      return one.status === 200;
    }, 'a place is free');
    await cancel(id);
  });

  test(`${VISITS} come and leave`, async (t) => {
    const { id } = await begin(cluster.api, order('/visited', 10_000));
    const node = cluster.node(0);
    const idle = memoryOf(node.pid).now;
    const statuses = new Map<number, number>();
    await eachOf(Array.from({ length: VISITS }), async () => {
      const one = await watch(node, id);
      statuses.set(one.status, (statuses.get(one.status) ?? 0) + 1);
      one.leave();
    });
    // Also before the answer's head has arrived.
    await eachOf(Array.from({ length: VISITS / 4 }), async () => {
      const socket = net.connect(node.port, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      const head = `GET /api/jobs/${id}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n\r\n`;
      await new Promise((sent) => socket.write(head, sent));
      socket.resetAndDestroy();
    });
    assert.deepEqual(
      [...statuses.keys()].filter((status) => status !== 200 && status !== 429),
      [],
    );
    const places: Watching[] = [];
    await eventually(async () => {
      places.push(await watch(node, id));
      const good = places.filter(({ status }) => status === 200).length;
      return good === STREAMS_PER_ACCOUNT;
    }, 'all places are free again');
    for (const place of places) place.leave();
    const grown = (memoryOf(node.pid).now - idle) / MIB;
    t.diagnostic(`${JSON.stringify([...statuses])}, ${Math.round(grown)} MiB more`);
    assert.ok(grown < 60, `${grown} MiB`);
    await cancel(id);
  });

  test('an unread stream needs little, and delays no other', async (t) => {
    const { id } = await begin(cluster.api, order('/deaf', 0));
    const node = cluster.node(0);
    const sockets = await Promise.all(
      Array.from({ length: STREAMS_PER_ACCOUNT }, async () => {
        const socket = net.connect(node.port, '127.0.0.1');
        socket.on('error', () => undefined).pause();
        await once(socket, 'connect');
        socket.write(`GET /api/jobs/${id}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n\r\n`);
        return socket;
      }),
    );
    const idle = memoryOf(node.pid).now;
    await eventually(async () => {
      const { json } = await cluster.node(1).api.get(`/api/jobs/${id}`);
      return (json['job'] as { state: string }).state === 'succeeded';
    }, 'the job ends');
    const grown = (memoryOf(node.pid).now - idle) / MIB;
    t.diagnostic(`${Math.round(grown)} MiB more`);
    assert.ok(grown < 60, `${grown} MiB`);
    for (const socket of sockets) socket.destroy();
  });

  test('a node that stops ends them at once', async () => {
    const { id } = await begin(cluster.api, order('/drained', 10_000));
    const node = cluster.node(1);
    const open = await Promise.all(Array.from({ length: 5 }, () => watch(node, id)));
    const from = performance.now();
    const [code] = await Promise.all([node.stop(), ...open.map(({ ended }) => ended)]);
    const took = performance.now() - from;
    assert.equal(code, 0);
    assert.ok(took < 60_000, `${took} ms, and it drains for three minutes`);
    cluster.nodes.pop();
    await cluster.add();
    await cancel(id);
    held({
      area: 'Attacks',
      what: 'event streams of jobs are opened and left by the thousand, or never read',
      done: 'over ten at once of one account on one of two nodes, thousands that leave at once or before the answer, readers who do not read, a node that stops under them',
      held: 'the eleventh is 429, every place is free again, memory stays, the node stops at once',
      tries: VISITS,
    });
  });
});
