/** The gateway itself in trouble: stopped under load, its database away or full, no descriptor left. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { uploadRaw, type HistoryItem } from '../api/support.js';
import { RawClient } from '../http/support/raw-client.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { KEY, type ApiAnswer, type ApiClient, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import {
  contentOf,
  descriptors,
  KIB,
  leavesNothing,
  nothingPending,
  overRemotes,
  PROTOCOLS,
  startRemotes,
  answerText,
  warmUp,
  type ProtocolName,
} from './rig.js';
import { eventually } from '../support/eventually.js';

const AWAY_MS = 20_000;
const DRAIN_SECONDS = 3;

let remotes: Awaited<ReturnType<typeof startRemotes>>;
before(async () => {
  remotes = await startRemotes();
});
after(() => remotes?.stop());

interface Sent {
  readonly connection: ProtocolName;
  readonly file: string;
  readonly content: Buffer;
  readonly at: number;
  answer: ApiAnswer | undefined;
}

/** Uploads on all connections, one after another by each of `writers`, until `signal`. */
async function load(
  api: ApiClient,
  folder: string,
  writers: number,
  signal: AbortSignal,
  sent: Sent[] = [],
): Promise<Sent[]> {
  const write = async (connection: ProtocolName): Promise<void> => {
    while (!signal.aborted) {
      const file = `${folder}/${sent.length}.bin`;
      const item: Sent = {
        connection,
        file,
        content: contentOf(file, 64 * KIB),
        at: performance.now(),
        answer: undefined,
      };
      sent.push(item);
      const query = { path: folder, filename: path.posix.basename(file) };
      try {
        item.answer = await uploadRaw(api, connection, query, item.content);
      } catch {
        // Cut, or refused because the gateway has ended.
      }
      if (item.answer?.status !== 200) await delay(50);
    }
  };
  await Promise.all(PROTOCOLS.flatMap((protocol) => Array.from({ length: writers }, () => write(protocol))));
  return sent;
}

/** Every acknowledged upload is complete on the disk and a success; nothing else contradicts the disk. */
async function agree(api: ApiClient, folder: string, sent: readonly Sent[]): Promise<void> {
  const items = new Map<string, HistoryItem>();
  for (let offset = 0; ; offset += 100) {
    const { json } = await api.get('/api/transfers', { query: { limit: '100', offset: String(offset) } });
    const page = json['transfers'] as HistoryItem[];
    for (const item of page) items.set(`${item.connectionId}${item.path}`, item);
    if (page.length < 100) break;
  }
  for (const protocol of PROTOCOLS) {
    const { disk } = remotes[protocol].server;
    let files: string[] = [];
    // Files that could not be removed in time when their transfer was cut are removed later, by the next process at the
    // latest.
    await eventually(async () => {
      files = (await disk.files('/')).filter((file) => file.startsWith(`${folder}/`));
      return !files.some((file) => path.posix.basename(file).startsWith('.ftg-'));
    }, `the leftovers are gone: ${protocol}`);
    const standing = new Set(files);
    for (const { connection, file, content, answer } of sent) {
      if (connection !== protocol) continue;
      const item = items.get(connection + file);
      const where = `${connection}${file}: ${answer === undefined ? 'no answer' : answerText(answer)}, ${item?.status}`;
      if (standing.has(file)) assert.ok((await disk.read(file)).equals(content), `${where}: not whole`);
      if (answer?.status === 200) assert.equal(item?.status, 'success', where);
      if (item?.status === 'success') assert.ok(standing.has(file), `${where}: no such file`);
      standing.delete(file);
    }
    assert.deepEqual([...standing], [], `${protocol} holds files that were not sent`);
  }
}

