/** Deliveries of events: signed, retried by the table of pauses, and kept until they arrive or are given up. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, suite, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { FolderSettings } from '../../src/watch/settings.js';
import type { PostgresServer } from '../servers/postgres.js';
import { withSql } from '../storage/databases.js';
import type { Bench } from '../watch/support/bench.js';
import type { Received, Receiver } from '../watch/support/receiver.js';
import { WatchRig } from '../watch/support/rig.js';
import type { WatchedFolder } from '../../src/contract/watched-folder.js';

/** Short, since one test waits for it; the receivers are in this process, which must not look silent when busy. */
const TIMEOUT_MS = 5_000;

suite('webhooks', () => {
  let rig: WatchRig;
  let postgres: PostgresServer;
  let receiver: Receiver;
  let bench: Bench;

  before(async () => {
    rig = await WatchRig.open({
      watcher: { settleMs: 0 },
      webhooks: { retryMs: [40, 40], filesPerEvent: 3, bytesPerEvent: 2000, timeoutMs: TIMEOUT_MS },
      network: { webhooks: { allow: ['127.0.0.1/32'] } },
    });
    ({ postgres, receiver, bench } = rig);
  });
  after(() => rig.close());
  afterEach(() => {
    receiver.respond = (_, response) => response.writeHead(204).end();
    receiver.received.length = 0;
  });

  const watched = (input: FolderSettings = {}) => rig.watched({ webhookUrl: receiver.url, ...input });
  const eventsOf = (folder: WatchedFolder) => rig.eventsOf(folder);

  async function eventWith(folder: WatchedFolder, state: string): Promise<string> {
    let id: string | undefined;
    await bench.until(async () => {
      id = (await eventsOf(folder)).find((event) => event.state === state)?.id;
      return id !== undefined;
    }, `an event that is ${state}`);
    return id ?? '';
  }

  const headersOf = (received: Received | undefined): Record<string, string> =>
    (received?.headers ?? {}) as Record<string, string>;

  test('an event has a Standard Webhooks signature, its id, and its body', async () => {
    const { folder, put } = await watched();
    put('a.txt');
    await bench.check(folder);
    const id = await eventWith(folder, 'delivered');
    const [received] = receiver.received;
    const secret = await bench.service.secret(bench.accountId, folder.id);
    assert.match(secret, /^whsec_/);
    new Webhook(secret).verify(received?.text ?? '', headersOf(received));
    assert.throws(() => new Webhook(secret).verify(`${received?.text} `, headersOf(received)));
    assert.equal(received?.headers['webhook-id'], id);
    assert.equal(received?.headers['content-type'], 'application/json');
    assert.match(String(received?.headers['user-agent']), /^file-transfer-gateway/);
    const [file] = received?.body.data.files ?? [];
    assert.deepEqual(received?.body, {
      sequence: 1,
      id,
      previousId: null,
      type: 'watched_folder.files_detected',
      timestamp: received?.body.timestamp,
      data: {
        watchedFolder: { id: folder.id, name: folder.name, path: folder.path, connectionId: 'ssh' },
        connection: { id: 'ssh', name: 'SSH', type: 'sftp' },
        files: [
          {
            name: 'a.txt',
            path: `${folder.path}/a.txt`,
            size: 5,
            isDirectory: false,
            modifiedAt: file?.modifiedAt,
            event: 'new',
          },
        ],
      },
    });
  });

  test('a new secret and the one before both sign for a day', async () => {
    const { folder, put } = await watched();
    const former = await bench.service.secret(bench.accountId, folder.id);
    const current = await bench.service.rotateSecret(bench.accountId, folder.id);
    assert.notEqual(current, former);
    assert.equal(await bench.service.secret(bench.accountId, folder.id), current);
    put('a.txt');
    await bench.check(folder);
    await eventWith(folder, 'delivered');
    const [received] = receiver.received;
    for (const secret of [former, current]) new Webhook(secret).verify(received?.text ?? '', headersOf(received));
    await withSql(
      postgres.url,
      (sql) => sql`update watched_folder_secrets set expires_at = now() where expires_at > now()`,
    );
    put('b.txt');
    await bench.check(folder);
    await bench.until(() => receiver.received.length === 2, 'the second event');
    const second = receiver.received[1];
    new Webhook(current).verify(second?.text ?? '', headersOf(second));
    assert.throws(() => new Webhook(former).verify(second?.text ?? '', headersOf(second)));
  });

  test('a failed attempt is repeated under the same id with the same bytes; each attempt is stored', async () => {
    const { folder, put } = await watched();
    receiver.respond = (_, response) => {
      if (receiver.received.length < 3) response.writeHead(500).end('not now '.repeat(2000));
      else response.writeHead(200).end('thanks');
    };
    put('a.txt');
    await bench.check(folder);
    const id = await eventWith(folder, 'delivered');
    const { received } = receiver;
    assert.deepEqual(new Set(received.map(({ headers }) => headers['webhook-id'])), new Set([id]));
    assert.equal(new Set(received.map(({ text }) => text)).size, 1);
    const attempts = await bench.events.deliveries.attempts(bench.accountId, id);
    assert.deepEqual(
      attempts.map(({ status }) => status),
      [500, 500, 200],
    );
    assert.equal(attempts[0]?.answer?.length, 4096);
    assert.equal(attempts[2]?.answer, 'thanks');
    assert.ok(attempts.every(({ durationMs }) => durationMs >= 0));
  });

  test('an event without attempts left stays as a dead letter, which can be sent again under its id', async () => {
    const { folder, put } = await watched();
    receiver.respond = (_, response) => response.writeHead(503).end();
    put('a.txt');
    await bench.check(folder);
    const id = await eventWith(folder, 'dead');
    assert.equal(receiver.received.length, 3);
    receiver.respond = (_, response) => response.writeHead(200).end();
    assert.deepEqual(await bench.events.deliveries.replay(bench.accountId, id), { queued: true });
    assert.equal(await eventWith(folder, 'delivered'), id);
    assert.equal(receiver.received.at(-1)?.headers['webhook-id'], id);
    assert.equal((await bench.events.deliveries.attempts(bench.accountId, id)).length, 4);
  });

  test('Retry-After delays the next attempt', async () => {
    const { folder, put } = await watched();
    receiver.respond = (_, response) => {
      if (receiver.received.length === 1) response.writeHead(429, { 'retry-after': '1' }).end();
      else response.writeHead(200).end();
    };
    put('a.txt');
    await bench.check(folder);
    const attempts = await bench.events.deliveries.attempts(bench.accountId, await eventWith(folder, 'delivered'));
    // By the database's clock: a busy process records the arrival of a request late.
    const [first, second] = attempts.map(({ startedAt }) => startedAt.getTime());
    assert.ok((second ?? 0) - (first ?? 0) >= 1000);
  });

  test('410 ends the deliveries of the folder, and its files are still in the history', async () => {
    const { folder, put } = await watched();
    receiver.respond = (_, response) => response.writeHead(410).end();
    put('a.txt');
    await bench.check(folder);
    await eventWith(folder, 'cancelled');
    assert.notEqual((await bench.service.get(bench.accountId, folder.id)).deliveriesEndedAt, null);
    put('b.txt');
    await bench.check(folder);
    assert.equal((await eventsOf(folder)).length, 1);
    assert.equal(receiver.received.length, 1);
    const { transfers } = await bench.storage.history.list(bench.accountId, { type: 'poll', limit: 100, offset: 0 });
    assert.ok(transfers.some(({ path }) => path === `${folder.path}/b.txt`));
  });

  test('a redirect is not followed: it is a failed attempt', async () => {
    const { folder, put } = await watched();
    receiver.respond = ({ path }, response) => {
      if (path === '/hook') response.writeHead(302, { location: '/elsewhere' }).end();
      else response.writeHead(200).end();
    };
    put('a.txt');
    await bench.check(folder);
    const id = await eventWith(folder, 'dead');
    assert.deepEqual(new Set(receiver.received.map(({ path }) => path)), new Set(['/hook']));
    assert.equal((await bench.events.deliveries.attempts(bench.accountId, id))[0]?.status, 302);
  });

  test('many files are sent in several events within both limits, each file in one of them', async () => {
    const { folder, put } = await watched();
    const names = Array.from({ length: 10 }, (_, index) => `file-${index}.txt`);
    for (const name of names) put(name);
    await bench.check(folder);
    await bench.until(() => receiver.received.length === 4, 'four events');
    for (const { body, text } of receiver.received) {
      assert.ok(body.data.files.length <= 3);
      assert.ok(Buffer.byteLength(text) <= 2000);
    }
    assert.deepEqual(receiver.names().sort(), names);
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 4);
  });

  test('a receiver that never answers delays no other one', async () => {
    const silent = http.createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const { folder: stuck, put: putStuck } = await watched({ webhookUrl: `http://127.0.0.1:${port}/` });
    const { folder, put } = await watched();
    // Four of these events are sent at once; each attempt takes its whole time.
    for (let index = 0; index < 60; index++) putStuck(`s${index}`);
    await bench.check(stuck);
    put('quick.txt');
    await bench.check(folder);
    await eventWith(folder, 'delivered');
    assert.ok(
      (await eventsOf(stuck)).some(({ state, attempts }) => state === 'pending' && attempts === 0),
      'before each event of the silent receiver has had its first try',
    );
    await bench.until(async () => (await eventsOf(stuck)).some(({ attempts }) => attempts > 0), 'a timed-out try');
    const tried = (await eventsOf(stuck)).find(({ attempts }) => attempts > 0);
    const [attempt] = await bench.events.deliveries.attempts(bench.accountId, tried?.id ?? '');
    assert.equal(attempt?.errorCode, 'stall_timeout');
    await bench.service.remove(bench.accountId, stuck.id);
    silent.closeAllConnections();
    silent.close();
  });

  test('deleting a folder cancels its undelivered events', async () => {
    const { folder, put } = await watched();
    receiver.respond = (_, response) => response.writeHead(500, { 'retry-after': '60' }).end();
    put('a.txt');
    await bench.check(folder);
    await bench.until(() => receiver.received.length === 1, 'the first try');
    await bench.service.remove(bench.accountId, folder.id);
    await bench.until(
      async () =>
        (await withSql(postgres.url, (sql) => sql`select from watched_folders where id = ${folder.id}`)).count === 0,
      'the rows to go',
    );
    assert.equal(receiver.received.length, 1);
    await assert.rejects(bench.service.get(bench.accountId, folder.id), { code: 'unknown_watched_folder' });
  });

  test('a detection starts the first attempt, which does not wait for the next poll of the agenda', async () => {
    const { put, folder } = await watched();
    const tries = bench.attempts.length;
    const rounds = 25;
    let polls = 0;
    let unaided = 0;
    const stop = bench.storage.agenda.onClock(() => (polls += 1));
    for (let round = 1; round <= rounds; round += 1) {
      const before = polls;
      put(`round-${round}`);
      await bench.check(folder);
      await bench.until(() => bench.attempts.length === tries + round, `the try of round ${round}`);
      if (polls === before) unaided += 1;
    }
    stop();
    // Some polls fall into a round by chance.
    assert.ok(unaided > rounds / 2, `${unaided} of ${rounds}, with ${polls} polls`);
  });

  test('a test event has its own type', async () => {
    const { folder } = await watched();
    const { eventId } = await bench.service.sendTest(bench.accountId, folder.id);
    assert.equal(await eventWith(folder, 'delivered'), eventId);
    assert.equal(receiver.received[0]?.body.type, 'watched_folder.test');
  });

  test('an event without a task is found and sent', async () => {
    const { folder } = await watched();
    await withSql(postgres.url, async (sql) => {
      await sql`
        insert into deliveries (id, folder_id, account_id, type, body, file_count, state, next_attempt_at, created_at)
        values (gen_random_uuid(), ${folder.id}, ${bench.accountId}, 'watched_folder.test', '{"data":{"files":[]}}', 0,
          'pending', now() - interval '2 minutes', now())`;
    });
    // The number of recovered events is random: the gateway also recovers them itself.
    await bench.storage.events.outgoing.recoverForgotten();
    await eventWith(folder, 'delivered');
  });

  test('events that ended a month ago are deleted, except dead letters', async () => {
    const { folder } = await watched();
    const old = '01890000-0000-7000-8000-0000000000';
    await withSql(postgres.url, async (sql) => {
      for (const [index, state] of ['delivered', 'cancelled', 'dead'].entries()) {
        await sql`
          insert into deliveries (id, folder_id, account_id, type, body, file_count, state, created_at)
          values (${`${old}0${index}`}, ${folder.id}, ${bench.accountId}, 'watched_folder.test', '{}', 0, ${state}, now())`;
      }
    });
    // The number of deleted events is random: the gateway also deletes them itself.
    await bench.storage.events.outgoing.purge();
    assert.deepEqual(
      (await eventsOf(folder)).map(({ state }) => state),
      ['dead'],
    );
  });

  test('an account keeps the newest ended deliveries, and all pending ones', async () => {
    const { folder } = await watched();
    const states = ['delivered', 'pending', 'dead', 'cancelled', 'delivered', 'dead', 'pending', 'cancelled'];
    await withSql(postgres.url, async (sql) => {
      await sql`delete from deliveries where account_id = ${bench.accountId}`;
      for (const [index, state] of states.entries()) {
        await sql`
          insert into deliveries (id, folder_id, account_id, type, body, file_count, state, next_attempt_at, created_at)
          values (${`01990000-0000-7000-8000-00000000000${index}`}, ${folder.id}, ${bench.accountId},
            'watched_folder.test', '{}', 0, ${state}, now() + interval '1 hour', now())`;
      }
    });
    while (await bench.storage.events.outgoing.purgeSurplus(3));
    assert.deepEqual((await eventsOf(folder)).map(({ state }) => state).reverse(), ['pending', ...states.slice(-3)]);
  });

  // Former defect: it was stored unencrypted, and every answer showed it.
  test('a login in the URL is sent, sealed, and never shown', async () => {
    const withLogin = (url: string): string => url.replace('//', '//user:p%40ss@');
    const expected = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    const { folder } = await watched({ webhookUrl: withLogin(receiver.url) });
    const sent = async (): Promise<string | undefined> => {
      receiver.received.length = 0;
      await bench.service.sendTest(bench.accountId, folder.id);
      await bench.until(() => receiver.received.length === 1, 'the event');
      return headersOf(receiver.received[0])['authorization'];
    };
    const edit = (webhookUrl: string): Promise<WatchedFolder> =>
      bench.service.edit(
        bench.accountId,
        folder.id,
        { webhookUrl },
        { rights: 'watch', signal: new AbortController().signal },
      );
    const stored = () =>
      withSql(postgres.url, async (sql) => {
        const [row] = await sql<{ url: string; all: string }[]>`
          select webhook_url as url, row_to_json(f)::text as all from watched_folders f where id = ${folder.id}`;
        return row;
      });
    assert.equal(folder.webhookUrl, receiver.url);
    assert.doesNotMatch((await stored())?.all ?? '', /p%40ss|p@ss/);
    assert.equal(await sent(), expected);
    assert.equal((await edit(receiver.url)).webhookUrl, receiver.url);
    assert.equal(await sent(), expected, 'the same URL again keeps it');
    await bench.service.rotateSecret(bench.accountId, folder.id);
    assert.equal(await sent(), expected, 'another signing secret has nothing to do with it');
    await edit(`${receiver.url}?other`);
    assert.equal(await sent(), undefined, 'another URL has none');

    // The URL as version 1.0 stored it.
    await withSql(
      postgres.url,
      (sql) => sql`update watched_folders set webhook_url = ${withLogin(receiver.url)} where id = ${folder.id}`,
    );
    await bench.storage.watching.folders.sealLogins(bench.storage.watching.secrets);
    assert.equal((await stored())?.url, receiver.url);
    assert.equal(await sent(), expected);
  });

  suite('targets that the network rules deny', () => {
    const connection = () => bench.connection('ssh');
    const create = async (webhookUrl: string): Promise<WatchedFolder> =>
      (
        await bench.service.create(
          await connection(),
          async () => '/' as never,
          { webhookUrl },
          {
            source: 'test',
            rights: 'watch',
            signal: new AbortController().signal,
          },
        )
      ).folder;

    for (const url of [
      'http://127.0.0.2/hook',
      'http://localhost.localdomain.invalid@127.0.0.3/',
      'http://10.0.0.1/',
      'http://169.254.169.254/latest/meta-data',
      'http://[::1]/',
      'http://[::ffff:10.0.0.1]/',
      'http://0x7f000002/',
    ]) {
      test(`${url} is refused when the folder is made`, async () => {
        await assert.rejects(create(url), { code: 'address_denied' });
      });
    }

    for (const url of ['ftp://example.com/', 'file:///etc/passwd', 'nonsense', 'http://', 'http://%ZZ@example.com/']) {
      test(`${url} is no webhook URL`, async () => {
        await assert.rejects(create(url), { code: 'bad_request', message: /webhookUrl/ });
      });
    }

    test('a target whose address is denied later gets no request', async () => {
      let reached = false;
      const inside = http.createServer(() => (reached = true)).listen(0, '127.0.0.2');
      await once(inside, 'listening');
      const { port } = inside.address() as AddressInfo;
      const { folder, put } = await watched();
      await withSql(
        postgres.url,
        (sql) => sql`update watched_folders set webhook_url = ${`http://127.0.0.2:${port}/`} where id = ${folder.id}`,
      );
      put('a.txt');
      await bench.check(folder);
      const id = await eventWith(folder, 'dead');
      const attempts = await bench.events.deliveries.attempts(bench.accountId, id);
      assert.deepEqual(
        attempts.map(({ errorCode, status }) => [errorCode, status]),
        Array.from({ length: 3 }, () => ['address_denied', null]),
      );
      assert.equal(reached, false);
      inside.close();
    });
  });
});
