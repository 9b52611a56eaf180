/** A gateway process with several event loops: guarantees over all of them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { certificateName, writeCertificate } from '../http/support/certificate.js';
import { startVsftpd, type FtpServer } from '../servers/ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import type { ApiClient } from '../support/gateway.js';
import { KEY, startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { countingSessions } from '../support/sessions.js';
import { eventually } from '../support/eventually.js';
import { startTogether } from '../support/together.js';
import { MAIN, START_ARGS } from '../support/start-args.js';

function connectionTo(sshd: TestSshd, pool: object = {}): object {
  const { port, username, clientKeyFile, files } = sshd;
  const login = { username, privateKeyFile: clientKeyFile };
  return {
    id: 'c1',
    name: 'SSH',
    type: 'sftp',
    host: '127.0.0.1',
    port,
    rootPath: files,
    defaultPath: '/',
    pool,
    ...login,
  };
}

function upload(
  api: ApiClient,
  filename: string,
  body: Buffer | Readable,
  { to = 'c1', headers = {} }: { to?: string; headers?: Record<string, string> } = {},
): Promise<ApiAnswer> {
  return api.send(`/api/upload/${to}`, {
    method: 'POST',
    query: { path: '/', filename },
    headers: { 'Content-Type': 'application/octet-stream', ...headers },
    body,
  });
}

/** The thread that answered, from its log line. */
async function threadOf(gateway: TestGateway, answer: ApiAnswer): Promise<number> {
  const id = String(answer.headers['x-request-id']);
  let thread: string | undefined;
  await eventually(() => {
    thread = new RegExp(`"thread":(\\d+),"requestId":"${id}".*"msg":"request"`).exec(gateway.output())?.[1];
    return thread !== undefined;
  }, `the log line of ${id}`);
  return Number(thread);
}

/** Two clients with one connection each, served by different threads. */
async function clientsOfBoth(gateway: TestGateway): Promise<[ApiClient, ApiClient]> {
  const clients = [gateway.client(), gateway.client()] as const;
  const threads: number[] = [];
  for (const client of clients) threads.push(await threadOf(gateway, await client.get('/api/me')));
  assert.deepEqual(threads.toSorted(), [1, 2], 'connections are handed out in turn');
  return [...clients];
}

function close(...clients: ApiClient[]): void {
  for (const client of clients) client.close();
}

/** A body that sends one byte and then waits. */
function held(): { readonly body: Readable; end(): void } {
  const body = new Readable({ read: () => undefined });
  body.push('a');
  return {
    body,
    end: () => {
      body.push('z');
      body.push(null);
    },
  };
}