describe('the gateway in trouble', { concurrency: 3 }, () => {
  test('SIGTERM under load: running work ends well or is recorded as failed, and the process exits with 0 in time', async (t) => {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'ftg-stop-'));
    const options = { dataDir, config: { server: { drainSeconds: DRAIN_SECONDS } } };
    let gateway = await overRemotes(remotes, options);
    t.after(async () => {
      await gateway.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const sent: Sent[] = [];
    const stop = new AbortController();
    t.after(() => stop.abort());
    const loading = load(gateway.api, '/stop', 3, stop.signal, sent);
    // One that does not end unless it is ended: its body is stalled.
    const still = await RawClient.open(gateway.port);
    still.send(
      `POST /api/upload/sftp?path=/stop&filename=still.bin HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n`,
      'Content-Type: application/octet-stream\r\nContent-Length: 1000\r\n\r\nhalf',
    );
    await eventually(() => sent.filter(({ answer }) => answer?.status === 200).length > 5, 'uploads run');
    const started = performance.now();
    // Its connection ends with the cut; then the process must close its database and its files.
    const cutAfter = still.closed.then(() => performance.now() - started);
    const code = await gateway.stop();
    const took = await cutAfter;
    stop.abort();
    await loading;
    still.socket.destroy();
    assert.equal(code, 0);
    assert.ok(took > DRAIN_SECONDS * 1_000 - 100, `${took} ms`);

    gateway = await overRemotes(remotes, options);
    assert.ok(await nothingPending(gateway));
    const { json } = await gateway.api.get('/api/transfers', { query: { limit: '100', status: 'failed' } });
    const cut = (json['transfers'] as HistoryItem[]).find(({ filename }) => filename === 'still.bin');
    assert.match(cut?.errorMessage ?? '', /stop|drain/);
    await agree(gateway.api, '/stop', sent);
    held({
      area: 'Faults',
      what: 'SIGTERM',
      done: 'under uploads on SFTP, FTP and S3, one of them with a body that has stopped',
      held: 'exit code 0 within drainSeconds and a little; what ran ended well or is failed; acknowledged uploads are whole',
      tries: sent.length,
    });
    await gateway.stop();
  });

  test('SIGTERM loses no row that is written after its answer', async (t) => {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'ftg-stop-'));
    let gateway = await overRemotes(remotes, { dataDir });
    t.after(async () => {
      await gateway.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const look = (): Promise<ApiAnswer> => gateway.api.get('/api/exists/sftp', { query: { path: '/nothing' } });
    const answers = await Promise.all(Array.from({ length: 50 }, look));
    assert.ok(answers.every(({ status }) => status === 200));
    assert.equal(await gateway.stop(), 0);
    gateway = await overRemotes(remotes, { dataDir });
    const { json } = await gateway.api.get('/api/transfers', { query: { type: 'exists', limit: '1' } });
    assert.equal(json['total'], 50);
  });

  describe('a PostgreSQL server', () => {
    let postgres: PostgresServer;
    let gateway: TestGateway;

    before(async () => {
      postgres = await startPostgres();
      gateway = await overRemotes(remotes, { config: { database: { url: postgres.url } } });
    });
    after(async () => {
      await gateway?.stop();
      await postgres?.stop();
    });

    test('that is away under load and comes back: 503 with Retry-After, nothing acknowledged is lost', async (t) => {
      const stop = new AbortController();
      t.after(() => stop.abort());
      const loading = load(gateway.api, '/away', 2, stop.signal);
      await delay(1_000);
      const gone = performance.now();
      await postgres.kill();
      await eventually(async () => (await gateway.api.get('/readyz')).status === 503, 'readiness shows it');
      assert.equal((await gateway.api.get('/healthz')).status, 200);
      await delay(AWAY_MS - (performance.now() - gone));
      const back = performance.now();
      await postgres.restart();
      await eventually(async () => (await gateway.api.get('/readyz')).status === 200, 'ready again');
      await delay(1_500);
      stop.abort();
      const sent = await loading;

      const refused = sent.filter(({ answer }) => answer?.status !== 200);
      assert.ok(refused.length > 0);
      for (const { answer, file } of refused) {
        assert.equal(answer?.status, 503, `${file}: ${answer === undefined ? 'no answer' : answerText(answer)}`);
        // Work that ran when the database went away may be done: it must not be repeated.
        if (answer?.headers['x-error-code'] === 'outcome_unrecorded') {
          assert.equal(answer.headers['retry-after'], undefined);
          continue;
        }
        assert.equal(answer?.headers['x-error-code'], 'database_away');
        assert.match(answer?.headers['retry-after'] ?? '', /^[1-9]\d*$/);
      }
      assert.ok(refused.some(({ answer }) => answer?.headers['x-error-code'] === 'database_away'));
      assert.ok(
        sent.some(({ answer, at }) => answer?.status === 200 && at > back),
        'it works again, without a restart',
      );
      await eventually(() => nothingPending(gateway), 'every item has its end');
      await agree(gateway.api, '/away', sent);
      held({
        area: 'Faults',
        what: 'the database is away for 20 s',
        done: 'PostgreSQL killed under uploads on SFTP, FTP and S3, and started again',
        held: 'readiness shows it, 503 meanwhile, with Retry-After where nothing was begun, nothing acknowledged is lost, no restart needed',
        tries: 1,
      });
    });
  });

  describe('no descriptor is left', () => {
    let gateway: TestGateway;
    let atRest: number;

    before(async () => {
      gateway = await overRemotes(remotes, { config: { pools: { default: { idleTimeoutMs: 1_000 } } } });
      atRest = await warmUp(gateway);
    });
    after(() => gateway?.stop());

    test('clients get an error, and everything works once there are some', async () => {
      const limit = (count: string): void =>
        void execFileSync('prlimit', ['--pid', String(gateway.pid), `--nofile=${count}:`]);
      const before = execFileSync('prlimit', ['--pid', String(gateway.pid), '--nofile', '--noheadings', '-o', 'SOFT'], {
        encoding: 'utf8',
      }).trim();
      // Clients first, so that descriptors are missing for the remotes.
      const clients = await Promise.all(Array.from({ length: 6 }, () => RawClient.open(gateway.port)));
      await eventually(() => descriptors(gateway) >= atRest + clients.length, 'the clients are in');
      limit(String(descriptors(gateway) + 1));
      try {
        const upload = (protocol: ProtocolName, number: number): string =>
          [
            `POST /api/upload/${protocol}?path=/descriptors&filename=${number}.bin HTTP/1.1`,
            'Host: x',
            `Authorization: Bearer ${KEY}`,
            'Content-Type: application/octet-stream',
            'Content-Length: 5',
            '\r\nhello',
          ].join('\r\n');
        const statuses: number[] = [];
        await Promise.all(
          clients.map(async (client, number) => {
            client.send(upload(PROTOCOLS[number % 3] ?? 'sftp', number));
            const answer = await client.answer();
            statuses.push(answer.status);
            if (answer.status === 200) return;
            assert.equal(answer.status, 503, answer.body.toString());
            assert.equal(answer.field('x-error-code'), 'overloaded', answer.body.toString());
            assert.match(answer.body.toString(), /descriptors/);
            assert.match(answer.field('retry-after') ?? '', /^[1-9]\d*$/);
          }),
        );
        assert.ok(statuses.includes(503), statuses.join());
      } finally {
        limit(before);
        for (const { socket } of clients) socket.destroy();
      }
      for (const protocol of PROTOCOLS) {
        const answer = await uploadRaw(gateway.api, protocol, { path: '/descriptors', filename: 'after' }, 'good');
        assert.equal(answer.status, 200, answerText(answer));
      }
      await leavesNothing(gateway, atRest);
      held({
        area: 'Faults',
        what: 'no file descriptor is left',
        done: 'the limit lowered under a running gateway, then uploads on SFTP, FTP and S3',
        held: '503 overloaded with Retry-After; all is well once there are some',
        tries: clients.length,
      });
    });
  });

  describe('the disk of the embedded database is full', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'ftg-full-'));
    const disk = path.join(folder, 'disk');
    const filler = path.join(disk, 'filler');
    let gateway: TestGateway;

    before(async () => {
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=0755', 'tmpfs', disk]);
      gateway = await overRemotes(remotes, { dataDir: path.join(disk, 'data') });
    });
    after(async () => {
      await gateway?.stop();
      execFileSync('umount', [disk]);
      rmSync(folder, { recursive: true });
    });

    test('503 with the reason and Retry-After, and no restart once there is room', async () => {
      assert.equal((await uploadRaw(gateway.api, 'sftp', { path: '/full', filename: 'before' }, 'x')).status, 200);
      const handle = await open(filler, 'w');
      const { bavail, bsize } = statfsSync(disk);
      await handle.write(Buffer.alloc(bavail * bsize)).catch(() => undefined);
      await handle.close();
      let refusal: ApiAnswer | undefined;
      // Nothing is known before the first write is refused; work that was done then, and not recorded, must not be
      // repeated.
      const isNews = ({ status, headers }: ApiAnswer): boolean =>
        status !== 200 && headers['x-error-code'] !== 'outcome_unrecorded';
      for (let number = 0; number < 3_000 && refusal === undefined; number += 20) {
        const answers = await Promise.all(
          Array.from({ length: 20 }, () =>
            gateway.api.get('/api/exists/ftp', { query: { path: `/${'x'.repeat(200)}/${'y'.repeat(1_800)}` } }),
          ),
        );
        refusal = answers.find(isNews);
      }
      assert.equal(refusal?.status, 503, refusal === undefined ? 'never refused' : answerText(refusal));
      assert.equal(refusal?.headers['x-error-code'], 'database_away');
      assert.match(refusal?.headers['retry-after'] ?? '', /^[1-9]\d*$/);
      rmSync(filler);
      await eventually(async () => {
        const answer = await uploadRaw(gateway.api, 'sftp', { path: '/full', filename: 'later' }, 'good');
        return answer.status === 200;
      }, 'uploads are taken again');
      await eventually(() => nothingPending(gateway), 'every item has its end');
      assert.equal((await remotes.sftp.server.disk.read('/full/later')).toString(), 'good');
      held({
        area: 'Faults',
        what: "the embedded database's disk is full",
        done: 'a file system of 160 MB filled to the last byte, then operations until the database has no room',
        held: '503 database_away with Retry-After; taken again once there is room, without a restart',
        tries: 1,
      });
    });
  });

  describe('the clock jumps', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'ftg-clock-'));
    const file = path.join(folder, 'offset');
    let gateway: TestGateway;
    let atRest: number;

    before(async () => {
      const clock = new URL('jumping-clock.js', import.meta.url).href;
      gateway = await overRemotes(remotes, {
        config: { pools: { default: { idleTimeoutMs: 2_000, stallTimeoutMs: 60_000 } } },
        env: { NODE_OPTIONS: `--import=${clock}`, CLOCK_OFFSET_FILE: file },
      });
      atRest = await warmUp(gateway);
    });
    after(async () => {
      await gateway?.stop();
      rmSync(folder, { recursive: true });
    });

    test('by a day in either direction under load: no transfer fails, no session is left', async (t) => {
      const stop = new AbortController();
      t.after(() => stop.abort());
      const loading = load(gateway.api, '/clock', 2, stop.signal);
      for (const days of [1, -1, 0]) {
        writeFileSync(file, String(days * 86_400_000));
        gateway.process.kill('SIGUSR2');
        const isThere = async (): Promise<boolean> => {
          const { headers } = await gateway.api.get('/api/exists/sftp', { query: { path: '/' } });
          const { json } = await gateway.api.get('/api/transfers', { query: { limit: '1' } });
          const [item] = json['transfers'] as { readonly createdAt: string }[];
          const ahead = Date.parse(item?.createdAt ?? '') - Date.now();
          return headers['x-error-code'] === undefined && (days < 1 || ahead > 43_200_000);
        };
        await eventually(isThere, `the clock is ${days} days ahead`);
        await delay(500);
      }
      stop.abort();
      const sent = await loading;
      for (const { answer } of sent)
        assert.equal(answer?.status, 200, answer === undefined ? 'cut' : answerText(answer));
      assert.ok(await nothingPending(gateway));
      await agree(gateway.api, '/clock', sent);
      writeFileSync(file, String(-86_400_000));
      gateway.process.kill('SIGUSR2');
      await leavesNothing(gateway, atRest);
      held({
        area: 'Faults',
        what: "the gateway's clock jumps",
        done: 'a day ahead, two days back and one ahead under uploads on SFTP, FTP and S3',
        held: 'no transfer fails, the history agrees with the disks, idle sessions are closed in time',
        tries: sent.length,
      });
    });
  });
});
