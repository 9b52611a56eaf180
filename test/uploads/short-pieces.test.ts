/** Short pieces on S3: the bytes and requests that a store gets for them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Connection } from '../../src/connections/connection.js';
import { S3_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { startProxy, type Proxy } from '../support/proxy.js';
import { portOf, through } from '../support/seam.js';
import { Tus } from './support.js';

const MIB = 1024 * 1024;
const PART_BYTES = 8 * MIB;
const [entry] = S3_SERVERS;

describe('short pieces of resumable uploads on S3', { concurrency: 1 }, () => {
  let server: TestServer;
  let proxy: Proxy;
  let gateway: TestGateway;
  let tus: Tus;

  before(async () => {
    server = (await entry?.start()) ?? assert.fail();
    const connection = server.connection as unknown as Connection;
    proxy = await startProxy(portOf(connection));
    gateway = await startGateway({
      connections: [{ id: 'c1', name: 'Store', ...(through(connection, proxy.port) as object) }],
      config: { streams: { s3PartBytes: PART_BYTES } },
    });
    tus = new Tus(gateway.api);
  });
  after(async () => {
    await gateway?.stop();
    await proxy?.stop();
    await server?.stop();
  });

  /** Bytes sent to the store and read from it, for each byte of the file. */
  async function send(folder: string, pieces: number, pieceBytes: number, isDeferred = false) {
    const content = randomBytes(pieces * pieceBytes);
    const [up, down] = [proxy.upBytes, proxy.downBytes];
    const length: Record<string, string> = isDeferred
      ? { 'Upload-Defer-Length': '1' }
      : { 'Upload-Length': String(content.length) };
    const begun = await tus.create({ path: folder, filename: 'a.bin' }, length);
    assert.equal(begun.status, 201, begun.text);
    const url = String(begun.headers.location);
    for (let offset = 0; offset < content.length; offset += pieceBytes) {
      const answer = await tus.patch(url, offset, content.subarray(offset, offset + pieceBytes));
      assert.equal(answer.status, 204, answer.text);
    }
    if (isDeferred) {
      const total = { 'Upload-Length': String(content.length) };
      assert.ok((await tus.patch(url, content.length, Buffer.alloc(0), total)).headers['x-transfer-id']);
    }
    assert.deepEqual(await server.disk.files(folder), [`${folder}/a.bin`]);
    assert.ok((await server.disk.read(`${folder}/a.bin`)).equals(content));
    return { up: (proxy.upBytes - up) / content.length, down: (proxy.downBytes - down) / content.length };
  }

  test('100 pieces of 1 MiB: each byte is sent twice at most, and read once', async (t) => {
    const { up, down } = await send('/short-1', 100, MIB);
    t.diagnostic(`${up.toFixed(3)} of the bytes to the store, ${down.toFixed(3)} from it`);
    assert.ok(up < 2, `${up} of the bytes were sent`);
    assert.ok(down < 1, `${down} of the bytes were read`);
  });

  test('300 pieces of 40 KiB need few objects, and leave none', async (t) => {
    const { up, down } = await send('/short-2', 300, 40 * 1024);
    t.diagnostic(`${up.toFixed(3)} of the bytes to the store, ${down.toFixed(3)} from it`);
    assert.ok(up < 4, `${up} of the bytes were sent`);
    assert.ok(down < 3, `${down} of the bytes were read`);
  });

  test('a length that is announced after several of them', async () => {
    await send('/short-3', 20, 10_000, true);
  });

  test('after termination, none of them is left', async () => {
    const url = await tus.begin({ path: '/short-4', filename: 'a.bin' }, MIB);
    for (let piece = 0; piece < 20; piece += 1) {
      assert.equal((await tus.patch(url, piece * 1000, randomBytes(1000))).status, 204);
    }
    assert.ok((await server.disk.files('/short-4')).length > 2);
    assert.equal((await tus.end(url)).status, 204);
    assert.deepEqual(await server.disk.files('/short-4'), []);
  });
});
