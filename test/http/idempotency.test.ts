/** Idempotency-Key over the real server: the same key and request give the first answer again. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test, type TestContext } from 'node:test';
import { GatewayError, type ErrorCode } from '../../src/errors.js';
import { json } from '../../src/http/answer.js';
import type { Route } from '../../src/http/types.js';
import { startRouted, type Answered, type Routed } from './support/routed.js';
import { until } from './support/until.js';

interface Rig extends Routed {
  /** What the handler does next; then it succeeds again. */
  readonly fail: (code: ErrorCode) => void;
  readonly runs: () => number;
  /** Holds the handlers until it is called. */
  readonly hold: () => () => void;
  readonly post: (
    key: string,
    options?: { path?: string; body?: string; headers?: Record<string, string> },
  ) => Promise<Answered>;
}

async function start(t: TestContext): Promise<Rig> {
  let runs = 0;
  const failures: ErrorCode[] = [];
  const gate = { open: Promise.resolve() };
  const row = (path: string, body: 'json' | 'stream'): Route => ({
    method: 'POST',
    path,
    access: 'write',
    body,
    idempotent: true,
    handle: async ({ request }) => {
      runs++;
      if (body === 'stream') {
        request.body.resume();
        if (!request.body.readableEnded) await once(request.body, 'end');
      }
      await gate.open;
      const code = failures.shift();
      if (code !== undefined) throw new GatewayError(code, 'this time not');
      return json(200, { run: runs }, { 'X-Kept': 'yes' });
    },
  });
  const routed = await startRouted(t, [row('/json', 'json'), row('/upload/:name', 'stream')]);
  return {
    ...routed,
    runs: () => runs,
    fail: (code) => failures.push(code),
    hold: () => {
      let release: () => void = () => undefined;
      gate.open = new Promise((resolve) => (release = resolve));
      return release;
    },
    post: (key, { path = '/json', body = '{"a":1}', headers = {} } = {}) =>
      routed.ask('POST', path, {
        body,
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key, ...headers },
      }),
  };
}

const replayed = ({ headers }: Answered): boolean => headers.get('idempotency-replayed') === 'true';

describe('Idempotency-Key', () => {
  test('the first answer comes again, under a request id of its own; the quoted key is the same key', async (t) => {
    const { post, runs } = await start(t);
    const first = await post('k1');
    for (const key of ['k1', '"k1"', ' k1 ']) {
      const again = await post(key);
      assert.deepEqual([again.status, again.json, again.headers.get('x-kept')], [200, { run: 1 }, 'yes']);
      assert.ok(replayed(again));
      assert.notEqual(again.headers.get('x-request-id'), first.headers.get('x-request-id'));
    }
    assert.ok(!replayed(first));
    assert.equal(runs(), 1);
    assert.deepEqual((await post('k2')).json, { run: 2 });
  });

  test('409 while the first one runs', async (t) => {
    const { post, hold, runs } = await start(t);
    const release = hold();
    const first = post('k');
    await until('the first one runs', () => runs() === 1);
    const second = await post('k');
    assert.deepEqual([second.status, second.headers.get('x-error-code')], [409, 'idempotency_in_progress']);
    assert.equal(second.headers.get('retry-after'), '1');
    release();
    assert.equal((await first).status, 200);
    assert.ok(replayed(await post('k')));
  });

  test('422 with another request', async (t) => {
    const { post } = await start(t);
    await post('k');
    assert.equal((await post('k', { body: '{"a":2}' })).status, 422);
    assert.equal((await post('k', { path: '/json?a=1' })).status, 422);
    assert.ok(replayed(await post('k')));
  });

  test('bad keys are 400', async (t) => {
    const { post } = await start(t);
    for (const key of ['', '""', 'a b', 'x'.repeat(256)]) assert.equal((await post(key)).status, 400, key);
    assert.equal((await post('x'.repeat(255))).status, 200);
  });

  test('what may pass by itself is not kept: 5xx and 429 run again', async (t) => {
    for (const code of ['unreachable', 'pool_full', 'stall_timeout', 'internal', 'quota_exceeded'] as const) {
      const { post, fail } = await start(t);
      fail(code);
      assert.ok((await post('k')).status >= 429);
      const again = await post('k');
      assert.deepEqual([again.status, replayed(again)], [200, false], code);
    }
  });

  test('what the request itself caused is kept', async (t) => {
    for (const code of ['already_exists', 'not_found', 'bad_path', 'permission_denied'] as const) {
      const { post, fail, runs } = await start(t);
      fail(code);
      const first = await post('k');
      const again = await post('k');
      assert.deepEqual([again.status, again.text, replayed(again)], [first.status, first.text, true], code);
      assert.equal(again.headers.get('x-error-code'), code);
      assert.equal(runs(), 1);
    }
  });

  test('an upload is known by path, query, type, length, digest and name, not by the order of its query', async (t) => {
    const { post, runs } = await start(t);
    const upload = (changes: { path?: string; body?: string; headers?: Record<string, string> } = {}) =>
      post('k', {
        path: changes.path ?? '/upload/a?path=/in&filename=x',
        body: changes.body ?? 'hello',
        headers: { 'Content-Type': 'application/octet-stream', ...changes.headers },
      });
    assert.equal((await upload()).status, 200);
    assert.ok(replayed(await upload()));
    assert.ok(replayed(await upload({ path: '/upload/a?filename=x&path=/in' })));
    const others: Parameters<typeof upload>[0][] = [
      { path: '/upload/b?path=/in&filename=x' },
      { path: '/upload/a?path=/in&filename=y' },
      { body: 'hello!' },
      { headers: { 'Content-Type': 'application/json' } },
      { headers: { 'Content-Digest': 'sha-256=:AAAA:' } },
      { headers: { 'Content-Disposition': 'attachment; filename="z"' } },
    ];
    for (const other of others) assert.equal((await upload(other)).status, 422, JSON.stringify(other));
    assert.equal(runs(), 1);
  });

  test('the boundary of a form makes no other request', async (t) => {
    const { post } = await start(t);
    const form = (boundary: string) =>
      post('k', { path: '/upload/a', headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` } });
    await form('one');
    assert.ok(replayed(await form('two')));
  });
});
