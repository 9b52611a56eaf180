/**
 * Servers of every protocol that go down and come back cause connection.down and connection.up, once each. A failure is
 * an outage that one protocol's errors do not show, or a refused file that counts as an outage.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { FTP_SERVERS, S3_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { type ProxiedServers, startProxied } from '../servers/proxied.js';
import { startTogether } from '../support/together.js';
import { PATIENCE_MS } from '../support/eventually.js';
import { assertRecent } from '../support/recent.js';

interface Reported {
  readonly type: string;
  readonly data: {
    readonly connection: { readonly id: string };
    readonly since: string;
    readonly errorCode?: string;
    readonly downSeconds?: number;
  };
}

const IDS = ['sftp', 'ftp', 's3'] as const;

let servers: TestServer[];
let proxied: ProxiedServers;
let gateway: TestGateway;

before(async () => {
  servers = await startTogether(
    [SFTP_SERVERS[0], FTP_SERVERS[0], S3_SERVERS[0]].map((entry) => entry?.start() as Promise<TestServer>),
  );
  proxied = await startProxied(servers, IDS);
  gateway = await startGateway({
    connections: proxied.connections,
    config: { pools: { default: { idleTimeoutMs: 1_000 } } },
  });
});
after(async () => {
  await gateway?.stop();
  await Promise.all([...(proxied?.proxies ?? []), ...(servers ?? [])].map((one) => one.stop()));
});

const reported = async (): Promise<Reported[]> => {
  const { json } = await gateway.api.get('/api/events', { query: { limit: '1000' } });
  return (json['events'] as Reported[]).filter(({ type }) => type.startsWith('connection.'));
};
const ask = (id: string) => gateway.api.get(`/api/exists/${id}`, { query: { path: '/not-there' } });

test(
  'each protocol goes down and comes back, and a refusal of the server is no outage',
  { timeout: 900_000 },
  async () => {
    for (const id of IDS) {
      assert.equal((await ask(id)).status, 200);
      assert.equal((await gateway.api.get(`/api/download/${id}`, { query: { path: '/not-there' } })).status, 404);
    }
    for (const proxy of proxied.proxies) {
      proxy.isDown = true;
      proxy.fail('reset');
    }
    const went = Date.now();
    const asking = async (count: number): Promise<Reported[]> => {
      for (const until = Date.now() + PATIENCE_MS; Date.now() < until;) {
        await Promise.all(IDS.map(ask));
        const events = await reported();
        if (events.length >= count) return events;
        await delay(200);
      }
      assert.fail(`${(await reported()).length} events, not ${count}`);
    };
    const down = await asking(3);
    assert.ok(Date.now() - went >= 9_500, 'a moment is no outage');
    assert.deepEqual(new Set(down.map(({ data }) => data.connection.id)), new Set(IDS));
    for (const { type, data } of down) {
      assert.equal(type, 'connection.down');
      assertRecent(data.since, went);
      assert.ok(data.errorCode !== undefined);
    }
    for (const proxy of proxied.proxies) proxy.isDown = false;
    const all = await asking(6);
    assert.deepEqual(
      new Set(all.slice(3).map(({ type, data }) => `${type} ${data.connection.id}`)),
      new Set(IDS.map((id) => `connection.up ${id}`)),
    );
    for (const { data } of all.slice(3)) assert.ok((data.downSeconds ?? 0) >= 9);
    await Promise.all(IDS.map(ask));
    assert.equal((await reported()).length, 6);
  },
);