describe('a gateway with two event loops', () => {
  let sshd: TestSshd;
  let ftp: FtpServer;
  let gateway: TestGateway;
  const LIMIT = 5;

  before(async () => {
    [sshd, ftp] = await startTogether([startSshd(['MaxStartups 300']), startVsftpd()]);
    const { port, username, password } = ftp;
    const single = { maxSessions: 1, idleTimeoutMs: 3_600_000 };
    gateway = await startGateway({
      connections: [
        connectionTo(sshd, { maxSessions: LIMIT, acquireTimeoutMs: 60_000 }),
        { id: 'f1', name: 'FTP', type: 'ftp', host: '127.0.0.1', port, username, password, pool: single },
      ],
      config: { server: { threads: 2 } },
    });
  });

  after(async () => {
    assert.equal(await gateway?.stop(), 0);
    await ftp?.stop();
    await sshd?.stop();
  });

  test('both serve, on SFTP and FTP, and read what the other wrote', async () => {
    const [one, two] = await clientsOfBoth(gateway);
    for (const to of ['c1', 'f1']) {
      const written = await upload(one, 'both', Buffer.from(`by one, on ${to}`), { to });
      assert.equal(written.status, 200, written.text);
      const read = await two.get(`/api/read/${to}`, { query: { path: '/both' } });
      assert.equal(read.json['content'], `by one, on ${to}`);
    }
    close(one, two);
  });

  test('200 uploads at once never open more than maxSessions sessions, and both loops have some', async () => {
    const content = Buffer.alloc(64 * 1024, 'x');
    const { result: answers, most } = await countingSessions(sshd, () =>
      Promise.all(Array.from({ length: 200 }, (_, index) => upload(gateway.api, `many-${index}`, content))),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    const threads = new Set<number>();
    for (const answer of answers.slice(0, 8)) threads.add(await threadOf(gateway, answer));
    assert.equal(threads.size, 2);
    assert.ok(most >= 2 && most <= LIMIT, `${most} sessions at once`);
  });

  test('one session for two loops: a loop that needs it gets it from the idle one', async () => {
    const [one, two] = await clientsOfBoth(gateway);
    for (const [turn, client] of [one, two, one, two].entries()) {
      // The other would expire long after this request has been given up.
      const answer = await upload(client, `turn-${turn}`, Buffer.from('x'), { to: 'f1' });
      assert.equal(answer.status, 200, answer.text);
    }
    close(one, two);
  });

  test('one session for two loops that are both busy: none starves', async () => {
    const [one, two] = await clientsOfBoth(gateway);
    const busy = async (client: ApiClient): Promise<number> => {
      let done = 0;
      for (const until = Date.now() + 4_000; Date.now() < until; done++) {
        const answer = await upload(client, 'busy', Buffer.from('x'), { to: 'f1' });
        assert.equal(answer.status, 200, answer.text);
      }
      return done;
    };
    const done = await Promise.all([busy(one), busy(two)]);
    assert.ok(Math.min(...done) >= 1, `uploads of each: ${done.join(', ')}`);
    close(one, two);
  });

  test('the metrics are those of the process', async () => {
    const [one, two] = await clientsOfBoth(gateway);
    const count = async (): Promise<number> => {
      const shown = (await gateway.api.get('/metrics', { key: '' })).text;
      const line = /ftg_requests_total\{route="\/api\/connections",status="2xx"\} (\d+)/;
      const memory = Number(/^process_resident_memory_bytes (\d+)/m.exec(shown)?.[1]);
      assert.ok(memory > 20e6 && memory < 1.5 * residentBytes(gateway.pid), 'memory is not added up');
      return Number(line.exec(shown)?.[1] ?? 0);
    };
    for (const client of [one, two, two]) await client.get('/api/connections');
    await eventually(async () => (await count()) === 3, 'all three requests counted');
    close(one, two);
  });

  test('an Idempotency-Key applies to both', async () => {
    const [one, two] = await clientsOfBoth(gateway);
    const headers = { 'Idempotency-Key': 'over-both' };
    const first = await upload(one, 'once', Buffer.from('1'), { headers });
    const second = await upload(two, 'once', Buffer.from('1'), { headers });
    assert.equal(first.status, 200, first.text);
    assert.deepEqual(second.json, first.json);
    close(one, two);
  });

  test('the limit on guessing keys applies to all loops together', async () => {
    const wrong = 'ftg_wrong-key-0123456789-abcdefgh';
    // New connections: those that were idle since an earlier test may be closed at this very moment.
    const fresh = gateway.client();
    const answers = await Promise.all(Array.from({ length: 70 }, () => fresh.get('/api/me', { key: wrong })));
    close(fresh);
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 401).length, 60);
    assert.equal(statuses.filter((status) => status === 429).length, 10);
  });
});

