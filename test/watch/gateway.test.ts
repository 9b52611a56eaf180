/** Endpoints 4.17 to 4.19 of a gateway as a user runs it. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { verifyWebhook } from '../../src/client/index.js';
import { makeCheckDue, withSql } from '../storage/databases.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { startReceiver, type Receiver } from './support/receiver.js';
import { eventually } from '../support/eventually.js';
import { startTogether } from '../support/together.js';

const LIMITED = 'ftg_key-for-another-connection-01';
const READER = 'ftg_key-that-may-only-read-012345';
const WATCHER = 'ftg_key-that-may-only-watch-01234';
const OTHER = 'ftg_key-of-another-account-012345';
const SMALL = 'ftg_key-of-a-small-plan-012345678';
const BOXED = 'ftg_key-for-the-sandbox-alone-012';
const WRITER = 'ftg_key-that-may-watch-and-write-1';

suite('watched folders through the API', () => {
  let dataDir: string;
  let postgres: PostgresServer;
  let gateway: TestGateway;
  let receiver: Receiver;

  before(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'ftg-watch-'));
    [postgres, receiver] = await startTogether([startPostgres(), startReceiver()]);
    const elsewhere = { id: 'elsewhere', name: 'Elsewhere', type: 'ftp', host: '127.0.0.1', port: 1, username: 'u' };
    gateway = await startGateway({
      dataDir,
      config: {
        database: { url: postgres.url },
        sandbox: true,
        network: { webhooks: { allow: ['127.0.0.1/32'] } },
        watcher: { settleMs: 200 },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            apiKeys: [
              { name: 'test', key: KEY },
              { name: 'limited', key: LIMITED, connections: ['elsewhere'] },
              { name: 'reader', key: READER, scopes: ['read'] },
              { name: 'watcher', key: WATCHER, scopes: ['watch'] },
              { name: 'boxed', key: BOXED },
              { name: 'writer', key: WRITER, scopes: ['watch', 'write'] },
            ],
            connections: [elsewhere],
          },
          {
            email: 'small@example.com',
            plan: 'free',
            apiKeys: [{ name: 'small', key: SMALL }],
            connections: [{ ...elsewhere, id: 'own' }],
          },
          { email: 'other@example.com', plan: 'pro', apiKeys: [{ name: 'other', key: OTHER }], connections: [] },
        ],
      },
    });
    // The sandbox is not in the configuration, so a key cannot be limited to it.
    await withSql(postgres.url, (sql) => sql`update api_keys set connection_ids = '{sandbox}' where name = 'boxed'`);
  });
  after(async () => {
    await gateway.stop();
    await receiver.close();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const place = (name: string): string => {
    const folder = join(dataDir, 'sandbox', name);
    mkdirSync(folder, { recursive: true });
    return folder;
  };
  const create = (body: object, key = KEY) => gateway.api.post('/api/watched-folders', body, { key });

  test('a folder is created, shown, reports new files, and is deleted', async () => {
    const files = place('in/box');
    writeFileSync(join(files, 'old.txt'), 'before');
    const created = await create({ connectionId: 'sandbox', path: 'in/box', webhookUrl: receiver.url });
    assert.equal(created.status, 201, created.text);
    const { webhookSecret, ...shown } = created.json as { webhookSecret: string; id: string; createdAt: string };
    assert.match(webhookSecret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const { id, createdAt, ...rest } = shown;
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.deepEqual(rest, {
      connectionId: 'sandbox',
      name: 'box',
      path: '/in/box',
      filePattern: null,
      scheduleMinutes: 5,
      webhookUrl: receiver.url,
      source: 'api',
      detectModified: false,
      isActive: true,
    });
    const listed = await gateway.api.get('/api/watched-folders');
    assert.deepEqual(listed.json, { watchedFolders: [shown] }, 'the secret is shown once');

    await eventually(
      async () =>
        withSql(postgres.url, async (sql) => {
          return (await sql`select from watched_folders where id = ${id} and baseline_at is not null`).count === 1;
        }),
      'the baseline',
    );
    writeFileSync(join(files, 'new.txt'), 'after');
    // The check runs at once instead of in five minutes.
    await withSql(postgres.url, (sql) => makeCheckDue(sql, id));
    await eventually(() => receiver.received.length === 1, 'the webhook');
    assert.deepEqual(receiver.names(), ['new.txt']);
    const { headers, text } = receiver.received[0] ?? { headers: {}, text: '' };
    await verifyWebhook(webhookSecret, headers, text);
    const history = await gateway.api.get('/api/transfers', { query: { type: 'poll' } });
    const [item] = history.json['transfers'] as Record<string, unknown>[];
    assert.equal(item?.['path'], '/in/box/new.txt');
    assert.equal(item['status'], 'success');
    const metrics = await gateway.api.get('/metrics');
    assert.match(metrics.text, /^ftg_watch_detections_total 1$/m);
    // The delivery is recorded after the receiver's answer, and the gauge is read every two seconds.
    await eventually(
      async () => /^ftg_webhook_events_pending 0$/m.test((await gateway.api.get('/metrics')).text),
      'no event is pending',
    );

    const removed = await gateway.api.send(`/api/watched-folders/${id}`, { method: 'DELETE' });
    assert.deepEqual([removed.status, removed.json], [200, { success: true }]);
    const again = await gateway.api.send(`/api/watched-folders/${id}`, { method: 'DELETE' });
    assert.deepEqual([again.status, again.headers['x-error-code']], [404, 'unknown_watched_folder']);
  });

  test('options beyond the interface are accepted and shown', async () => {
    place('more');
    const options = {
      excludePattern: 'x*',
      doneFile: '{filename}.ok',
      initial: 'report',
      recursive: true,
      minAgeSeconds: 60,
      afterDelivery: 'move',
      moveTo: 'done',
      expectEveryMinutes: 90,
    };
    const body = { connectionId: 'sandbox', path: '/more', filePattern: '*.csv', scheduleMinutes: 1440, ...options };
    const created = await create({ ...body, name: 'More', webhookUrl: receiver.url, detectModified: true });
    assert.equal(created.status, 201, created.text);
    const shown = created.json;
    for (const [name, value] of Object.entries({
      ...options,
      moveTo: '/more/done',
      name: 'More',
      scheduleMinutes: 1440,
    })) {
      assert.equal(shown[name], value, name);
    }
    await gateway.api.send(`/api/watched-folders/${shown['id'] as string}`, { method: 'DELETE' });
  });

  const refusals: readonly [string, object, number, string][] = [
    ['no path', { connectionId: 'sandbox' }, 400, 'bad_request'],
    ['no connection', { path: '/' }, 400, 'bad_request'],
    ['an unknown connection', { connectionId: 'nowhere', path: '/' }, 404, 'unknown_connection'],
    ['a path that is not there', { connectionId: 'sandbox', path: '/absent' }, 404, 'not_found'],
    ['a path out of the root', { connectionId: 'sandbox', path: '/../x' }, 400, 'bad_path'],
    ['an interval of 0', { connectionId: 'sandbox', path: '/', scheduleMinutes: 0 }, 400, 'bad_request'],
    ['an interval over a day', { connectionId: 'sandbox', path: '/', scheduleMinutes: 1441 }, 400, 'bad_request'],
    ['half a minute', { connectionId: 'sandbox', path: '/', scheduleMinutes: 1.5 }, 400, 'bad_request'],
    ['a glob that is none', { connectionId: 'sandbox', path: '/', filePattern: '*.{a' }, 400, 'bad_request'],
    ['a webhook that is no URL', { connectionId: 'sandbox', path: '/', webhookUrl: 'x' }, 400, 'bad_request'],
    [
      'a login that is no text',
      { connectionId: 'sandbox', path: '/', webhookUrl: 'http://%ZZ@host/' },
      400,
      'bad_request',
    ],
    ['a webhook inside', { connectionId: 'sandbox', path: '/', webhookUrl: 'http://10.1.1.1/' }, 403, 'address_denied'],
    ['a text for a flag', { connectionId: 'sandbox', path: '/', detectModified: 'yes' }, 400, 'bad_request'],
  ];
  for (const [what, body, status, code] of refusals) {
    test(`${what} is refused with ${status}`, async () => {
      const answer = await create(body);
      assert.deepEqual([answer.status, answer.headers['x-error-code']], [status, code], answer.text);
      assert.deepEqual(Object.keys(answer.json), ['error']);
    });
  }

  // Former defect: through a watched folder, such a key deleted files that /api/delete refused to delete.
  for (const afterDelivery of ['move', 'delete']) {
    test(`a key that may not write has no files ${afterDelivery}d`, async () => {
      place('guarded');
      const body = { connectionId: 'sandbox', path: '/guarded', webhookUrl: receiver.url, afterDelivery };
      const answer = await create(body, WATCHER);
      assert.deepEqual([answer.status, answer.headers['x-error-code']], [403, 'scope_missing'], answer.text);
      assert.match(answer.text, /"write\\"/);
      const kept = await create({ ...body, afterDelivery: 'keep' }, WATCHER);
      assert.equal(kept.status, 201, kept.text);
      await gateway.api.send(`/api/watched-folders/${kept.json['id'] as string}`, { method: 'DELETE' });
    });
  }

  test('every field but the connection can be changed; absent fields keep their values', async () => {
    place('edit');
    place('edited');
    const body = { connectionId: 'sandbox', path: '/edit', webhookUrl: receiver.url, filePattern: '*.csv' };
    const created = await create({ ...body, afterDelivery: 'move' });
    const at = `/api/watched-folders/${created.json['id'] as string}`;
    const patch = (json: object, key = KEY) => gateway.api.send(at, { method: 'PATCH', json, key });
    const { webhookSecret: _secret, ...before } = created.json;
    assert.deepEqual((await patch({})).json, before);
    const moved = await patch({ path: 'edited' });
    assert.deepEqual(moved.json, { ...before, path: '/edited', moveTo: '/edited/processed' }, moved.text);
    const changes = {
      name: 'Changed',
      filePattern: null,
      scheduleMinutes: 60,
      webhookUrl: `${receiver.url}/2`,
      recursive: true,
      detectModified: true,
      excludePattern: 'x*',
      doneFile: '{filename}.ok',
      initial: 'report',
      isActive: false,
      minAgeSeconds: 5,
      afterDelivery: 'delete',
      expectEveryMinutes: 90,
    };
    const changed = await patch({ ...changes, connectionId: 'elsewhere' });
    assert.deepEqual(changed.json, { ...before, path: '/edited', ...changes, moveTo: null }, changed.text);
    assert.equal(changed.headers['x-ignored-fields'], 'connectionId');

    for (const [json, status, code] of [
      [{ path: '/absent' }, 404, 'not_found'],
      [{ scheduleMinutes: 0 }, 400, 'bad_request'],
      [{ webhookUrl: null }, 400, 'bad_request'],
      [{ webhookUrl: 'http://10.1.1.1/' }, 403, 'address_denied'],
      [{ afterDelivery: 'move', moveTo: '/edited' }, 400, 'bad_request'],
    ] as const) {
      const refused = await patch(json);
      assert.deepEqual([refused.status, refused.headers['x-error-code']], [status, code], refused.text);
    }
    for (const json of [{ name: 'x' }, { path: '/edit' }, { afterDelivery: 'move' }]) {
      assert.equal((await patch(json, WATCHER)).headers['x-error-code'], 'scope_missing', JSON.stringify(json));
    }
    assert.equal((await patch({ afterDelivery: 'keep' }, WATCHER)).status, 200);
    for (const key of [LIMITED, OTHER]) assert.equal((await patch({ name: 'x' }, key)).status, 404);
    assert.equal((await patch({ name: 'x' }, READER)).status, 403);
    await gateway.api.send(at, { method: 'DELETE' });
  });

  suite('copyTo', () => {
    const copyTo = { connectionId: 'elsewhere', path: '/copies', filename_template: '{date}-{filename}' };
    const body = { connectionId: 'sandbox', path: '/routed', copyTo };

    test('is accepted, shown, changed and removed', async () => {
      place('routed');
      const created = await create({ ...body, afterDelivery: 'delete' });
      assert.equal(created.status, 201, created.text);
      assert.deepEqual(created.json['copyTo'], { ...copyTo, onConflict: 'replace' });
      const at = `/api/watched-folders/${created.json['id'] as string}`;
      const patch = (json: object) => gateway.api.send(at, { method: 'PATCH', json });
      assert.deepEqual((await patch({ name: 'x' })).json['copyTo'], { ...copyTo, onConflict: 'replace' });
      const other = { connectionId: 'elsewhere', path: '/others', onConflict: 'rename' };
      assert.deepEqual((await patch({ copyTo: other })).json['copyTo'], other);
      const needed = await patch({ copyTo: null });
      assert.deepEqual([needed.status, needed.headers['x-error-code']], [400, 'bad_request'], needed.text);
      const gone = await patch({ copyTo: null, afterDelivery: 'keep' });
      assert.deepEqual([gone.status, 'copyTo' in gone.json], [200, false], gone.text);
      await gateway.api.send(at, { method: 'DELETE' });
    });

    const wrong: readonly [string, object, number, string][] = [
      ['no path', { connectionId: 'elsewhere' }, 400, 'bad_request'],
      ['no connection', { path: '/x' }, 400, 'bad_request'],
      ['an unknown connection', { ...copyTo, connectionId: 'nowhere' }, 404, 'unknown_connection'],
      ["another account's connection", { ...copyTo, connectionId: 'own' }, 404, 'unknown_connection'],
      ['an unknown rule', { ...copyTo, onConflict: 'ask' }, 400, 'bad_request'],
      ['an unknown token', { ...copyTo, filename_template: '{nope}' }, 400, 'bad_request'],
      ['a template with a folder', { ...copyTo, filename_template: 'a/{name}' }, 400, 'bad_path'],
      ['a path out of the root', { ...copyTo, path: '/../x' }, 400, 'bad_path'],
      ['control characters', { ...copyTo, path: '/a\r\nb' }, 400, 'bad_request'],
      ['the folder itself', { connectionId: 'sandbox', path: '/routed/' }, 400, 'bad_request'],
      ['a folder below', { connectionId: 'sandbox', path: 'routed/x' }, 400, 'bad_request'],
    ];
    for (const [what, value, status, code] of wrong) {
      test(`${what} is refused with ${status}`, async () => {
        place('routed');
        const answer = await create({ ...body, copyTo: value });
        assert.deepEqual([answer.status, answer.headers['x-error-code']], [status, code], answer.text);
      });
    }

    test('an unknown field is named', async () => {
      const answer = await gateway.api.send('/api/watched-folders', {
        method: 'POST',
        headers: { prefer: 'handling=strict' },
        json: { ...body, copyTo: { ...copyTo, onConflicts: 'skip' } },
      });
      assert.equal(answer.status, 400);
      assert.match(answer.text, /copyTo\.onConflicts.*onConflict/);
    });

    test('keys may copy only files that they may read, to places that they may write', async () => {
      place('routed');
      for (const key of [WATCHER, WRITER]) {
        const refused = await create(body, key);
        assert.deepEqual([refused.status, refused.headers['x-error-code']], [403, 'scope_missing'], refused.text);
      }
      const outside = await create(body, BOXED);
      assert.deepEqual([outside.status, outside.headers['x-error-code']], [403, 'forbidden'], outside.text);
      const small = await create({ ...body, connectionId: 'own', copyTo: { ...copyTo, connectionId: 'own' } }, SMALL);
      assert.deepEqual([small.status, small.headers['x-error-code']], [403, 'plan_required'], small.text);

      const plain = await create({ connectionId: 'sandbox', path: '/routed' }, BOXED);
      const at = `/api/watched-folders/${plain.json['id'] as string}`;
      const patch = (json: object, key: string) => gateway.api.send(at, { method: 'PATCH', json, key });
      assert.equal((await patch({ copyTo }, BOXED)).headers['x-error-code'], 'forbidden');
      assert.equal((await patch({ copyTo }, WRITER)).headers['x-error-code'], 'scope_missing');
      assert.equal((await patch({ copyTo }, KEY)).status, 200);
      // With a change of the watched files, others would be copied.
      assert.equal((await patch({ path: '/in' }, BOXED)).status, 404);
      assert.equal((await patch({ filePattern: '*' }, WRITER)).headers['x-error-code'], 'scope_missing');
      const seen = (await gateway.api.get('/api/watched-folders', { key: BOXED })).json['watchedFolders'];
      assert.ok(!JSON.stringify(seen).includes('/copies'));
      assert.equal((await gateway.api.send(at, { method: 'DELETE' })).status, 200);
    });
  });

  const CONTROLS = ['a\r\nb', 'a\u001b[31mb', 'a\u0000b', 'a\u0085b'];
  for (const field of ['name', 'filePattern', 'excludePattern', 'doneFile', 'moveTo', 'webhookUrl', 'path']) {
    test(`a ${field} with control characters is refused`, async () => {
      for (const text of CONTROLS) {
        const value = field === 'webhookUrl' ? `${receiver.url}/${text}` : text;
        const answer = await create({ connectionId: 'sandbox', path: '/', [field]: value });
        assert.equal(answer.status, 400, `${JSON.stringify(value)} ${answer.text}`);
      }
    });
  }

  test('keys see and change only what is theirs', async () => {
    place('mine');
    const created = await create({ connectionId: 'sandbox', path: '/mine' });
    const id = created.json['id'] as string;
    assert.equal((await create({ connectionId: 'sandbox', path: '/mine' }, LIMITED)).status, 403);
    assert.equal((await create({ connectionId: 'sandbox', path: '/mine' }, READER)).status, 403);
    assert.equal((await create({ connectionId: 'sandbox', path: '/mine' }, OTHER)).status, 404);
    assert.equal((await gateway.api.get('/api/watched-folders', { key: READER })).status, 403);
    for (const key of [LIMITED, OTHER]) {
      assert.deepEqual((await gateway.api.get('/api/watched-folders', { key })).json, { watchedFolders: [] });
      const removed = await gateway.api.send(`/api/watched-folders/${id}`, { method: 'DELETE', key });
      assert.equal(removed.status, 404);
    }
    assert.equal((await gateway.api.send(`/api/watched-folders/${id}`, { method: 'DELETE' })).status, 200);
    assert.equal((await gateway.api.send('/api/watched-folders/x', { method: 'DELETE' })).status, 404);
  });
});
