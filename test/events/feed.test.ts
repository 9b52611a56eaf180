/**
 * The feed and webhooks of a running gateway: the same bytes in both, long polls and streams that wake at once,
 * separate keys and accounts. A failure is an event that is missing, late, or visible to another account or key.
 */
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { FileTransferGateway, FtgError } from '../../src/client/index.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { TEST_KEY, withSql } from '../storage/databases.js';
import { eventually } from '../support/eventually.js';
import { type ApiClient, KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { startTogether } from '../support/together.js';
import { type Received, type Receiver, startReceiver } from '../watch/support/receiver.js';

const ONE_KEY = 'ftg_one-key-0123456789-abcdefghij';
const ADMIN_KEY = 'ftg_admin-key-0123456789-abcdefghi';
const ALL_SCOPES = ['read', 'write', 'exec', 'watch'];
const OTHER_KEY = 'ftg_other-key-0123456789-abcdefghi';

interface FeedEvent {
  readonly sequence: number;
  readonly id: string;
  readonly previousId: string | null;
  readonly type: string;
  readonly data: { readonly transfer: { readonly id: string; readonly connectionId: string } };
}

interface Page {
  readonly events: readonly FeedEvent[];
  readonly nextAfter: number;
  readonly last: number;
}

describe('the feed and webhooks', { timeout: 900_000 }, () => {
  let postgres: PostgresServer;
  let gateway: TestGateway;
  let second: TestGateway;
  let receiver: Receiver;
  let ssh: TestSshd;

  const at22 = (id: string): object => {
    const { port, username, clientKeyFile } = ssh;
    return { id, name: id, type: 'sftp', host: '127.0.0.1', port, username, privateKeyFile: clientKeyFile };
  };
  const startNode = (): Promise<TestGateway> =>
    startGateway({
      env: { GATEWAY_MASTER_KEY: TEST_KEY },
      config: {
        database: { url: postgres.url },
        network: { webhooks: { allow: ['127.0.0.1/32'] } },
        webhooks: { retryMs: [100, 200], timeoutMs: 5_000, perAccount: 5 },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            apiKeys: [
              { name: 'test', key: KEY, scopes: ALL_SCOPES },
              { name: 'one', key: ONE_KEY, scopes: ALL_SCOPES, connections: ['one'] },
              { name: 'admin', key: ADMIN_KEY, scopes: ['admin'] },
            ],
            connections: [at22('one'), at22('two')],
          },
          {
            email: 'other@example.com',
            plan: 'pro',
            apiKeys: [{ name: 'other', key: OTHER_KEY, scopes: ALL_SCOPES }],
            connections: [at22('theirs')],
          },
        ],
      },
    });

  before(async () => {
    [postgres, receiver, ssh] = await startTogether([startPostgres(), startReceiver(), startSshd()]);
    gateway = await startNode();
    second = await startNode();
  });
  after(async () => {
    await Promise.all([gateway?.stop(), second?.stop()]);
    await Promise.all([receiver?.close(), ssh?.stop()]);
    await postgres?.stop();
  });

  /** An operation that fails on a reachable server causes an event. */
  const fail = async (id = 'one', api: ApiClient = gateway.api): Promise<void> => {
    assert.equal((await api.post(`/api/exec/${id}`, { command: 'sleep 5', timeout: 1 })).status, 504);
  };
  const page = async (query: Record<string, string> = {}, api: ApiClient = gateway.api): Promise<Page> => {
    const answer = await api.get('/api/events', { query });
    assert.equal(answer.status, 200, answer.text);
    return answer.json as unknown as Page;
  };
  /** Resolves once all events are numbered. */
  const lastNow = async (): Promise<number> => {
    const waiting = (): Promise<number> =>
      withSql(postgres.url, async (sql) => (await sql`select from events where sequence is null`).count);
    await eventually(async () => (await waiting()) === 0, 'all is numbered');
    return (await page({ limit: '1' })).last;
  };
  const sequences = ({ events }: Page): number[] => events.map(({ sequence }) => sequence);
  const subscribe = async (json: object, api: ApiClient = gateway.api): Promise<{ id: string; secret: string }> => {
    const answer = await api.post('/api/webhooks', json);
    assert.equal(answer.status, 201, answer.text);
    return { id: (answer.json['webhook'] as { id: string }).id, secret: answer.json['secret'] as string };
  };
  const unsubscribe = async (id: string): Promise<void> => {
    const answer = await gateway.api.send(`/api/webhooks/${id}`, { method: 'DELETE' });
    assert.equal(answer.status, 200, answer.text);
  };
  const at = (path: string): Received[] => receiver.received.filter((one) => one.path === path);
  const urlOf = (path: string): string => `http://127.0.0.1:${receiver.port}${path}`;

  test('webhooks and the feed have the same bytes', async () => {
    const from = await lastNow();
    const all = await subscribe({ url: urlOf('/all'), events: ['transfer.failed', 'job.finished'] });
    const two = await subscribe({ url: urlOf('/two'), events: ['transfer.failed'], connections: ['two'] });
    const none = await subscribe({ url: urlOf('/none'), events: ['connection.up'] });
    for (const id of ['one', 'two', 'one', 'two']) await fail(id);
    await eventually(() => at('/all').length === 4 && at('/two').length === 2, 'the webhooks get the events');
    const answer = await gateway.api.get('/api/events', { query: { after: String(from) } });
    const bodies = new Map((answer.json['events'] as FeedEvent[]).map((event) => [event.id, event]));
    assert.deepEqual(
      [...bodies.values()].map(({ sequence }) => sequence),
      [1, 2, 3, 4].map((more) => from + more),
    );
    const before = await page({ limit: '1000' });
    for (const [index, event] of before.events.entries()) {
      assert.equal(event.previousId, before.events[index - 1]?.id ?? null);
    }
    for (const [path, { secret }] of [
      ['/all', all],
      ['/two', two],
    ] as const) {
      for (const { text, headers } of at(path)) {
        new Webhook(secret).verify(text, headers as Record<string, string>);
        const { id } = JSON.parse(text) as { id: string };
        assert.equal(headers['webhook-id'], id);
        assert.deepEqual(bodies.get(id), JSON.parse(text));
        assert.ok(answer.text.includes(text), 'the bytes are others');
      }
    }
    assert.deepEqual(at('/none'), []);
    for (const { id } of [all, two, none]) await unsubscribe(id);
    await fail();
    assert.equal(at('/all').length, 4);
  });

  test('transfer.succeeded is made while a webhook subscribes, for the operations that one of them names', async () => {
    const write = async (name: string, api: ApiClient = gateway.api): Promise<void> => {
      assert.equal(
        (await api.post('/api/write/one', { path: `/tmp/${name}`, content: 'x', overwrite: true })).status,
        200,
      );
    };
    const exists = (name: string) => gateway.api.get('/api/exists/one', { query: { path: `/tmp/${name}` } });
    const succeededAfter = async (after: number) => {
      await lastNow();
      const { events } = await page({ after: String(after), limit: '1000' });
      return events.filter(({ type }) => type === 'transfer.succeeded');
    };
    const from = await lastNow();
    await write(`unheard-${process.pid}`);
    assert.deepEqual(await succeededAfter(from), []);

    const events = ['transfer.succeeded'];
    const writes = await subscribe({ url: urlOf('/writes'), events, operations: ['write', 'append'] });
    const removes = await subscribe({ url: urlOf('/removes'), events, operations: ['delete'], connections: ['one'] });
    const name = `heard-${process.pid}`;
    await write(name);
    assert.equal((await exists(name)).status, 200);
    assert.equal((await gateway.api.get('/api/list/one', { query: { path: '/tmp' } })).status, 200);
    assert.equal((await gateway.api.post('/api/delete/one', { path: `/tmp/${name}` })).status, 200);
    await eventually(() => at('/writes').length === 1 && at('/removes').length === 1, 'each has its operation');
    const reported = await succeededAfter(from);
    assert.deepEqual(
      reported.map(({ data }) => [data.transfer.connectionId, (data.transfer as { type?: string }).type]),
      [
        ['one', 'write'],
        ['one', 'delete'],
      ],
    );
    assert.deepEqual(at('/writes')[0]?.body, reported[0]);

    const isHeard = async (): Promise<boolean> => {
      await write(name, second.api);
      return (await succeededAfter(from)).length > reported.length;
    };
    await eventually(isHeard, 'the other node knows of the subscription');
    for (const { id } of [writes, removes]) await unsubscribe(id);
    const last = await lastNow();
    await write(name);
    assert.deepEqual(await succeededAfter(last), []);
  });

  test('a webhook can have its events as CloudEvents, signed as they are sent', async () => {
    const { id, secret } = await subscribe({
      url: urlOf('/cloud'),
      events: ['transfer.failed'],
      format: 'cloudevents',
    });
    const from = await lastNow();
    await fail();
    await eventually(() => at('/cloud').length === 1, 'it is sent');
    const [received] = at('/cloud');
    assert.equal(received?.headers['content-type'], 'application/cloudevents+json');
    new Webhook(secret).verify(received?.text ?? '', received?.headers as Record<string, string>);
    const [event] = (await page({ after: String(from) })).events;
    const [account] = await withSql(
      postgres.url,
      (sql) => sql<{ id: string }[]>`select id from accounts where email = 'test@example.com'`,
    );
    assert.deepEqual(received?.body, {
      specversion: '1.0',
      id: event?.id,
      source: `urn:uuid:${account?.id}`,
      type: 'transfer.failed',
      time: (event as unknown as { timestamp: string }).timestamp,
      datacontenttype: 'application/json',
      sequence: String(event?.sequence),
      previousid: event?.previousId,
      data: event?.data,
    });
    const tried = await gateway.api.post(`/api/webhooks/${id}/test`, {});
    const { body } = tried.json['test'] as { body: string };
    assert.equal((JSON.parse(body) as { specversion: string }).specversion, '1.0');
    assert.equal(at('/cloud')[1]?.text, body);
    await unsubscribe(id);
  });

  test('a long poll wakes on its node, and from another', async () => {
    for (const api of [gateway.client(), second.client()]) {
      for (let round = 0; round < 5; round += 1) {
        const after = await lastNow();
        const waiting = page({ after: String(after), wait: '30' }, api);
        await new Promise((resolve) => setTimeout(resolve, 100));
        await fail();
        assert.deepEqual(sequences(await waiting), [after + 1]);
      }
    }
  });

  test('a long poll ends empty after its time, and when the gateway stops', async () => {
    const after = await lastNow();
    const begin = performance.now();
    assert.deepEqual(await page({ after: String(after), wait: '1' }), { events: [], nextAfter: after, last: after });
    assert.ok(performance.now() - begin >= 950);
    const third = await startNode();
    const waiting = page({ after: String(after), wait: '60' }, third.client());
    const stream = await openStream(third, after);
    const open = async (): Promise<number> =>
      Number(/^ftg_open_requests (\d+)$/m.exec((await third.api.get('/metrics', { key: '' })).text)?.[1]);
    await eventually(async () => (await open()) === 3, 'both wait, beside this request');
    assert.equal(await third.stop(), 0);
    assert.deepEqual((await waiting).events, []);
    await stream.ended;
  });

  test('a stream continues after Last-Event-ID, on any node', async () => {
    const from = await lastNow();
    const first = await openStream(gateway, from);
    await fail();
    await first.until(1);
    first.close();
    await fail();
    await fail();
    const next = await openStream(second, 0, first.ids.at(-1));
    await next.until(2);
    await fail();
    await next.until(3);
    next.close();
    assert.deepEqual(
      [...first.ids, ...next.ids],
      [1, 2, 3, 4].map((more) => String(from + more)),
    );
    const { events } = await page({ after: String(from) });
    assert.deepEqual([...first.events, ...next.events], events);
  });

  test('invalid and unknown numbers are refused', async () => {
    const last = await lastNow();
    for (const [query, headers] of [
      [{ after: 'x' }, {}],
      [{ after: '-1' }, {}],
      [{ after: '1.5' }, {}],
      [{ after: '99999999999999999999' }, {}],
      [{ after: String(last + 1) }, {}],
      [{ wait: '61' }, {}],
      [{ limit: '0' }, {}],
      [{ limit: '1001' }, {}],
      [{}, { Accept: 'text/event-stream', 'Last-Event-ID': 'x' }],
      [{}, { Accept: 'text/event-stream', 'Last-Event-ID': String(last + 1) }],
      [{}, { Accept: 'text/event-stream', 'Last-Event-ID': '99999999999999999999' }],
    ] as const) {
      const answer = await gateway.api.get('/api/events', { query, headers });
      assert.equal(answer.status, 400, `${JSON.stringify([query, headers])}: ${answer.text}`);
      assert.equal(answer.headers['x-error-code'], 'bad_request');
    }
  });

  test('numbers that are no longer stored are 410, with the number to continue from', async () => {
    const last = await lastNow();
    await withSql(
      postgres.url,
      (sql) => sql`
      update event_feeds f set oldest_sequence = ${last - 1} where last_sequence = ${last}`,
    );
    const answer = await gateway.api.get('/api/events', { query: { after: '0' } });
    assert.deepEqual([answer.status, answer.headers['x-error-code']], [410, 'gone']);
    assert.match(String(answer.json['error']), new RegExp(`oldest is ${last - 1}.*after=${last - 2}`));
    assert.deepEqual(sequences(await page()), [last - 1, last]);
    assert.deepEqual(sequences(await page({ after: String(last - 2) })), [last - 1, last]);
    const streamed = { Accept: 'text/event-stream', 'Last-Event-ID': '0' };
    const stream = await gateway.api.send('/api/events', { method: 'GET', headers: streamed });
    assert.deepEqual([stream.status, stream.headers['x-error-code']], [410, 'gone']);
    // A stream reports the same, instead of continuing after the gap.
    const ftg = new FileTransferGateway({ baseUrl: gateway.url, apiKey: KEY });
    const followed = ftg.events({ after: 0, follow: true }).next();
    await assert.rejects(followed, (thrown) => thrown instanceof FtgError && thrown.code === 'gone');
  });

  test('a key for some connections, and another account, see only their own events', async () => {
    const one = gateway.client(ONE_KEY);
    const other = gateway.client(OTHER_KEY);
    const from = await lastNow();
    const theirs = await page({}, other);
    for (const id of ['one', 'two', 'one']) await fail(id);
    await fail('theirs', other);
    await eventually(async () => (await lastNow()) === from + 3, 'they are numbered');
    const seen = await page({ after: String(from) }, one);
    assert.deepEqual([sequences(seen), seen.nextAfter], [[from + 1, from + 3], from + 3]);
    const waited = page({ after: String(from + 3), wait: '30' }, one);
    await fail('two');
    await fail('one');
    assert.deepEqual(sequences(await waited), [from + 5]);
    await eventually(async () => (await page({}, other)).last === theirs.last + 1, 'theirs is numbered');
    const others = await page({ after: String(theirs.last) }, other);
    assert.deepEqual(
      others.events.map(({ data }) => data.transfer.connectionId),
      ['theirs'],
    );

    const mine = await subscribe({ url: urlOf('/mine'), events: ['transfer.failed'] });
    const ones = await subscribe({ url: urlOf('/ones'), events: ['transfer.failed'] }, one);
    const idsFor = async (api: ApiClient): Promise<string[]> =>
      ((await api.get('/api/webhooks')).json['webhooks'] as { id: string }[]).map(({ id }) => id);
    assert.deepEqual(await idsFor(gateway.api), [mine.id, ones.id]);
    assert.deepEqual(await idsFor(one), [ones.id]);
    assert.deepEqual(await idsFor(other), []);
    for (const [api, id] of [
      [one, mine.id],
      [other, ones.id],
      [other, 'x'],
    ] as const) {
      for (const request of [{ method: 'GET' }, { method: 'PATCH', json: { isActive: false } }, { method: 'DELETE' }]) {
        assert.equal((await api.send(`/api/webhooks/${id}`, request)).status, 404);
      }
      assert.equal((await api.post(`/api/webhooks/${id}/rotate-secret`, {})).status, 404);
    }
    const wide = { url: urlOf('/x'), events: ['transfer.failed'], connections: ['one', 'two'] };
    assert.equal((await one.post('/api/webhooks', wide)).status, 403);
    assert.equal((await one.send(`/api/webhooks/${ones.id}`, { method: 'PATCH', json: wide })).status, 403);
    assert.equal((await other.post('/api/webhooks', wide)).status, 404);
    await fail('two');
    await fail('one');
    await eventually(() => at('/mine').length === 2 && at('/ones').length === 1, 'both get the event');
    for (const { id } of [mine, ones]) await unsubscribe(id);
  });

  test('forbidden receivers are refused, and so are too many', async () => {
    const events = ['transfer.failed'];
    for (const [url, status] of [
      ['ftp://example.com/', 400],
      ['no url', 400],
      ['http://169.254.169.254/latest', 403],
      ['http://10.0.0.1/', 403],
      ['http://[::ffff:10.0.0.1]/', 403],
    ] as const) {
      const answer = await gateway.api.post('/api/webhooks', { url, events });
      assert.equal(answer.status, status, answer.text);
      if (status === 400) assert.match(answer.text, /\burl must be/);
    }
    const made = await Promise.all(Array.from({ length: 5 }, () => subscribe({ url: urlOf('/five'), events })));
    assert.equal((await gateway.api.post('/api/webhooks', { url: urlOf('/six'), events })).status, 429);
    const patch = { method: 'PATCH', json: { url: 'http://10.0.0.1/' } };
    assert.equal((await gateway.api.send(`/api/webhooks/${made[0]?.id}`, patch)).status, 403);
    await Promise.all(made.map(({ id }) => unsubscribe(id)));
  });

  test('the audit log has who made, changed and deleted a webhook, but not its URL', async () => {
    const { id, secret } = await subscribe({ url: urlOf('/secret-path'), events: ['transfer.failed'] });
    await gateway.api.send(`/api/webhooks/${id}`, { method: 'PATCH', json: { isActive: false } });
    const rotated = await gateway.api.post(`/api/webhooks/${id}/rotate-secret`, {});
    assert.notEqual(rotated.json['secret'], secret);
    await unsubscribe(id);
    const audit = await gateway.client(ADMIN_KEY).get('/manage/audit', { query: { action: 'webhook' } });
    const entries = audit.json['entries'] as { action: string; target: { id: string }; actor: { name: string } }[];
    assert.deepEqual(
      entries.filter(({ target }) => target.id === id).map(({ action, actor }) => [action, actor.name]),
      ['delete', 'rotate_secret', 'update', 'create'].map((change) => [`webhook.${change}`, 'test']),
    );
    assert.ok(!audit.text.includes('secret-path') && !audit.text.includes(secret));
  });

  test('a login in the URL is sent, and never shown', async () => {
    const url = `http://user:s%C3%A9cret@127.0.0.1:${receiver.port}/login`;
    const { id } = await subscribe({ url, events: ['transfer.failed'] });
    assert.ok(!(await gateway.api.get(`/api/webhooks/${id}`)).text.includes('cret'));
    await fail();
    await eventually(() => at('/login').length === 1, 'it is sent');
    const expected = `Basic ${Buffer.from('user:sécret').toString('base64')}`;
    assert.equal(at('/login')[0]?.headers.authorization, expected);
    await unsubscribe(id);
  });

  test('attempts, dead letters, replays and 410 are the same as for folders', async () => {
    const { id } = await subscribe({ url: urlOf('/bad'), events: ['transfer.failed'] });
    const admin = gateway.client(ADMIN_KEY);
    interface Delivery {
      readonly id: string;
      readonly eventId: string;
      readonly state: string;
      readonly webhookId: string;
    }
    const deliveries = async (): Promise<Delivery[]> =>
      ((await admin.get('/manage/deliveries')).json['deliveries'] as Delivery[]).filter((one) => one.webhookId === id);
    let status = 500;
    receiver.respond = ({ path }, response) => response.writeHead(path === '/bad' ? status : 204).end();
    await fail();
    await eventually(async () => (await deliveries())[0]?.state === 'dead', 'it is a dead letter');
    assert.equal(at('/bad').length, 3);
    assert.equal(new Set(at('/bad').map(({ headers }) => headers['webhook-id'])).size, 1);
    const [dead] = await deliveries();
    assert.equal(at('/bad')[0]?.headers['webhook-id'], dead?.eventId);
    status = 200;
    assert.equal((await admin.post(`/manage/deliveries/${dead?.id}/replay`, {})).status, 202);
    await eventually(async () => (await deliveries())[0]?.state === 'delivered', 'it is delivered');

    status = 410;
    await fail();
    const ended = async (): Promise<{ isActive: boolean; endedAt: string | null }> =>
      (await gateway.api.get(`/api/webhooks/${id}`)).json['webhook'] as { isActive: boolean; endedAt: string | null };
    await eventually(async () => (await ended()).endedAt !== null, 'it has ended');
    assert.equal((await ended()).isActive, false);
    const reported = at('/bad').length;
    await fail();
    status = 200;
    assert.equal(
      (await gateway.api.send(`/api/webhooks/${id}`, { method: 'PATCH', json: { isActive: true } })).status,
      200,
    );
    assert.equal((await ended()).endedAt, null);
    await fail();
    await eventually(() => at('/bad').length === reported + 1, 'it is sent again');
    await unsubscribe(id);
    await eventually(async () => (await admin.get('/manage/deliveries')).status === 200, 'deliveries are listed');
    receiver.respond = (_, response) => response.writeHead(204).end();
  });

  test('a webhook that is deleted while deliveries wait gets no more events and leaves nothing; the feed keeps its events', async () => {
    const from = await lastNow();
    const { id } = await subscribe({ url: urlOf('/waits'), events: ['transfer.failed'] });
    receiver.respond = (_, response) => response.writeHead(503, { 'Retry-After': '600' }).end();
    await fail();
    await fail('two');
    await eventually(() => at('/waits').length === 2, 'each was tried');
    const rows = (): Promise<{ state: string }[]> =>
      withSql(postgres.url, (sql) => sql<{ state: string }[]>`select state from deliveries where webhook_id = ${id}`);
    assert.deepEqual(
      (await rows()).map(({ state }) => state),
      ['pending', 'pending'],
    );
    await unsubscribe(id);
    receiver.respond = (_, response) => response.writeHead(204).end();
    assert.ok((await rows()).every(({ state }) => state === 'cancelled'));
    // An event that is being addressed to it is also dropped.
    await withSql(postgres.url, async (sql) => {
      await sql`update deliveries set state = 'pending', next_attempt_at = now() where webhook_id = ${id}`;
      await sql`update public_jobs.job set start_after = now() where name = 'webhook-delivery' and state < 'completed'`;
    });
    const jobs = (): Promise<number> =>
      withSql(
        postgres.url,
        async (sql) =>
          (
            await sql`
        select from public_jobs.job where name = 'webhook-delivery' and state < 'completed'`
          ).count,
      );
    await eventually(async () => (await jobs()) === 0, 'no delivery waits');
    assert.ok((await rows()).every(({ state }) => state === 'cancelled'));
    assert.equal(at('/waits').length, 2);
    assert.deepEqual(sequences(await page({ after: String(from) })), [from + 1, from + 2]);
  });

  test('previousId shows the events that a webhook did not subscribe to', async () => {
    const from = await lastNow();
    const { id } = await subscribe({ url: urlOf('/some'), events: ['transfer.failed'], connections: ['two'] });
    for (const one of ['two', 'one', 'one', 'two']) await fail(one);
    await eventually(() => at('/some').length === 2, 'it is sent');
    const [first, second] = at('/some')
      .map(({ text }) => JSON.parse(text) as FeedEvent)
      .sort((a, b) => a.sequence - b.sequence);
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual([first.sequence, second.sequence], [from + 1, from + 4]);
    assert.notEqual(second.previousId, first.id);
    const { events } = await page({ after: String(first.sequence) });
    const between = events.slice(0, events.findIndex((event) => event.id === second.previousId) + 1);
    assert.deepEqual(
      between.map(({ sequence, data }) => [sequence, data.transfer.connectionId]),
      [
        [from + 2, 'one'],
        [from + 3, 'one'],
      ],
    );
    await unsubscribe(id);
  });

  test('a receiver that hangs delays no other, not even of its own host', async () => {
    const hangs = await subscribe({ url: urlOf('/hangs'), events: ['transfer.failed'] });
    const works = await subscribe({ url: urlOf('/works'), events: ['transfer.failed'] });
    receiver.respond = ({ path }, response) => void (path === '/hangs' || response.writeHead(204).end());
    for (let count = 0; count < 20; count += 1) await fail();
    await eventually(() => at('/hangs').length >= 2, 'the one hangs');
    for (let count = 0; count < 20; count += 1) await fail();
    await eventually(() => at('/works').length === 40, 'the other gets all');
    receiver.respond = (_, response) => response.writeHead(204).end();
    for (const { id } of [hangs, works]) await unsubscribe(id);
  });

  test('a revoked key ends its stream, and its long poll returns no events', async () => {
    const admin = gateway.client(ADMIN_KEY);
    const made = await admin.post('/manage/api-keys', { name: 'short', scopes: ['read'] });
    assert.equal(made.status, 201, made.text);
    const { key, apiKey } = made.json as unknown as { key: string; apiKey: { id: string } };
    const stream = await openStream(gateway, await lastNow(), undefined, key);
    const waiting = gateway.client(key).get('/api/events', { query: { after: String(await lastNow()), wait: '30' } });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const revoked = await admin.send(`/manage/api-keys/${apiKey.id}`, { method: 'DELETE' });
    assert.ok(revoked.status < 300, revoked.text);
    await fail();
    assert.equal((await waiting).status, 401);
    await stream.ended;
    assert.deepEqual(stream.events, []);
  });

  interface OpenStream {
    readonly ids: string[];
    readonly events: FeedEvent[];
    readonly ended: Promise<void>;
    until(count: number): Promise<void>;
    close(): void;
  }

  async function openStream(node: TestGateway, after: number, lastEventId?: string, key = KEY): Promise<OpenStream> {
    const headers = {
      Authorization: `Bearer ${key}`,
      Accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
    };
    const request = http.get(`${node.url}/api/events?after=${after}`, { headers });
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.once('error', reject);
    });
    assert.equal(response.statusCode, 200);
    const [ids, events]: [string[], FeedEvent[]] = [[], []];
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        for (const line of text.slice(0, end).split('\n')) {
          if (line.startsWith('id: ')) ids.push(line.slice(4));
          if (line.startsWith('data: ')) events.push(JSON.parse(line.slice(6)) as FeedEvent);
        }
        text = text.slice(end + 2);
      }
    });
    const ended = new Promise<void>((resolve) => response.once('close', resolve));
    response.on('error', () => undefined);
    return {
      ids,
      events,
      ended,
      until: (count) => eventually(() => events.length >= count, `${count} events`),
      close: () => request.destroy(),
    };
  }
});