describe('the sandbox of the quick start behind two event loops', () => {
  const ADMIN_KEY = 'ftg_admin-key-0123456789-abcdefgh';
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({
      apiKeys: [
        { name: 'test', key: KEY },
        { name: 'admin', key: ADMIN_KEY, scopes: ['admin'] },
      ],
      // One transfer for each session: a copy inside the sandbox needs both at once.
      config: {
        sandbox: true,
        server: { threads: 2 },
        pools: { default: { maxSessions: 2, maxChannelsPerSession: 1, acquireTimeoutMs: 30_000 } },
      },
    });
  });

  after(async () => assert.equal(await gateway?.stop(), 0));

  test('each loop downloads what the other uploaded', async () => {
    const [one, two] = await clientsOfBoth(gateway);
    for (const [from, to] of [
      [one, two],
      [two, one],
    ] as const) {
      const content = randomBytes(300_000);
      const uploaded = await upload(from, 'hello.bin', content, { to: 'sandbox' });
      assert.equal(uploaded.status, 200, uploaded.text);
      const downloaded = await to.get('/api/download/sandbox', { query: { path: '/hello.bin' } });
      assert.equal(downloaded.status, 200, downloaded.text);
      assert.ok(downloaded.bytes.equals(content));
    }
    const listed = await gateway.api.get('/api/transfers');
    assert.equal(listed.json['total'], 4, 'one history');
    close(one, two);
  });

  test('copies that need all sessions at once are served, on both loops and beside uploads', async () => {
    const [one, two] = await clientsOfBoth(gateway);
    const content = randomBytes(100_000);
    assert.equal((await upload(one, 'original', content, { to: 'sandbox' })).status, 200);
    const copyTo = (client: ApiClient, name: string): Promise<ApiAnswer> =>
      client.post('/api/copy', {
        source_connection_id: 'sandbox',
        source_path: '/original',
        dest_connection_id: 'sandbox',
        dest_path: `/${name}`,
      });
    const names = ['a', 'b', 'c'];
    const answers = await Promise.all(
      [one, two].flatMap((client, loop) =>
        names.flatMap((name) => [
          copyTo(client, `copy-${loop}-${name}`),
          upload(client, `other-${loop}-${name}`, content, { to: 'sandbox' }),
        ]),
      ),
    );
    for (const answer of answers) assert.equal(answer.status, 200, answer.text);
    for (const loop of [0, 1]) {
      const read = await one.get('/api/download/sandbox', { query: { path: `/copy-${loop}-c` } });
      assert.ok(read.bytes.equals(content));
    }
    close(one, two);
  });

  test('a revoked key is refused by every loop within a second', async () => {
    const clients = await clientsOfBoth(gateway);
    const made = await gateway.api.post('/manage/api-keys', { name: 'lost' }, { key: ADMIN_KEY });
    assert.equal(made.status, 201, made.text);
    const { key, apiKey } = made.json as { key: string; apiKey: { id: string } };
    const statuses = async (): Promise<number[]> =>
      Promise.all(clients.map(async (client) => (await client.get('/api/me', { key })).status));
    // Both have it in memory now.
    assert.deepEqual(await statuses(), [200, 200]);
    const revoked = await gateway.api.send(`/manage/api-keys/${apiKey.id}`, { method: 'DELETE', key: ADMIN_KEY });
    const at = performance.now();
    assert.equal(revoked.status, 200, revoked.text);
    await eventually(async () => {
      const sentMs = performance.now() - at;
      const seen = await statuses();
      // Sorted by the time of sending: the duration of the answers depends on the machine.
      for (const status of seen) {
        assert.ok(status === 401 || (status === 200 && sentMs < 1_000), `${status}, sent after ${sentMs} ms`);
      }
      return seen.every((status) => status === 401);
    }, 'refused by both');
    close(...clients);
  });
});

test('the rate limit of a key applies to all loops together', async () => {
  const gateway = await startGateway({ config: { server: { threads: 2 }, limits: { requestsPerSecond: 5 } } });
  const [one, two] = await clientsOfBoth(gateway);
  let statuses: number[] = [];
  await eventually(async () => {
    const beganAt = performance.now();
    const first = await one.get('/api/me');
    if (!(first.headers['ratelimit']?.includes('r=4') ?? false)) return false;
    statuses = [];
    for (let index = 0; index < 4; index++) {
      for (const client of [one, two]) statuses.push((await client.get('/api/me')).status);
    }
    // Longer than the window; the last ones may belong to the next window.
    return performance.now() - beganAt < 1_000;
  }, 'a window and all requests within it');
  assert.deepEqual(statuses, [200, 200, 200, 200, 429, 429, 429, 429]);
  close(one, two);
  assert.equal(await gateway.stop(), 0);
});

test('SIGTERM: uploads that run in both loops finish, the gateway is not ready, and exits 0', async () => {
  const sshd = await startSshd();
  const gateway = await startGateway({ connections: [connectionTo(sshd)], config: { server: { threads: 2 } } });
  const [one, two] = await clientsOfBoth(gateway);
  const [probeOne, probeTwo] = await clientsOfBoth(gateway);
  const bodies = [held(), held()] as const;
  const answers = [upload(one, 'one', bodies[0].body), upload(two, 'two', bodies[1].body)];
  await eventually(
    async () =>
      (await gateway.api.get('/metrics', { key: '' })).text.includes(
        `ftg_pool_leases{host="127.0.0.1:${sshd.port}"} 2`,
      ),
    'both uploads hold a lease',
  );
  const stopped = gateway.stop();
  await eventually(() => gateway.output().includes('"msg":"stopping'), 'the signal');
  for (const probe of [probeOne, probeTwo]) {
    await eventually(
      async () => (await probe.get('/readyz').catch(() => undefined))?.status !== 200,
      'a loop that is not ready',
    );
  }
  for (const body of bodies) body.end();
  for (const answer of answers) assert.equal((await answer).status, 200);
  for (const name of ['one', 'two']) assert.equal(readFileSync(path.join(sshd.files, name), 'utf8'), 'az');
  assert.equal(await stopped, 0);
  close(one, two, probeOne, probeTwo);
  await sshd.stop();
});

