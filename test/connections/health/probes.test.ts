/**
 * Servers of every protocol that are stopped and started by a script, while they are not used: the recorded outages are
 * those of the script, within one interval. A failure is an outage that is missing or too long, a session
 * beyond the limit of the pool, silent servers that delay others, or two nodes that check twice or not at all.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { FTP_SERVERS, S3_SERVERS, SFTP_SERVERS, type TestServer } from '../../servers/catalogue.js';
import { startPostgres } from '../../servers/postgres.js';
import { eventually } from '../../support/eventually.js';
import { type ApiClient, KEY, startGateway, type TestGateway } from '../../support/gateway.js';
import { type ProxiedServers, startProxied } from '../../servers/proxied.js';
import type { Proxy } from '../../support/proxy.js';
import { countingSessions } from '../../support/sessions.js';
import { startTogether } from '../../support/together.js';

const EVERY_SECONDS = 2;
const INTERVAL_MS = EVERY_SECONDS * 1000;
/** For the poll of the prober, the check itself, and a busy machine. */
const SLACK_MS = 8_000;
const OTHER_KEY = 'ftg_other-key-0123456789-abcdefgh';
const SCOPES = ['read', 'write', 'admin'];
const IDS = ['sftp', 'ftp', 'ftps', 's3'] as const;
const HOUR = 3_600_000;

interface Health {
  readonly state: string;
  readonly checkedAt: string | null;
  readonly certificate: { readonly subject: string; readonly validTo: string } | null;
  readonly hostKey: { readonly algorithm: string; readonly since: string } | null;
  readonly outages: readonly { readonly from: string; readonly to: string | null; readonly errorCode: string }[];
  readonly last24Hours: {
    readonly availability: number | null;
    readonly checks: number;
    readonly failedChecks: number;
    readonly connectMs: number | null;
    readonly firstByteMs: number | null;
  };
  readonly expiringKeys: readonly { readonly name: string }[];
}

let servers: TestServer[];

before(async () => {
  servers = await startTogether(
    [
      SFTP_SERVERS[0],
      FTP_SERVERS.find(({ name }) => name === 'vsftpd'),
      FTP_SERVERS.find(({ name }) => name === 'pure-ftpd, explicit TLS'),
      S3_SERVERS[0],
    ].map((entry) => entry?.start() as Promise<TestServer>),
  );
});
after(async () => {
  await Promise.all((servers ?? []).map((server) => server.stop()));
});

const startLines = (): Promise<ProxiedServers> => startProxied(servers, IDS, { pool: { maxSessions: 1 } });

const healthOf = async (api: ApiClient, id: string): Promise<Health> =>
  (await api.get(`/manage/connections/${id}/health`)).json as unknown as Health;

// Alone: it counts all sessions on the servers, and reading the kernel's table keeps this process busy.
test('no session beyond the limit, and no client waits for a check', { timeout: 900_000 }, async () => {
  const { connections, stop } = await startLines();
  const gateway = await startGateway({
    connections,
    apiKeys: [{ name: 'test', key: KEY, scopes: SCOPES }],
    config: { health: { everySeconds: 1 }, pools: { default: { idleTimeoutMs: 1_000 } } },
  });
  try {
    const { api } = gateway;
    for (const [index, id] of IDS.entries()) {
      if (id === 's3') continue;
      const { connection } = servers[index] as TestServer;
      const { most } = await countingSessions({ port: Number(connection['port']) }, async () => {
        const before = (await healthOf(api, id)).last24Hours.checks;
        const hasLooked = async (): Promise<boolean> => (await healthOf(api, id)).last24Hours.checks > before + 2;
        for (let round = 0; round < 200 && !(round > 20 && (await hasLooked())); round += 1) {
          const asked = api.get(`/api/exists/${id}`, { query: { path: '/not-there' } });
          assert.equal((await asked).status, 200);
          await delay(round % 2 === 0 ? 0 : 150);
        }
        assert.ok(await hasLooked());
      });
      assert.equal(most, 1, id);
    }
  } finally {
    await gateway.stop();
    await stop();
  }
});

