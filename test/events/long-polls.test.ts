/** How fast a long poll of the feed wakes; and that it does not delay the stop of its node. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startManaged, startManagedOn, withSql, type ManagedGateway } from '../api/manage/support.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { eventually } from '../support/eventually.js';
import { KEY, type ApiClient } from '../support/gateway.js';

interface Page {
  readonly events: readonly { readonly sequence: number }[];
  readonly last: number;
}

/** A pause of the machine does not repeat. */
const TRIES = 3;

let ssh: TestSshd;
let config: Record<string, unknown>;
let gateway: ManagedGateway;
let second: ManagedGateway;

before(async () => {
  ssh = await startSshd();
  const { port, username, clientKeyFile: privateKeyFile } = ssh;
  const connection = { id: 'ssh', name: 'SSH', type: 'sftp', host: '127.0.0.1', port, username, privateKeyFile };
  const apiKeys = [{ name: 'test', key: KEY, scopes: ['read', 'write', 'exec', 'watch'] }];
  config = { accounts: [{ email: 'test@example.com', plan: 'pro', apiKeys, connections: [connection] }] };
  gateway = await startManaged(config);
  second = await startManagedOn(gateway.databaseUrl, config);
});
after(async () => {
  await second?.stop();
  await gateway?.stop();
  await ssh?.stop();
});

async function page(query: Record<string, string>, api: ApiClient): Promise<Page> {
  const answer = await api.get('/api/events', { query });
  assert.equal(answer.status, 200, answer.text);
  return answer.json as unknown as Page;
}

/** Resolves once all events are numbered. */
async function lastNow(): Promise<number> {
  const waiting = (): Promise<number> =>
    withSql(gateway.databaseUrl, async (sql) => (await sql`select from events where sequence is null`).count);
  await eventually(async () => (await waiting()) === 0, 'all is numbered');
  return (await page({ limit: '1' }, gateway.client())).last;
}

/** An operation that fails on a reachable server causes an event. */
async function fail(): Promise<void> {
  assert.equal((await gateway.api.post('/api/exec/ssh', { command: 'sleep 5', timeout: 1 })).status, 504);
}

test('a long poll wakes within 100 ms on its node, and within a second from another', async () => {
  for (const [api, mostMs] of [
    [gateway.client(), 100],
    [second.client(), 1_000],
  ] as const) {
    let least = Infinity;
    for (let tries = 0; tries < TRIES && least >= mostMs; tries += 1) least = Math.min(least, await usualWake(api));
    assert.ok(least < mostMs, `woken after ${least} ms`);
  }
});

/** The median of five rounds, in ms. */
async function usualWake(api: ApiClient): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const from = await lastNow();
    const waiting = page({ after: String(from), wait: '30' }, api).then((got) => ({ got, at: performance.now() }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await fail();
    const ended = performance.now();
    const woken = await waiting;
    assert.deepEqual(
      woken.got.events.map(({ sequence }) => sequence),
      [from + 1],
    );
    times.push(woken.at - ended);
  }
  times.sort((one, other) => one - other);
  console.log(`woken after ${times.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  return times[2] ?? Infinity;
}

test('a node that stops does not wait for its readers', async () => {
  const from = await lastNow();
  const third = await startManagedOn(gateway.databaseUrl, { ...config, server: { drainSeconds: 120 } });
  const waiting = page({ after: String(from), wait: '60' }, third.client());
  const open = async (): Promise<number> =>
    Number(/^ftg_open_requests (\d+)$/m.exec((await third.api.get('/metrics', { key: '' })).text)?.[1]);
  await eventually(async () => (await open()) === 2, 'it waits, beside this request');
  const stopped = performance.now();
  assert.equal(await third.stop(), 0);
  assert.ok(performance.now() - stopped < 30_000, 'it waited for its readers');
  assert.deepEqual((await waiting).events, []);
});
