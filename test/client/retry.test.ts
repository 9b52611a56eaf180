/** The client when calls fail: it waits as long as the answer demands, repeats safe calls, and reports the error. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { FileTransferGateway, FtgError, type RetryOptions } from '../../src/client/index.js';
import { cut, error, ok, startFaultServer, type FaultServer, type Reply } from './fault-server.js';

const TRANSFER = { success: true, transfer: { id: '1' } };

async function client(
  t: TestContext,
  replies: readonly Reply[],
  retry: RetryOptions = { delayMs: 1 },
): Promise<{ readonly ftg: FileTransferGateway; readonly server: FaultServer }> {
  const server = await startFaultServer(t, replies);
  return { ftg: new FileTransferGateway({ baseUrl: `${server.url}/`, apiKey: 'ftg_x', retry }), server };
}

function failure(call: Promise<unknown>): Promise<FtgError> {
  return call.then(
    () => assert.fail('it did not fail'),
    (thrown: unknown) => {
      assert.ok(thrown instanceof FtgError, String(thrown));
      return thrown;
    },
  );
}

test('a 503 is retried after Retry-After, with the same Idempotency-Key and the same bytes', async (t) => {
  const { ftg, server } = await client(t, [error(503, 'pool_full', { 'Retry-After': '1' }), ok(TRANSFER)]);
  const started = performance.now();
  await ftg.upload('c', new Uint8Array([1, 2, 3]), { filename: 'x' });
  assert.ok(performance.now() - started >= 990, 'it did not wait');
  assert.equal(server.asked.length, 2);
  const [first, second] = server.asked;
  assert.match(String(first?.headers['idempotency-key']), /^[0-9a-f]{32}$/);
  assert.equal(first?.headers['idempotency-key'], second?.headers['idempotency-key']);
  assert.deepEqual([first?.body, second?.body], [Buffer.from([1, 2, 3]), Buffer.from([1, 2, 3])]);
});

test('a cut connection is retried; a stream that can be created again is sent again', async (t) => {
  const { ftg, server } = await client(t, [cut, cut, ok(TRANSFER)]);
  await ftg.upload('c', () => Readable.from([Buffer.from('ab'), Buffer.from('c')]), { filename: 'x', size: 3 });
  assert.deepEqual(
    server.asked.map(({ body, headers }) => [body.toString(), headers['content-length']]),
    [
      ['abc', '3'],
      ['abc', '3'],
      ['abc', '3'],
    ],
  );
});

test('a stream that can be read only once is sent once', async (t) => {
  const { ftg, server } = await client(t, [error(503, 'pool_full', { 'Retry-After': '1' })]);
  const { code, status, retryAfter, requestId } = await failure(
    ftg.upload('c', Readable.from([Buffer.from('abc')]), { filename: 'x' }),
  );
  assert.deepEqual([code, status, retryAfter, requestId], ['pool_full', 503, 1, 'r-1']);
  assert.equal(server.asked.length, 1);
});

test('a call that was done and not recorded is never retried, even if a repetition would be harmless', async (t) => {
  const calls: ((ftg: FileTransferGateway) => Promise<unknown>)[] = [
    (ftg) => ftg.append('c', '/x', 'line'),
    (ftg) => ftg.write('c', '/x', 'text'),
    (ftg) => ftg.list('c', '/x'),
  ];
  for (const call of calls) {
    const { ftg, server } = await client(t, [error(503, 'outcome_unrecorded')]);
    const { code } = await failure(call(ftg));
    assert.deepEqual([code, server.asked.length], ['outcome_unrecorded', 1]);
  }
});

test('a call that could act twice is retried only if it certainly was not begun', async (t) => {
  const calls: ((ftg: FileTransferGateway) => Promise<unknown>)[] = [
    (ftg) => ftg.append('c', '/x', 'line'),
    (ftg) => ftg.exec('c', 'true'),
    (ftg) => ftg.createWatchedFolder({ connectionId: 'c', path: '/x' }),
  ];
  for (const call of calls) {
    for (const reply of [cut, error(502, 'connection_lost'), error(503, 'database_away', { 'Retry-After': '1' })]) {
      const { ftg, server } = await client(t, [reply]);
      await failure(call(ftg));
      assert.equal(server.asked.length, 1);
    }
    const { ftg, server } = await client(t, [error(503, 'pool_full'), ok({})]);
    await call(ftg);
    assert.equal(server.asked.length, 2);
  }
});

test('permanent errors are not retried', async (t) => {
  const lasting = [
    error(400, 'bad_request'),
    error(401, 'unauthenticated'),
    error(404, 'not_found'),
    error(409, 'already_exists'),
    error(500, 'internal'),
    error(502, 'login_refused'),
    // The next month is beyond the longest wait.
    error(429, 'quota_exceeded', { 'Retry-After': '86400' }),
    error(429, 'rate_limited', { 'Retry-After': '3600' }),
  ];
  for (const reply of lasting) {
    const { ftg, server } = await client(t, [reply]);
    await failure(ftg.list('c'));
    assert.equal(server.asked.length, 1);
  }
});

test('attempts are limited, and the last error is reported', async (t) => {
  const { ftg, server } = await client(t, [error(504, 'connect_timeout')], { attempts: 3, delayMs: 1 });
  assert.equal((await failure(ftg.me())).code, 'connect_timeout');
  assert.equal(server.asked.length, 3);
  const once = await client(t, [error(504, 'connect_timeout')], { attempts: 1 });
  await failure(once.ftg.me());
  assert.equal(once.server.asked.length, 1);
});

test('a cut answer is retried, and an answer of another server is reported as such', async (t) => {
  const short: Reply = (response, request) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' });
    response.write('{"email":', () => request.socket.destroy());
  };
  const { ftg } = await client(t, [short, ok({ email: 'a' })]);
  assert.equal((await ftg.me()).email, 'a');
  const page: Reply = (response) => void response.writeHead(404).end('<html>no such site</html>');
  const { code, status } = await failure((await client(t, [page])).ftg.me());
  assert.deepEqual([code, status], ['invalid_answer', 404]);
});

test('a cut download fails instead of seeming complete', async (t) => {
  const short: Reply = (response, request) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('only this', () => request.socket.destroy());
  };
  const { ftg } = await client(t, [short]);
  const download = await ftg.download('c', '/x');
  assert.equal((await failure(download.bytes())).code, 'network_error');
});

test('the signal ends a call that waits for its next attempt, with its own reason', async (t) => {
  const { ftg, server } = await client(t, [error(503, 'pool_full', { 'Retry-After': '30' })]);
  const controller = new AbortController();
  const call = ftg.list('c', '/', { signal: controller.signal });
  while (server.asked.length === 0) await new Promise((done) => setTimeout(done, 5));
  const reason = new Error('the user left');
  controller.abort(reason);
  await assert.rejects(call, (thrown) => thrown === reason);
});

test('the key, the path and the query arrive unchanged', async (t) => {
  const { ftg, server } = await client(t, [ok({ success: true, path: '', files: [] })]);
  await ftg.list('a/b ü', '/x y&z', { requestId: 'mine' });
  const [asked] = server.asked;
  assert.equal(asked?.url, '/api/list/a%2Fb%20%C3%BC?path=%2Fx+y%26z');
  assert.equal(asked?.headers.authorization, 'Bearer ftg_x');
  assert.equal(asked?.headers['x-request-id'], 'mine');
});
