/**
 * One side is slow, the other as fast as possible: the bytes in between are bounded and do not grow. A defect found
 * this way: a front end that read on after a pause, with hundreds of MB of a body in memory. This does not test speed:
 * after a few seconds the transfer is given up, and the bytes of the fast side are compared with those of the slow
 * side.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { truncateSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { startScripted, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { KEY, memoryOf, startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const FILE_BYTES = 2 * GIB;
const SLOW_BYTES_PER_SECOND = 1_000_000;
/** By this time after the first bytes, every buffer is full. */
const FILLED_MS = 2_500;
const WATCHED_MS = 4_000;
/** Buffers of the system on up to three connections in a row, and the gateway's own for one transfer. */
const BETWEEN_BYTES = 40 * MIB;
/** Growth of the gateway's memory while only the slow transfer runs. */
const GROWTH_BYTES = 24 * MIB;
const CHUNK = Buffer.alloc(256 * 1024, 7);

/** Counts what one end of a transfer has moved so far. */
interface Meter {
  bytes: number;
}

/** One side of a transfer. */
interface Side {
  isSlow: boolean;
}

describe('a slow side slows down the fast one, in flat memory', { concurrency: true }, () => {
  describe('SFTP', { concurrency: 1 }, () => {
    let sshd: TestSshd;
    let line: SlowLine;
    let gateway: TestGateway;

    before(async () => {
      sshd = await startSshd();
      line = await startSlowLine(sshd.port);
      const big = path.join(sshd.files, 'big');
      writeFileSync(big, '');
      truncateSync(big, FILE_BYTES);
      const { username, clientKeyFile: privateKeyFile, files: defaultPath } = sshd;
      const place = { type: 'sftp', host: '127.0.0.1', port: line.port, defaultPath };
      gateway = await startGateway({ connections: [{ id: 'c1', name: 'c1', ...place, username, privateKeyFile }] });
    });
    after(async () => {
      await gateway?.stop();
      await line?.stop();
      await sshd?.stop();
    });

    test('a remote of 1 MB/s under a fast uploader', async () => {
      const before = line.up.bytes;
      await uploadInVain(gateway, line, () => line.up.bytes - before);
    });

    test('a reader of 1 MB/s of a 2 GiB file', async () => {
      line.isSlow = false;
      const before = line.down.bytes;
      await downloadInVain(gateway, `${sshd.files}/big`, () => line.down.bytes - before);
    });
  });

  describe('FTP', { concurrency: 1 }, () => {
    let ftp: ScriptedFtp;
    let gateway: TestGateway;
    const took: Meter = { bytes: 0 };
    const sent: Meter = { bytes: 0 };
    const server: Side = { isSlow: true };

    before(async () => {
      ftp = await startScripted({
        SIZE: `213 ${FILE_BYTES}`,
        MDTM: '213 20260203040506',
        RETR: async (_path, visitor) => {
          visitor.say('150 go');
          await pipeline(endless(sent), await visitor.data()).catch(() => undefined);
        },
        STOR: async (_path, visitor) => {
          visitor.say('150 go');
          await pipeline(await visitor.data(), taker(took, server)).catch(() => undefined);
        },
      });
      const place = { type: 'ftp', host: '127.0.0.1', port: ftp.port, username: 'u', password: 'p' };
      gateway = await startGateway({ connections: [{ id: 'c1', name: 'c1', ...place }] });
    });
    after(async () => {
      await gateway?.stop();
      await ftp?.stop();
    });

    test('a remote of 1 MB/s under a fast uploader', async () => {
      await uploadInVain(gateway, server, () => took.bytes);
    });

    test('a reader of 1 MB/s of a 2 GiB file', async () => {
      await downloadInVain(gateway, '/big', () => sent.bytes);
    });
  });

  async function uploadInVain(gateway: TestGateway, remote: Side, taken: () => number): Promise<void> {
    const sent: Meter = { bytes: 0 };
    remote.isSlow = true;
    const request = http.request(`${gateway.url}/api/upload/c1?filename=in-vain`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${KEY}`,
        'Content-Type': 'application/octet-stream',
        'Content-Length': FILE_BYTES,
      },
    });
    request.on('error', () => undefined);
    const sending = pipeline(endless(sent), request).catch(() => undefined);
    await watch(gateway, () => sent.bytes, taken);
    request.destroy();
    await sending;
    // Bytes under way need not arrive slowly.
    remote.isSlow = false;
    await settled(gateway);
  }

  async function downloadInVain(gateway: TestGateway, file: string, sent: () => number): Promise<void> {
    const query = new URLSearchParams({ path: file }).toString();
    const response = await gateway.api.open(`/api/download/c1?${query}`);
    assert.equal(response.statusCode, 200);
    const taken: Meter = { bytes: 0 };
    const reading = pipeline(response, taker(taken, { isSlow: true })).catch(() => undefined);
    await watch(gateway, sent, () => taken.bytes);
    response.destroy();
    await reading;
    await settled(gateway);
  }

  async function watch(gateway: TestGateway, fast: () => number, slow: () => number): Promise<void> {
    const atFirst = slow();
    await eventually(() => slow() > atFirst + CHUNK.length, 'the transfer has begun');
    await delay(FILLED_MS);
    const filled = memoryOf(gateway.pid).now;
    const slowBefore = slow();
    let highest = filled;
    for (const until = Date.now() + WATCHED_MS; Date.now() < until;) {
      await delay(100);
      highest = Math.max(highest, memoryOf(gateway.pid).now);
    }
    const [ahead, moved] = [fast() - slow(), slow() - slowBefore];
    assert.ok(moved > SLOW_BYTES_PER_SECOND, `the slow side took ${moved} bytes: the transfer hangs`);
    assert.ok(slow() < 4 * SLOW_BYTES_PER_SECOND * (FILLED_MS + WATCHED_MS), 'the slow side is not slow');
    assert.ok(ahead < BETWEEN_BYTES, `${Math.round(ahead / MIB)} MiB are on their way`);
    assert.ok(highest - filled < GROWTH_BYTES, `memory grew by ${Math.round((highest - filled) / MIB)} MiB`);
  }

  /** The transfer is also over in the gateway: the next test begins with nothing under way. */
  async function settled(gateway: TestGateway): Promise<void> {
    await eventually(async () => {
      const { transfers } = (await gateway.api.get('/api/transfers?limit=1')).json as {
        transfers: readonly { status: string }[];
      };
      return transfers[0]?.status === 'failed';
    }, 'the transfer is in the history as failed');
  }
});

/** Endless bytes; counts those that were taken. */
function endless(meter: Meter): Readable {
  return new Readable({
    highWaterMark: CHUNK.length,
    read() {
      meter.bytes += CHUNK.length;
      this.push(CHUNK);
    },
  });
}

/** While it is slow, it takes a fixed number of bytes per second, in pieces of any size. */
function taker(meter: Meter, side: Side): Writable {
  return new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      meter.bytes += chunk.length;
      if (side.isSlow) setTimeout(done, (chunk.length * 1000) / SLOW_BYTES_PER_SECOND);
      else done();
    },
  });
}

interface SlowLine extends Side {
  readonly port: number;
  /** Whether the upload direction has the slow rate; for new connections. */
  isSlow: boolean;
  readonly up: Meter;
  readonly down: Meter;
  stop(): Promise<void>;
}

/** A proxy to a server on loopback that counts both directions. */
async function startSlowLine(target: number): Promise<SlowLine> {
  const sockets = new Set<net.Socket>();
  const listener = net.createServer({ noDelay: true }, (near) => {
    const far = net.connect({ port: target, host: '127.0.0.1', noDelay: true });
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    far.on('data', (bytes: Buffer) => {
      line.down.bytes += bytes.length;
      if (!near.write(bytes)) far.pause();
    });
    near.on('drain', () => far.resume());
    near.on('data', (bytes: Buffer) => {
      line.up.bytes += bytes.length;
      far.write(bytes);
      if (!line.isSlow) return;
      near.pause();
      setTimeout(() => near.resume(), (bytes.length * 1000) / SLOW_BYTES_PER_SECOND);
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const line: SlowLine = {
    port: (listener.address() as net.AddressInfo).port,
    isSlow: false,
    up: { bytes: 0 },
    down: { bytes: 0 },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
  return line;
}