describe('side by side', { concurrency: true }, () => {
  test('outages of a script, on unused servers', { timeout: 900_000 }, async () => {
    const soon = new Date(Date.now() + HOUR).toISOString();
    const { proxies, connections, stop } = await startLines();
    const gateway = await startGateway({
      connections,
      apiKeys: [
        { name: 'test', key: KEY, scopes: SCOPES },
        { name: 'soon', key: OTHER_KEY, scopes: ['read'], connections: ['ftp'], expiresAt: soon },
      ],
      config: { health: { everySeconds: EVERY_SECONDS }, pools: { default: { idleTimeoutMs: 1_000 } } },
    });
    try {
      const { api } = gateway;
      for (const id of IDS) await eventually(async () => (await healthOf(api, id)).state === 'up', `${id} is up`);
      const script: { readonly from: number; readonly to: number }[] = [];
      for (const fault of ['reset', 'end'] as const) {
        const from = Date.now();
        for (const proxy of proxies) {
          proxy.isDown = true;
          proxy.fail(fault);
        }
        for (const id of IDS) await eventually(async () => (await healthOf(api, id)).state === 'down', `${id} is down`);
        assert.ok(Date.now() - from < 10_000 + 3 * INTERVAL_MS + SLACK_MS, 'it is reported late');
        script.push({ from, to: Date.now() });
        for (const proxy of proxies) proxy.isDown = false;
        for (const id of IDS) await eventually(async () => (await healthOf(api, id)).state === 'up', `${id} is up`);
      }
      for (const id of IDS) {
        const { outages, certificate, hostKey, last24Hours, expiringKeys } = await healthOf(api, id);
        assert.equal(outages.length, script.length, id);
        for (const [index, { from, to, errorCode }] of outages.toReversed().entries()) {
          const real = script[index] ?? { from: 0, to: 0 };
          const late = [Date.parse(from) - real.from, Date.parse(to ?? '') - real.to];
          for (const ms of late)
            assert.ok(ms > -SLACK_MS && ms < INTERVAL_MS + SLACK_MS, `${id}: ${late.join(', ')} ms`);
          assert.ok(errorCode.length > 0);
        }
        assert.ok((last24Hours.availability ?? 1) < 1 && (last24Hours.availability ?? 0) > 0);
        assert.ok(last24Hours.failedChecks > 0 && last24Hours.checks > last24Hours.failedChecks);
        assert.ok((last24Hours.connectMs ?? 0) > 0 && (last24Hours.firstByteMs ?? 0) > 0, id);
        assert.equal(certificate !== null && Date.parse(certificate.validTo) > Date.now(), id === 'ftps', id);
        assert.equal(hostKey !== null, id === 'sftp');
        assert.deepEqual(
          expiringKeys.map(({ name }) => name),
          id === 'ftp' ? ['soon'] : [],
        );
      }
      assert.match((await healthOf(api, 'sftp')).hostKey?.algorithm ?? '', /^ssh-|^ecdsa-/);
      const { json } = await api.get('/api/events', { query: { limit: '1000' } });
      const announced = (json['events'] as { type: string }[]).map(({ type }) => type);
      assert.equal(announced.filter((type) => type === 'connection.down').length, IDS.length * script.length);
      assert.equal(announced.filter((type) => type === 'connection.up').length, IDS.length * script.length);
      const list = (await api.get('/manage/health')).json['connections'] as { id: string; state: string }[];
      assert.deepEqual(
        list.map(({ id, state }) => [id, state]),
        IDS.map((id) => [id, 'up']),
      );
      // A check is not an operation.
      assert.equal((await api.get('/api/transfers')).json['total'], 0);
      assert.equal((await api.get('/api/me')).json['actionsUsed'] ?? 0, 0);
      const metrics = (await api.get('/metrics')).text;
      assert.match(metrics, /^ftg_connections_down 0$/m);
      assert.match(metrics, /^ftg_health_check_duration_seconds_count\{outcome="failed"\} [1-9]/m);
      assert.equal((await gateway.client(OTHER_KEY).get('/manage/health')).status, 403);
    } finally {
      await gateway.stop();
      await stop();
    }
  });

  test('silent servers of one account delay no others', { timeout: 900_000 }, async () => {
    const { connections, stop } = await startLines();
    const sockets = new Set<net.Socket>();
    const silent = net.createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).resume();
    });
    silent.listen(0, '0.0.0.0');
    await once(silent, 'listening');
    const { port } = silent.address() as net.AddressInfo;
    const login = { type: 'sftp', port, username: 'u', password: 'p' };
    const many = Array.from({ length: 200 }, (_, index) => ({
      id: `silent-${index}`,
      name: `Silent ${index}`,
      host: `127.0.1.${index + 1}`,
      ...login,
    }));
    const gateway = await startGateway({
      config: {
        health: { everySeconds: 2 },
        // Far longer than the others may wait.
        pools: { default: { connectTimeoutMs: 30_000 } },
        accounts: [
          { email: 'silent@example.com', plan: 'pro', apiKeys: [{ name: 'k', key: OTHER_KEY }], connections: many },
          { email: 'test@example.com', plan: 'pro', apiKeys: [{ name: 'k', key: KEY, scopes: SCOPES }], connections },
        ],
      },
    });
    try {
      const { api } = gateway;
      // All places that one account may have are taken.
      const failed = /^ftg_health_check_duration_seconds_count\{outcome="failed"\} [1-9]/m;
      await eventually(async () => failed.test((await api.get('/metrics')).text), 'looks that failed');
      const seen = new Map<string, Set<string>>(IDS.map((id) => [id, new Set()]));
      const startedAt = Date.now();
      while (Date.now() - startedAt < 20_000) {
        for (const id of IDS) seen.get(id)?.add((await healthOf(api, id)).checkedAt ?? '');
        await delay(100);
      }
      for (const id of IDS) {
        const times = [...(seen.get(id) ?? [])].map((text) => Date.parse(text)).sort((a, b) => a - b);
        const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
        assert.ok(gaps.length >= 5, `${id}: ${gaps.length} looks`);
        assert.ok(Math.max(...gaps) < 2_000 + SLACK_MS, `${id}: ${Math.max(...gaps)} ms between two looks`);
      }
    } finally {
      await gateway.stop();
      for (const socket of sockets) socket.destroy();
      silent.close();
      await stop();
    }
  });

  test('two nodes check once, and the remaining one continues', { timeout: 900_000 }, async () => {
    const { proxies, connections, stop } = await startLines();
    const postgres = await startPostgres();
    const nodes: TestGateway[] = [];
    try {
      const [sftp] = connections;
      for (let node = 0; node < 2; node += 1) {
        nodes.push(
          await startGateway({
            connections: [sftp as object],
            apiKeys: [{ name: 'test', key: KEY, scopes: SCOPES }],
            env: { GATEWAY_MASTER_KEY: 'ab'.repeat(32) },
            config: {
              database: { url: postgres.url },
              health: { everySeconds: 2 },
              pools: { default: { idleTimeoutMs: 1_000 } },
            },
          }),
        );
      }
      const [first, second] = nodes as [TestGateway, TestGateway];
      await eventually(async () => (await healthOf(first.api, 'sftp')).state === 'up', 'it is up');
      const [proxy] = proxies as [Proxy];
      const before = proxy.connections;
      await delay(20_000);
      const looks = proxy.connections - before;
      assert.ok(looks >= 6 && looks <= 13, `${looks} looks`);
      const { checks } = (await healthOf(second.api, 'sftp')).last24Hours;
      await first.kill();
      await eventually(
        async () => (await healthOf(second.api, 'sftp')).last24Hours.checks > checks + 3,
        'the other node goes on',
      );
      assert.deepEqual((await healthOf(second.api, 'sftp')).outages, []);
    } finally {
      const isLeft = ({ process: { exitCode, signalCode } }: TestGateway) => exitCode === null && signalCode === null;
      await Promise.all(nodes.filter(isLeft).map((node) => node.stop()));
      await postgres.stop();
      await stop();
    }
  });
});
