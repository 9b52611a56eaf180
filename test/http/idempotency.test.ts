/** Idempotency-Key over the real server: the same key and request return the first answer again. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test, type TestContext } from 'node:test';
import { GatewayError, type ErrorCode } from '../../src/base/errors.js';
import { json } from '../../src/http/answer.js';
import type { Route } from '../../src/http/types.js';
import { startRouted, type Answered, type Routed } from './support/routed.js';
import { eventually } from '../support/eventually.js';

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
  test('the first answer is repeated, with its own request id; the quoted key is the same key', async (t) => {
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
    await eventually(() => runs() === 1, 'the first one runs');
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

  test('errors that may pass are not kept: 5xx and 429 run again', async (t) => {
    for (const code of ['unreachable', 'pool_full', 'stall_timeout', 'internal', 'quota_exceeded'] as const) {
      const { post, fail } = await start(t);
      fail(code);
      assert.ok((await post('k')).status >= 429);
      const again = await post('k');
      assert.deepEqual([again.status, replayed(again)], [200, false], code);
    }
  });

  test('errors caused by the request itself are kept', async (t) => {
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

  test('an upload is identified by path, query, type, length, digest and name, not by the order of its query', async (t) => {
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

  describe('a form', () => {
    const NAMES = { file: 'filename="a.txt"' } as const;
    const form = (boundary: string, parts: readonly (readonly [name: string, value: string])[]) =>
      [
        ...parts.map(([name, value]) => {
          const filename = name in NAMES ? `; ${NAMES[name as 'file']}` : '';
          return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${filename}\r\n\r\n${value}\r\n`;
        }),
        `--${boundary}--\r\n`,
      ].join('');
    const send = ({ post }: Rig, boundary: string, parts: Parameters<typeof form>[1]) =>
      post('k', {
        path: '/upload/a',
        body: form(boundary, parts),
        headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
      });
    const PARTS = [
      ['path', '/in'],
      ['file', 'hello'],
    ] as const;

    test('is identified by its parts, not by the boundary between them', async (t) => {
      const rig = await start(t);
      assert.equal((await send(rig, 'one', PARTS)).status, 200);
      assert.ok(replayed(await send(rig, 'two', PARTS)));
      assert.equal(rig.runs(), 1);
    });

    test('a body of the same length with other content, fields or order is another request', async (t) => {
      const rig = await start(t);
      assert.equal((await send(rig, 'one', PARTS)).status, 200);
      const [path, file] = PARTS;
      const others = [
        [path, ['file', 'jello']],
        [['path', '/on'], file],
        [['pith', '/in'], file],
        [file, path],
      ] as const;
      for (const parts of others) {
        const answer = await send(rig, 'one', parts);
        assert.deepEqual([answer.status, answer.headers.get('x-error-code')], [422, 'idempotency_mismatch']);
      }
      assert.ok(replayed(await send(rig, 'one', PARTS)));
      assert.equal(rig.runs(), 1);
    });
  });

  test('a streamed body of the same length with other content is another request', async (t) => {
    const { post, runs } = await start(t);
    const upload = (body: string) =>
      post('k', { path: '/upload/a', body, headers: { 'Content-Type': 'application/octet-stream' } });
    assert.equal((await upload('hello')).status, 200);
    assert.equal((await upload('jello')).status, 422);
    assert.ok(replayed(await upload('hello')));
    assert.equal(runs(), 1);
  });

  test('a request that was refused before its body had ended is identified by the bytes that were read', async (t) => {
    const { ask } = await startRouted(t, [
      {
        method: 'POST',
        path: '/early',
        access: 'write',
        body: 'stream',
        idempotent: true,
        handle: async ({ request }) => {
          await once(request.body, 'readable');
          throw new GatewayError('bad_path', 'path is bad');
        },
      },
    ]);
    const send = (first: string) =>
      ask('POST', '/early', {
        body: first + 'x'.repeat(3_000_000),
        headers: { 'Idempotency-Key': 'k', 'Content-Type': 'application/octet-stream' },
      });
    assert.equal((await send('a')).status, 400);
    assert.equal((await send('b')).status, 422);
    assert.ok(replayed(await send('a')));
  });

  test('a request that was begun and lost is 409, with what is known about it, and does not run', async (t) => {
    let runs = 0;
    const { ask } = await startRouted(t, [
      {
        method: 'POST',
        path: '/lost',
        access: 'write',
        body: 'json',
        idempotent: true,
        recall: async (context, transferId) => `${transferId} of ${context.caller.accountId}`,
        handle: async ({ intent }) => {
          runs++;
          await intent?.begin('id');
          intent?.lose();
          throw new GatewayError('connection_lost', 'gone');
        },
      },
    ]);
    const send = () =>
      ask('POST', '/lost', { body: '{}', headers: { 'Idempotency-Key': 'k', 'Content-Type': 'application/json' } });
    assert.equal((await send()).status, 502);
    for (let again = 0; again < 2; again++) {
      const { status, headers, text } = await send();
      assert.deepEqual([status, headers.get('x-error-code')], [409, 'outcome_unknown']);
      assert.match(text, /the-transfer of account/);
    }
    assert.equal(runs, 1);
  });

  test('a key with fewer rights than at the first request gets no stored answer', async (t) => {
    let isAllowed = true;
    const { ask } = await startRouted(t, [
      {
        method: 'POST',
        path: '/kept',
        access: 'write',
        body: 'json',
        idempotent: true,
        permit: async () => {
          if (!isAllowed) throw new GatewayError('forbidden', 'this API key is not for it');
        },
        handle: async () => json(200, {}),
      },
    ]);
    const send = () =>
      ask('POST', '/kept', { body: '{}', headers: { 'Idempotency-Key': 'k', 'Content-Type': 'application/json' } });
    assert.equal((await send()).status, 200);
    isAllowed = false;
    assert.equal((await send()).status, 403);
    isAllowed = true;
    assert.ok(replayed(await send()));
  });
});
