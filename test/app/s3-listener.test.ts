/** The listeners of the S3 front: its addresses on the main one, and one of its own. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { bytesOf, type S3Answer, type Shot, Signer } from '../attacks/support/s3-signer.js';
import { certificateName, writeCertificate } from '../http/support/certificate.js';
import { startSshd } from '../servers/sshd.js';
import { eventually } from '../support/eventually.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { freePort } from '../support/ports.js';
import { MAIN, START_ARGS } from '../support/start-args.js';

const PAIR = { accessKeyId: 'LISTENERXXXXXXXXXXXX', secretAccessKey: 'secret-of-the-listener-0123456789-012345' };
const SERVERS = [
  { frontEnd: 'uws', threads: 1 },
  { frontEnd: 'uws', threads: 2 },
  { frontEnd: 'node', threads: 1 },
] as const;

/** As many as reach every event loop. */
const ROUNDS = 4;

const start = (server: object, s3: object, connections: readonly object[] = []): Promise<TestGateway> =>
  startGateway({ apiKeys: [{ name: 'test', key: KEY, s3: PAIR }], connections, config: { server, s3 } });

for (const server of SERVERS) {
  describe(`the listener of the S3 front: ${server.frontEnd}, ${server.threads}`, { concurrency: 1 }, () => {
    test('both serve the same, without the addresses of the API on its own; uploads end before the stop', async (t) => {
      const sshd = await startSshd();
      t.after(() => sshd.stop());
      mkdirSync(join(sshd.files, 'first'));
      const { username, clientKeyFile, files } = sshd;
      const place = {
        host: '127.0.0.1',
        port: sshd.port,
        username,
        privateKeyFile: clientKeyFile,
        rootPath: `${files}/first`,
      };
      const port = await freePort();
      const own = { type: 'ftp', host: '127.0.0.1', username: 'u', password: 'p', tls: 'none' };
      const connections = [
        { id: 'first', name: 'First', type: 'sftp', ...place, defaultPath: '/' },
        { id: 'own', name: 'Own', ...own, port },
      ];
      const gateway = await start(server, { enabled: true, port }, connections);
      t.after(() => gateway.stop());
      const [main, second] = [new Signer(gateway.port, PAIR), new Signer(port, PAIR)];
      for (let round = 0; round < ROUNDS; round++) {
        assert.equal((await main.send({ method: 'PUT', path: `/s3/first/${round}`, body: 'content' })).status, 200);
        assert.equal((await second.send({ path: `/first/${round}` })).text, 'content');
        assert.match((await second.send({ path: '/' })).text, /<Name>first<\/Name>/);
      }
      const bearer = Buffer.from(`GET /api/me HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${KEY}\r\n\r\n`);
      assert.equal((await second.raw(bearer)).code, 'AuthorizationHeaderMalformed');

      const { status, json } = await gateway.api.get('/api/list/own');
      assert.notEqual(status, 200);
      assert.match(String(json['error']), /this gateway's own address/);

      const signed = second.sign({ method: 'PUT', path: '/first/late', body: 'x'.repeat(200_000) });
      const bytes = bytesOf(signed);
      const socket = net.connect(port, '127.0.0.1');
      const answer = text(socket);
      socket.write(bytes.subarray(0, 150_000));
      const isWriting = (): boolean => readdirSync(join(files, 'first')).length > ROUNDS;
      await eventually(isWriting, 'the upload runs');
      const stopped = gateway.stop();
      await eventually(() => isClosed(port), 'it takes no more connections');
      socket.write(bytes.subarray(150_000));
      assert.match(await answer, /^HTTP\/1.1 200 /);
      assert.equal(await stopped, 0);
    });
  });
}

for (const frontEnd of ['uws', 'node'] as const) {
  test(`pages of allowed origins use both listeners: ${frontEnd}`, async (t) => {
    const port = await freePort();
    const origin = 'https://app.example.com';
    const gateway = await start({ frontEnd, cors: { origins: [origin] } }, { enabled: true, port });
    t.after(() => gateway.stop());
    const asked = 'authorization,content-md5,x-amz-content-sha256,x-amz-date,x-amz-meta-mtime';
    const preflight = { 'access-control-request-method': 'PUT', 'access-control-request-headers': asked };
    for (const [signer, prefix] of [
      [new Signer(gateway.port, PAIR), '/s3'],
      [new Signer(port, PAIR), ''],
    ] as const) {
      const ask = (headers: Record<string, string>, more: Partial<Shot> = {}): Promise<S3Answer> =>
        signer.send({ path: `${prefix}/`, headers, ...more });
      const url = { method: 'OPTIONS', path: `${prefix}/bucket/key` };
      const allowed = await signer.raw(plain({ ...url, headers: { origin, ...preflight } }));
      assert.equal(allowed.status, 204);
      assert.equal(allowed.headers.get('access-control-allow-origin'), origin);
      assert.match(allowed.headers.get('access-control-allow-methods') ?? '', /\bPUT\b/);
      assert.equal(allowed.headers.get('access-control-allow-headers'), asked);
      const listed = await ask({ origin });
      assert.deepEqual([listed.status, listed.headers.get('access-control-allow-origin')], [200, origin]);
      const exposed = listed.headers.get('access-control-expose-headers')?.split(', ') ?? [];
      for (const field of ['ETag', 'x-amz-request-id', 'x-amz-meta-mtime', 'Content-Range']) {
        assert.ok(exposed.includes(field), field);
      }
      const refused = await ask({ origin }, { pair: { ...PAIR, secretAccessKey: 'wrong' } });
      assert.deepEqual([refused.status, refused.headers.get('access-control-allow-origin')], [403, origin]);
      const foreign = { origin: 'https://other.example.com' };
      assert.equal((await ask(foreign)).headers.get('access-control-allow-origin'), undefined);
      const forbidden = await signer.raw(plain({ ...url, headers: { ...foreign, ...preflight } }));
      assert.notEqual(forbidden.status, 204);
      assert.equal(forbidden.headers.get('access-control-allow-origin'), undefined);
    }
  });
}

/** Without a signature. */
function plain({ method, path, headers }: { method: string; path: string; headers: Record<string, string> }): Buffer {
  const fields = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${fields.join('')}\r\n`);
}

/** So many that some are refused, unless a machine takes half a minute for them: each second admits two. */
const BURST = 60;

test('too many requests of a key are SlowDown with the time to wait, on both listeners together', async (t) => {
  const port = await freePort();
  const gateway = await startGateway({
    apiKeys: [{ name: 'test', key: KEY, s3: PAIR }],
    config: { s3: { enabled: true, port }, limits: { requestsPerSecond: 2 } },
  });
  t.after(() => gateway.stop());
  const [main, second] = [new Signer(gateway.port, PAIR), new Signer(port, PAIR)];
  const ask = (at: number): Promise<S3Answer> =>
    at % 2 === 0 ? main.send({ path: '/s3/' }) : second.send({ path: '/' });
  const answers = await Promise.all(Array.from({ length: BURST }, (_, at) => ask(at)));
  const slowed = answers.filter(({ status }) => status !== 200);
  assert.ok(slowed.length > 0 && slowed.length < BURST, `${slowed.length} of ${BURST}`);
  for (const { status, code, headers } of slowed) {
    assert.deepEqual([status, code, headers.get('x-error-code')], [503, 'SlowDown', 'rate_limited']);
    assert.ok(Number(headers.get('retry-after')) >= 1);
  }
  await eventually(async () => (await second.send({ path: '/' })).status === 200, 'the next window');
});

test('SIGHUP: the second listener shows the new certificate as well', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ftg-s3-tls-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [main, port] = [await freePort(), await freePort()];
  const server = { port: main, tls: writeCertificate(folder, 'former') };
  const gateway = await start(server, { enabled: true, port });
  t.after(() => gateway.stop());
  const names = (): Promise<string[]> => Promise.all([main, port].map(certificateName));
  assert.deepEqual(await names(), ['former', 'former']);
  writeCertificate(folder, 'latter');
  gateway.process.kill('SIGHUP');
  await eventually(() => gateway.output().includes('TLS certificate read again'), 'the reload');
  assert.deepEqual(await names(), ['latter', 'latter']);
});

test('a port in use ends the start with one line that names s3.port', async (t) => {
  const holder = net.createServer().listen(0, '127.0.0.1');
  t.after(() => holder.close());
  await once(holder, 'listening');
  const { port } = holder.address() as net.AddressInfo;
  for (const server of SERVERS) {
    const folder = mkdtempSync(join(tmpdir(), 'ftg-s3-port-'));
    const file = join(folder, 'gateway.yaml');
    writeFileSync(
      file,
      JSON.stringify({ dataDir: join(folder, 'data'), server: { port: 0, ...server }, s3: { enabled: true, port } }),
    );
    const child = spawn(process.execPath, [...START_ARGS, MAIN], {
      env: { ...process.env, GATEWAY_CONFIG: file },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [errors, exit] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    assert.deepEqual(exit, [1, null]);
    assert.equal(
      errors,
      `cannot start: s3.port: cannot listen on 127.0.0.1:${port}: the port is in use or the address is not of this machine\n`,
    );
    rmSync(folder, { recursive: true });
  }
});

test('without s3.enabled there is no S3 front', async (t) => {
  const gateway = await start({}, { enabled: false });
  t.after(() => gateway.stop());
  const { status, code } = await new Signer(gateway.port, PAIR).send({ path: '/s3/' });
  assert.deepEqual([status, code], [404, '']);
});

async function isClosed(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  const isOpen = await new Promise<boolean>((done) =>
    socket.once('connect', () => done(true)).once('error', () => done(false)),
  );
  socket.destroy();
  return !isOpen;
}