test('SIGHUP: every loop shows the new certificate, and a broken one changes nothing', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-tls-'));
  const files = writeCertificate(folder, 'former');
  const { child, port, output } = await startSecure(folder, files);
  const names = async (): Promise<string[]> => {
    const seen = await Promise.all(Array.from({ length: 6 }, () => certificateName(port)));
    return [...new Set(seen)];
  };
  try {
    assert.deepEqual(await names(), ['former']);
    writeCertificate(folder, 'latter');
    child.kill('SIGHUP');
    await eventually(() => output().includes('TLS certificate read again'), 'the reload');
    assert.deepEqual(await names(), ['latter']);
    writeFileSync(files.certFile, 'nonsense');
    child.kill('SIGHUP');
    await eventually(() => output().includes('TLS certificate not read'), 'the refusal');
    assert.deepEqual(await names(), ['latter']);
  } finally {
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    rmSync(folder, { recursive: true });
  }
});

test('a port in use ends the start with one line and exit code 1', async () => {
  const gateway = await startGateway({ config: { server: { threads: 2 } } });
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-port-'));
  const child = run(folder, { server: { port: gateway.port, threads: 2 } });
  const [errors, exit] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  assert.deepEqual(exit, [1, null]);
  assert.match(errors, /^cannot start: server\.port: cannot listen on 127\.0\.0\.1:\d+: the port is in use.*\n$/);
  assert.equal(await gateway.stop(), 0);
  rmSync(folder, { recursive: true });
});

test('an error that escapes in one loop ends the process with exit code 1', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-crash-'));
  const crash = path.join(folder, 'crash.mjs');
  const flag = path.join(folder, 'now');
  // Loaded into every thread; the second one throws as soon as the file exists.
  writeFileSync(
    crash,
    `import { workerData } from 'node:worker_threads';
     import { existsSync } from 'node:fs';
     if (workerData?.thread === 2)
       setInterval(() => { if (existsSync(${JSON.stringify(flag)})) throw new Error('thread two is broken'); }, 20);`,
  );
  const gateway = await startGateway({
    config: { server: { threads: 2 } },
    env: { NODE_OPTIONS: `--import ${crash}` },
  });
  const exited = once(gateway.process, 'exit');
  writeFileSync(flag, '');
  assert.deepEqual(await exited, [1, null], gateway.output());
  // Its last lines may come after its end.
  const reason = /thread two is broken.*"msg":"an error escaped; the gateway stops"/;
  await eventually(() => reason.test(gateway.output()), 'the reason in the log');
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

test('a second signal ends the process at once and with its exit code, even if loops have open work', async () => {
  const silent = net.createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as net.AddressInfo;
  const gateway = await startGateway({
    config: { server: { threads: 2 } },
    connections: [
      { id: 'silent', name: 'Silent', type: 'sftp', host: '127.0.0.1', port, username: 'u', password: 'p' },
    ],
  });
  const exited = once(gateway.process, 'exit');
  const accepted = once(silent, 'connection');
  const waiting = gateway.api.get('/api/exists/silent', { query: { path: '/x' } }).catch(() => undefined);
  const resting = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const socket = net.connect(gateway.port, '127.0.0.1').on('error', () => undefined);
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(socket, 'data');
      return socket;
    }),
  );
  await accepted;
  gateway.process.kill('SIGTERM');
  await eventually(() => gateway.output().includes('"msg":"stopping'), 'the first signal is heard');
  gateway.process.kill('SIGTERM');
  assert.deepEqual(await exited, [143, null], gateway.output());
  await waiting;
  for (const socket of resting) socket.destroy();
  silent.close();
  await gateway.stop();
});

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

function run(folder: string, config: object) {
  const file = path.join(folder, 'gateway.yaml');
  const accounts = [{ email: 'test@example.com', plan: 'pro', apiKeys: [], connections: [] }];
  writeFileSync(file, JSON.stringify({ dataDir: path.join(folder, 'data'), accounts, ...config }));
  return spawn(process.execPath, [...START_ARGS, MAIN], {
    env: { ...process.env, GATEWAY_CONFIG: file },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function startSecure(folder: string, files: { readonly certFile: string; readonly keyFile: string }) {
  const child = run(folder, { server: { port: 0, threads: 2, tls: files } });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (written += chunk.toString()));
  }
  await eventually(() => written.includes('"msg":"listening"'), 'the start');
  return { child, port: Number(/"port":(\d+)/.exec(written)?.[1]), output: () => written };
}
