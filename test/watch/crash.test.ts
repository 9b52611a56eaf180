/**
 * Two nodes on one database are killed at random, and so are the database and the receiver, while files keep arriving.
 * A failure is a file that is never reported or reported under two event ids, an id whose body changes, a folder that
 * two nodes check at once, or a folder that no node checks any more.
 *
 * CRASH_TEST_SECONDS sets the duration (default 25).
 */
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { QueueWorker } from '../../src/storage/queue/worker.js';
import { openStorage } from '../../src/storage/open.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { makeChecksDue, testOptions, withSql } from '../storage/databases.js';
import { held } from '../support/reliability.js';
import { startGateway, type GatewayOptions, type TestGateway } from '../support/gateway.js';
import { startReceiver, type Receiver } from './support/receiver.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { startTogether } from '../support/together.js';

const STORM_MS = Number(process.env['CRASH_TEST_SECONDS'] ?? 25) * 1000;
const FOLDERS = 6;
const SETTLE_MS = 300;

interface Node {
  gateway: TestGateway;
  readonly dataDir: string;
}

suite('crashes', () => {
  test('the task of a dead node is taken over within 30 s, and by one node only', async () => {
    const postgres = await startPostgres();
    const [dying, living] = [
      await openStorage(testOptions(postgres.url)),
      await openStorage(testOptions(postgres.url)),
    ];
    const { queue } = dying.watching;
    await queue.send('watch-check', [{ key: 'folder', account: 'a', group: 'host', data: {} }]);
    assert.equal((await queue.fetch('watch-check', 5, { accounts: [], groups: [] })).length, 1);
    // From here on, the claim is not renewed, as if the node had been killed.
    const begin = Date.now();
    let runs = 0;
    const worker = new QueueWorker({
      claims: living.watching.queue,
      queue: 'watch-check',
      concurrency: 4,
      groupConcurrency: 2,
      run: async () => {
        runs += 1;
        // Longer than an unrenewed claim lasts: the task must not run a second time meanwhile.
        await delay(14_000);
        return 'done';
      },
      log: () => undefined,
    });
    worker.start();
    await eventually(() => runs > 0, 'the takeover');
    assert.ok(Date.now() - begin > 5000, 'a claim lasts longer than a short pause of its node');
    await eventually(() => worker.gauge.running === 0, 'the end of the run');
    assert.equal(runs, 1);
    await worker.stop(0);
    await dying.close();
    await living.close();
    await postgres.stop();
    held({
      area: 'Faults',
      what: 'the node that checks a watched folder dies in the middle',
      done: 'its claim is no longer renewed, while another node lives',
      held: 'taken over within 30 s, by only one node',
      tries: 1,
    });
  });

  test('nodes, database and receiver are killed at random: every file is reported, in one event', async (context) => {
    // The receiver ends and starts again on the same port, which no other program gets meanwhile.
    const port = await freePort();
    const [postgres, ssh, receiver] = await startTogether([startPostgres(), startSshd(), startReceiver(port)]);
    const storm = new Storm(postgres, ssh, receiver);
    try {
      await storm.begin();
      await storm.rage(STORM_MS);
      await storm.settle();
      await storm.judge();
      context.diagnostic(storm.summary());
      held({
        area: 'Faults',
        what: 'watched folders: nodes, database and receiver are killed (SIGKILL)',
        done: 'at random on two nodes, while files keep coming',
        held: 'every file is reported, under one event, whose body never changes; no folder is checked twice at once or forgotten',
        tries: storm.strikes,
      });
    } finally {
      await storm.end();
    }
  });
});

class Storm {
  readonly #postgres: PostgresServer;
  readonly #ssh: TestSshd;
  #receiver: Receiver;
  readonly #nodes: Node[] = [];
  readonly #folderIds: string[] = [];
  readonly #written: string[] = [];
  /**
   * Files whose first half stayed unchanged for the settling time because the machine delayed this process: reporting
   * them is right.
   */
  readonly #rested = new Set<string>();
  readonly #accepted = new Map<string, string>();
  /** The bodies of all attempts, by event id. */
  readonly #bodies = new Map<string, Set<string>>();
  /** The times of kills: work that ran then may run again on another node. */
  readonly #kills: number[] = [];
  readonly #masterKey = randomBytes(32).toString('hex');
  #tries = 0;
  #calmSince = 0;
  #isRaging = false;

