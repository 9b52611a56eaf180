import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { suite, test, type TestContext } from 'node:test';
import { httpDriver } from '../../bench/load/http.js';
import { AllocationMeter } from '../../bench/lab/allocation-meter.js';

/** Answers each request with `pieces`, a packet each; resolves with its address and the requests. */
async function startServer(t: TestContext, pieces: readonly string[]): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = net.createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (request) => {
      asked.push(request.toString('latin1'));
      void send(socket, pieces);
    });
  });
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function send(socket: net.Socket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece);
    await setImmediate();
  }
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n';

suite('the load of the bench', () => {
  test('reads an answer in pieces, and reuses its connection', async (t) => {
    const { url, asked } = await startServer(t, [HEAD.slice(0, 20), HEAD.slice(20), '\r\nab', 'cd']);
    const call = { kind: 'http', method: 'GET', url: `${url}/a?name={n}`, headers: { 'X-Key': 'k' } } as const;
    const driver = await httpDriver(call, 1);
    t.after(() => driver.close());
    await driver.call(0, 0);
    await driver.call(0, 1);
    const fields = `Host: ${new URL(url).host}\r\nX-Key: k\r\n\r\n`;
    assert.deepEqual(asked, [`GET /a?name=0-0 HTTP/1.1\r\n${fields}`, `GET /a?name=0-1 HTTP/1.1\r\n${fields}`]);
  });

  test('reads a chunked answer to its last chunk', async (t) => {
    const { url } = await startServer(t, [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
      '2\r\nab\r\n',
      '0\r\n\r\n',
    ]);
    const driver = await httpDriver({ kind: 'http', method: 'GET', url, headers: {} }, 1);
    t.after(() => driver.close());
    await driver.call(0, 0);
  });

  test('an answer that is not 2xx fails the run, with its text', async (t) => {
    const { url } = await startServer(t, ['HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nX-Error-Code: pool_full\r\n\r\n']);
    const driver = await httpDriver({ kind: 'http', method: 'GET', url, headers: {} }, 1);
    t.after(() => driver.close());
    await assert.rejects(driver.call(0, 0), /503 Busy[^]*pool_full/);
  });
});

test("V8's reports of collections are added up, however they are cut", () => {
  const meter = new AllocationMeter();
  const line = '[1:0x2]  31 ms: pause=0.5 total_size_after=9 allocated=1000 promoted=0\n';
  for (const piece of [line.slice(0, 50), line.slice(50), 'a line of the log\n', line]) meter.take(piece);
  assert.equal(meter.bytes, 2000);
});
