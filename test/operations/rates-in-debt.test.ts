/**
 * What waits for the rate of its connection, for longer than a server may be silent: links, uploads from a URL, archives
 * and pieces of resumable uploads. Each has a connection of its own, whose rate a short file has used up for seconds.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { answered, despiteStalls } from '../support/stalls.js';
import { Tus } from '../uploads/support.js';

const KIB = 1024;
const RATE = 12 * KIB;
/** Passes at once, as a whole, and is paid for afterwards: 5 s, longer than the server may be silent. */
const SHORT = randomBytes(60 * KIB);
const STALL_MS = 3_000;
/** No short file: it is a stream. */
const CONTENT = randomBytes(70 * KIB);
/** The last chunk of it waits for the rate when its source has nothing more to give. */
const LARGE = randomBytes(120 * KIB);
const ONE_SESSION = { pool: { maxSessions: 1, maxChannelsPerSession: 1 } };
/** Passes at once. */
const BURST_MS = 100;

describe('a rate that is used up', { concurrency: 4 }, () => {
  let target: TestServer;
  let gateway: TestGateway;
  let origin: string;
  const server = http.createServer(({ url }, response) => response.end(url === '/one.bin' ? LARGE : CONTENT));

  before(async () => {
    target = await (SFTP_SERVERS[1] ?? assert.fail()).start();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const limited = (id: string): object => ({ id, name: id, ...target.connection, bytesPerSecond: RATE });
    const [byName, legacy] = [{ host: 'localhost' }, { algorithms: 'legacy' }];
    gateway = await startGateway({
      config: {
        network: { urlFetch: { allow: ['127.0.0.1'] } },
        pools: { default: { stallTimeoutMs: STALL_MS }, giveWay: { afterMs: 1_000 } },
      },
      connections: [
        ...['link', 'url', 'zip', 'tus', 'short'].map(limited),
        // By another name of the host or with other algorithms, so each has a session of its own.
        { ...limited('one'), ...ONE_SESSION, ...byName, bytesPerSecond: 8 * KIB },
        { ...limited('short-copy'), ...ONE_SESSION, ...legacy, bytesPerSecond: null },
        { ...limited('again'), ...ONE_SESSION, ...byName, ...legacy, bytesPerSecond: 40 * KIB, verify: 'readback' },
      ],
    });
    await target.disk.write('/rates/source.bin', CONTENT);
  });
  after(async () => {
    await gateway?.stop();
    server.closeAllConnections();
    server.close();
    await target?.stop();
  });

  const upload = async (id: string): Promise<void> => {
    answered(
      await gateway.api.send(`/api/upload/${id}`, {
        method: 'POST',
        query: { filename: `${id}-short.bin`, path: '/rates-short' },
        body: SHORT,
        headers: { 'Content-Type': 'application/octet-stream' },
      }),
    );
  };
  /** Moves `CONTENT` after the short file. */
  const paysForBoth = (id: string, work: () => Promise<void>): Promise<void> =>
    despiteStalls(async () => {
      const from = performance.now();
      await upload(id);
      await work();
      const ms = performance.now() - from;
      assert.ok(ms >= ((SHORT.length + CONTENT.length) * 1000) / RATE - BURST_MS - 50, `${ms} ms`);
    });

  test('a link to a file', () =>
    paysForBoth('link', async () => {
      const made = await gateway.api.post('/api/links', {
        operation: 'download',
        connectionId: 'link',
        path: '/rates/source.bin',
        expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
      });
      assert.equal(made.status, 201, made.text);
      const { url } = made.json['link'] as { url: string };
      const { bytes } = answered(await gateway.api.send(new URL(url).pathname, { key: '' }));
      assert.ok(bytes.equals(CONTENT));
    }));

  test('an upload from a URL', () =>
    paysForBoth('url', async () => {
      answered(await gateway.api.post('/api/upload/url', { url: `${origin}/a.bin`, path: '/rates-url' }));
      assert.ok((await target.disk.read('/rates-url/a.bin')).equals(CONTENT));
    }));

  test('an archive', () =>
    paysForBoth('zip', async () => {
      const query = { path: '/rates', format: 'zip' };
      const { bytes } = answered(await gateway.api.get('/api/download/zip', { query }));
      assert.ok(bytes.includes(CONTENT), 'its files are stored as they are');
    }));

  /** Senders that are slow give way to those who wait for their session. */
  test('the sender of an upload from a URL is not slow because of the rate', () =>
    despiteStalls(async (tries) => {
      const path = `/waited-${tries}`;
      let hasEnded = false;
      const sent = gateway.api
        .post('/api/upload/one', { url: `${origin}/one.bin`, path })
        .finally(() => (hasEnded = true));
      const isWritten = async (): Promise<boolean> => hasEnded || (await target.disk.files(path)).length > 0;
      await eventually(isWritten, 'it is written');
      const listed = gateway.api.get('/api/list/one', { query: { path: '/' } });
      answered(await sent);
      answered(await listed);
    }));

  /** Others ask for the session of its target all the time. */
  async function whileOthersWait(target: string, path: string, request: object): Promise<void> {
    let hasEnded = false;
    const answer = gateway.api.post(path, request).finally(() => (hasEnded = true));
    try {
      while (!hasEnded) answered(await gateway.api.get(`/api/list/${target}`, { query: { path: '/' } }));
    } finally {
      await answer;
    }
    answered(await answer);
  }

  test('the source of a copied short file is not slow because of the rate', () =>
    despiteStalls(async () => {
      await upload('short');
      await whileOthersWait('short-copy', '/api/copy', {
        source_connection_id: 'short',
        source_path: '/rates-short/short-short.bin',
        dest_connection_id: 'short-copy',
        dest_path: '/copied/short.bin',
      });
    }));

  test('the sender of an upload from a URL is not slow while what is stored is read again', () =>
    despiteStalls(() =>
      whileOthersWait('again', '/api/upload/again', { url: `${origin}/one.bin`, path: '/read-again' }),
    ));

  test('pieces of a resumable upload', () =>
    paysForBoth('tus', async () => {
      const tus = new Tus(gateway.api, 'tus');
      const url = await tus.begin({ filename: 'pieces.bin', path: '/rates-tus' }, CONTENT.length);
      const half = CONTENT.length / 2;
      for (const at of [0, half]) {
        answered(await tus.patch(url, at, CONTENT.subarray(at, at + half)), 204);
      }
      assert.ok((await target.disk.read('/rates-tus/pieces.bin')).equals(CONTENT));
    }));
});