  constructor(postgres: PostgresServer, ssh: TestSshd, receiver: Receiver) {
    this.#postgres = postgres;
    this.#ssh = ssh;
    this.#receiver = receiver;
  }

  async begin(): Promise<void> {
    this.#listen();
    this.#nodes.push(await this.#startNode(), await this.#startNode());
    await withSql(this.#postgres.url, (sql) =>
      sql.unsafe(`
        create table test_log (folder_id uuid, former uuid, check_id uuid, at timestamptz);
        create function log_check() returns trigger language plpgsql as $$
          begin insert into test_log values (new.id, old.check_id, new.check_id, clock_timestamp()); return new; end $$;
        create trigger log_check after update of check_id on watched_folders for each row
          when (old.check_id is distinct from new.check_id) execute function log_check();`),
    );
    for (let index = 0; index < FOLDERS; index++) {
      mkdirSync(join(this.#ssh.files, `f${index}`));
      const body = { connectionId: 'ssh', path: `/f${index}`, webhookUrl: this.#receiver.url, scheduleMinutes: 1 };
      const created = await this.#node(index % 2).gateway.api.post('/api/watched-folders', body);
      assert.equal(created.status, 201, created.text);
      this.#folderIds.push(created.json['id'] as string);
    }
    await eventually(async () => {
      const rows = await withSql(
        this.#postgres.url,
        (sql) => sql`select from watched_folders where baseline_at is null`,
      );
      return rows.count === 0;
    }, 'the baselines');
  }

  /** Writes files, makes folders due and kills, concurrently. */
  async rage(ms: number): Promise<void> {
    this.#isRaging = true;
    const side = [this.#write(), this.#makeDue()];
    for (const end = Date.now() + ms; Date.now() < end;) {
      await delay(randomInt(500, 3000));
      await this.#strike();
    }
    this.#isRaging = false;
    await Promise.all(side);
    this.#calmSince = Date.now();
  }

  async settle(): Promise<void> {
    const due = setInterval(() => void this.#pushDue(), 2000);
    try {
      await eventually(() => this.#missing().length === 0, 'every file at the receiver');
      await eventually(async () => {
        const rows = await withSql(
          this.#postgres.url,
          (sql) => sql`
            select from watched_folders where last_success_at is null or last_success_at < ${new Date(this.#calmSince)}`,
        );
        return rows.count === 0;
      }, 'a check of every folder after the storm');
    } catch (error) {
      throw new Error(
        `missing: ${this.#missing().join(' ')}\n${this.#nodes.map(({ gateway }) => gateway.output().slice(-3000)).join('\n')}`,
        {
          cause: error,
        },
      );
    } finally {
      clearInterval(due);
    }
  }

  async judge(): Promise<void> {
    for (const { gateway } of this.#nodes) assert.equal(gateway.process.exitCode, null, 'no node ended by itself');
    for (const [id, bodies] of this.#bodies) assert.equal(bodies.size, 1, `event ${id} was sent with two bodies`);
    const eventsOf = new Map<string, Set<string>>();
    for (const [id, [body]] of this.#bodies) {
      const { data } = JSON.parse(body ?? '') as { data: { files: { path: string; size: number }[] } };
      for (const { path, size } of data.files) {
        if (!this.#rested.has(path)) assert.equal(size, path.length, `${path} was reported before it was whole`);
        eventsOf.set(path, (eventsOf.get(path) ?? new Set()).add(id));
      }
    }
    for (const [path, ids] of eventsOf) assert.equal(ids.size, 1, `${path} was reported by ${ids.size} events`);
    const log = await withSql(
      this.#postgres.url,
      (sql) => sql<{ folder_id: string; former: string | null; check_id: string | null; at: Date }[]>`
        select * from test_log order by at`,
    );
    assert.ok(log.length > 2 * FOLDERS, 'folders were checked');
    for (const { folder_id: folder, former, check_id: check, at } of log) {
      if (former === null || check === null) continue;
      // The check before has no end. That is right only if its node, or the database, was killed meanwhile.
      const begun = log.find((row) => row.check_id === former)?.at.getTime() ?? 0;
      const isExplained = this.#kills.some((kill) => kill >= begun - 100 && kill <= at.getTime());
      assert.ok(isExplained, `folder ${folder} was checked by two nodes at once at ${at.toISOString()}`);
    }
  }

  summary(): string {
    return `${this.#written.length} files, ${this.#bodies.size} events in ${this.#tries} tries, ${this.#kills.length} kills`;
  }

  async end(): Promise<void> {
    this.#isRaging = false;
    for (const { gateway } of this.#nodes) await gateway.stop();
    for (const { dataDir } of this.#nodes) rmSync(dataDir, { recursive: true, force: true });
    await this.#receiver.close();
    await this.#ssh.stop();
    await this.#postgres.stop();
  }

  #node(index: number): Node {
    const node = this.#nodes[index];
    if (node === undefined) throw new Error(`no node ${index}`);
    return node;
  }

  async #startNode(dataDir = mkdtempSync(join(tmpdir(), 'ftg-crash-'))): Promise<Node> {
    const { port, username, clientKeyFile, files } = this.#ssh;
    const options: GatewayOptions = {
      dataDir,
      env: { GATEWAY_MASTER_KEY: this.#masterKey },
      connections: [
        {
          id: 'ssh',
          name: 'SSH',
          type: 'sftp',
          host: '127.0.0.1',
          port,
          username,
          privateKeyFile: clientKeyFile,
          rootPath: files,
        },
      ],
      config: {
        database: { url: this.#postgres.url, connectTimeoutMs: 30_000 },
        server: { drainSeconds: 1 },
        watcher: { settleMs: SETTLE_MS },
        webhooks: { retryMs: Array.from({ length: 100 }, () => 300), timeoutMs: 1000 },
        network: { webhooks: { allow: ['127.0.0.1/32'] } },
      },
    };
    return { gateway: await startGateway(options), dataDir };
  }

  #listen(): void {
    this.#receiver.respond = ({ headers, text, body }, response) => {
      this.#tries += 1;
      const id = String(headers['webhook-id']);
      this.#bodies.set(id, (this.#bodies.get(id) ?? new Set()).add(text));
      const luck = this.#isRaging ? randomInt(4) : 0;
      if (luck === 1) response.writeHead(500).end();
      else if (luck === 2) response.destroy();
      else if (luck === 3 && randomInt(4) === 0) setTimeout(() => response.destroy(), 2000);
      else {
        for (const { path } of body.data.files) this.#accepted.set(path, id);
        response.writeHead(204).end();
      }
    };
  }

  /** The number of kills. */
  get strikes(): number {
    return this.#kills.length / 2;
  }

  #missing(): string[] {
    return this.#written.filter((path) => !this.#accepted.has(path));
  }

  async #write(): Promise<void> {
    for (let index = 0; this.#isRaging; index++) {
      const path = `/f${index % FOLDERS}/file-${index}`;
      // The content is as long as the path, so that half a file is noticed.
      const file = this.#ssh.files + path;
      const began = performance.now();
      writeFileSync(file, path.slice(0, 4));
      await delay(20);
      writeFileSync(file, path);
      if (performance.now() - began >= SETTLE_MS) this.#rested.add(path);
      this.#written.push(path);
      await delay(60);
    }
  }

  /** Regular checks run every minute; here, they become due every second. */
  async #makeDue(): Promise<void> {
    while (this.#isRaging) {
      await this.#pushDue();
      await delay(1000);
    }
  }

  async #pushDue(): Promise<void> {
    // If the connection breaks during a query for array types, this process would end (see Database.openPool).
    const sql = postgres(this.#postgres.url, { max: 1, fetch_types: false, onnotice: () => undefined });
    await makeChecksDue(sql).catch(() => undefined);
    await sql.end({ timeout: 1 }).catch(() => undefined);
  }

  async #strike(): Promise<void> {
    const what = randomInt(6);
    this.#kills.push(Date.now());
    if (what === 0) {
      await this.#postgres.kill();
      await delay(randomInt(2000));
      await this.#postgres.restart();
    } else if (what === 1) {
      const { port } = this.#receiver;
      await this.#receiver.close();
      await delay(randomInt(1000));
      this.#receiver = await startReceiver(port);
      this.#listen();
    } else {
      const index = randomInt(2);
      const { gateway, dataDir } = this.#node(index);
      assert.equal(gateway.process.exitCode, null, `a node ended by itself:\n${gateway.output().slice(-3000)}`);
      await gateway.kill();
      await gateway.stop();
      if (randomInt(2) === 0) await delay(randomInt(3000));
      this.#nodes[index] = await this.#startNode(dataDir);
    }
    this.#kills.push(Date.now());
  }
}
