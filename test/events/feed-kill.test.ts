/**
 * Receiver, gateways and database are killed at random, while operations fail and readers follow. A failure is a number
 * that is missing in the feed, or that a reader sees twice or out of order; a webhook that misses an event or gets
 * other bytes than the feed shows; or a missing event of an operation that was answered.
 *
 * FEED_KILL_SECONDS sets the duration (default 25; the documented run took ten minutes).
 */
import assert from 'node:assert/strict';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { FileTransferGateway } from '../../src/client/index.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { freePort } from '../support/ports.js';
import { held } from '../support/reliability.js';
import { startTogether } from '../support/together.js';
import { type Receiver, startReceiver } from '../watch/support/receiver.js';

const STORM_MS = Number(process.env['FEED_KILL_SECONDS'] ?? 25) * 1000;
const WRITERS = 4;
/** Lines at the end of a node's output that a report shows. */
const TAIL_LINES = 15;
const HOOKS = ['/one', '/two'] as const;
const ALL_SCOPES = ['read', 'write', 'exec', 'watch'];

interface Event {
  readonly sequence: number;
  readonly id: string;
  readonly previousId: string | null;
  readonly data: { readonly transfer?: { readonly requestId: string } };
}

class Storm {
  readonly #postgres: PostgresServer;
  readonly #ssh: TestSshd;
  #receiver: Receiver;
  readonly #nodes: TestGateway[] = [];
  readonly #dataDirs: string[] = [];
  readonly #acked = new Set<string>();
  /** The events that followers saw, in their order. */
  readonly #followed: number[][] = [[], []];
  /** Every received body, by receiver and sequence. */
  readonly #bodies = new Map<string, Map<number, Set<string>>>(HOOKS.map((path) => [path, new Map()]));
  readonly #taken = new Map<string, Set<number>>(HOOKS.map((path) => [path, new Set()]));
  readonly #following = new AbortController();
  readonly #masterKey = randomBytes(32).toString('hex');
  /** Requests that a living node did not answer. */
  readonly #unanswered: string[] = [];
  #asked = 0;
  strikes = 0;
  #isRaging = true;
  #phase = 'begin';
  #ending: Promise<void> | undefined;

  constructor(postgres: PostgresServer, ssh: TestSshd, receiver: Receiver) {
    this.#postgres = postgres;
    this.#ssh = ssh;
    this.#receiver = receiver;
  }

  async begin(): Promise<void> {
    this.#listen();
    for (const index of [0, 1]) {
      this.#dataDirs.push(mkdtempSync(join(tmpdir(), 'ftg-feed-')));
      this.#nodes.push(await this.#startNode(index));
    }
    for (const path of HOOKS) {
      const url = `http://127.0.0.1:${this.#receiver.port}${path}`;
      const made = await this.#node(0).api.post('/api/webhooks', { url, events: ['transfer.failed'] });
      assert.equal(made.status, 201, made.text);
    }
  }

  async rage(ms: number): Promise<void> {
    this.#phase = 'rage';
    const sides = [
      ...Array.from({ length: WRITERS }, (_, index) => this.#write(index)),
      ...this.#followed.map((seen, index) => this.#follow(seen, index)),
    ];
    for (const end = Date.now() + ms; this.#isRaging && Date.now() < end;) {
      await delay(randomInt(300, 2500));
      await this.#strike();
    }
    this.#isRaging = false;
    this.#phase = 'the last requests';
    await Promise.all(sides.slice(0, WRITERS));
  }

  /** All written events are numbered, delivered and followed. */
  async settle(): Promise<number> {
    this.#phase = 'settle: nothing is to come';
    await this.#untilNothingIsToCome();
    this.#phase = 'settle: everything is delivered';
    let last = 0;
    await eventually(async () => {
      const { json } = await this.#node(0).api.get('/api/events', { query: { limit: '1' } });
      last = json['last'] as number;
      const counts = [...this.#taken.values()].map(({ size }) => size);
      const seen = this.#followed.map((numbers) => numbers.length);
      return last >= this.#acked.size && [...counts, ...seen].every((count) => count === last);
    }, 'everything is sent').catch((error: unknown) => {
      const counts = [...this.#taken].map(([path, { size }]) => `${path} ${size}`);
      const seen = this.#followed.map((numbers) => numbers.length);
      throw new Error(
        `last ${last}, ${this.#acked.size} acked, taken ${counts.join(', ')}, followed ${seen.join(', ')}`,
        {
          cause: error,
        },
      );
    });
    this.#following.abort(new Error('enough'));
    return last;
  }

  /** Operations of dead nodes have ended, and all written events are numbered. */
  async #untilNothingIsToCome(): Promise<void> {
    const sql = postgres(this.#postgres.url, { max: 1 });
    try {
      await eventually(async () => {
        const [row] = await sql<{ left: number }[]>`
            select (select count(*) from transfers where status = 'pending')::int +
              (select count(*) from events where sequence is null)::int as left`;
        return row?.left === 0;
      }, 'nothing is open any more');
    } finally {
      await sql.end();
    }
  }

  async judge(last: number): Promise<void> {
    this.#phase = 'judge';
    assert.deepEqual(this.#unanswered, [], 'a living node did not answer');
    for (const { process } of this.#nodes) assert.equal(process.exitCode, null, 'no node ended by itself');
    const whole = Array.from({ length: last }, (_, index) => index + 1);
    const feed = await this.#feed(last);
    assert.deepEqual([...feed.keys()], whole, 'the feed has holes');
    const requests: string[] = [];
    let previousId: string | null = null;
    for (const text of feed.values()) {
      const event = JSON.parse(text) as Event;
      assert.equal(event.previousId, previousId, `the chain breaks at ${event.sequence}`);
      previousId = event.id;
      if (event.data.transfer !== undefined) requests.push(event.data.transfer.requestId);
    }
    assert.equal(new Set(requests).size, requests.length, 'an operation is reported twice');
    const inRequests = new Set(requests);
    assert.deepEqual(
      [...this.#acked].filter((id) => !inRequests.has(id)),
      [],
      'operations that were answered are not reported',
    );
    for (const seen of this.#followed) assert.deepEqual(seen, whole, 'a follower saw another sequence');
    for (const [path, bodies] of this.#bodies) {
      assert.deepEqual(
        [...bodies.keys()].sort((one, other) => one - other),
        whole,
        `${path} misses events`,
      );
      for (const [sequence, texts] of bodies) {
        assert.deepEqual([...texts], [feed.get(sequence)], `${path} was sent other bytes of ${sequence}`);
      }
    }
  }

  summary(last: number): string {
    return `${last} events of ${this.#asked} requests, ${this.#acked.size} answered, ${this.strikes} kills`;
  }

  /** The phase, and the last words of each node. */
  report(): string {
    const nodes = this.#nodes.map((node, index) => {
      const tail = node.output().split('\n').slice(-TAIL_LINES).join('\n');
      const { exitCode, signalCode } = node.process;
      return `node ${index} at ${node.port}, exit ${exitCode ?? signalCode ?? 'none'}:\n${tail}`;
    });
    return [`phase: ${this.#phase}; ${this.#asked} asked, ${this.strikes} kills`, ...nodes].join('\n');
  }

  /** Also ends what waits for a node: its requests fail. */
  end(): Promise<void> {
    return (this.#ending ??= this.#end());
  }

  async #end(): Promise<void> {
    this.#isRaging = false;
    this.#following.abort(new Error('enough'));
    const stopped = await Promise.allSettled(this.#nodes.map((node) => node.stop()));
    for (const folder of this.#dataDirs) rmSync(folder, { recursive: true, force: true });
    await Promise.all([this.#receiver.close(), this.#ssh.stop()]);
    await this.#postgres.stop();
    for (const one of stopped) if (one.status === 'rejected') throw one.reason;
  }

  #node(index: number): TestGateway {
    const node = this.#nodes[index];
    if (node === undefined) throw new Error(`no node ${index}`);
    return node;
  }

  #startNode(index: number): Promise<TestGateway> {
    const { port, username, clientKeyFile: privateKeyFile } = this.#ssh;
    return startGateway({
      dataDir: this.#dataDirs[index] ?? '',
      env: { GATEWAY_MASTER_KEY: this.#masterKey },
      apiKeys: [{ name: 'test', key: KEY, scopes: ALL_SCOPES }],
      connections: [{ id: 'ssh', name: 'SSH', type: 'sftp', host: '127.0.0.1', port, username, privateKeyFile }],
      config: {
        database: { url: this.#postgres.url, connectTimeoutMs: 30_000 },
        server: { drainSeconds: 1 },
        webhooks: { retryMs: Array.from({ length: 1000 }, () => 300), timeoutMs: 1000 },
        network: { webhooks: { allow: ['127.0.0.1/32'] } },
      },
    });
  }

  #listen(): void {
    this.#receiver.respond = ({ path, text, headers }, response) => {
      const { sequence, id } = JSON.parse(text) as Event;
      assert.equal(headers['webhook-id'], id);
      const bodies = this.#bodies.get(path);
      bodies?.set(sequence, (bodies.get(sequence) ?? new Set()).add(text));
      const luck = this.#isRaging ? randomInt(5) : 0;
      if (luck === 1) response.writeHead(500).end();
      else if (luck === 2) response.destroy();
      else {
        this.#taken.get(path)?.add(sequence);
        response.writeHead(204).end();
      }
    };
  }

  /** Operations that fail on a reachable server; each answered one must have its event. */
  async #write(index: number): Promise<void> {
    while (this.#isRaging) {
      const node = this.#node(index % 2);
      // Another program may have its port by now.
      if (!isAlive(node)) {
        await delay(100);
        continue;
      }
      const id = randomUUID();
      this.#asked += 1;
      const signal = AbortSignal.timeout(PATIENCE_MS);
      try {
        const answer = await node.api.post(
          '/api/exec/ssh',
          { command: 'sleep 5', timeout: 1 },
          { headers: { 'X-Request-Id': id }, signal },
        );
        if (answer.status === 504 && answer.headers['x-error-code'] === 'command_timeout') this.#acked.add(id);
        else await delay(100);
      } catch {
        if (signal.aborted && isAlive(node)) this.#unanswered.push(`${id}:\n${node.output().slice(-3000)}`);
        await delay(100);
      }
    }
  }

  /** Through the typed client, from any living node. */
  async #follow(seen: number[], index: number): Promise<void> {
    const client = new FileTransferGateway({
      baseUrl: 'http://nodes',
      apiKey: KEY,
      retry: { attempts: 1 },
      fetch: (input, init) => {
        const { pathname, search } = new URL(input);
        const node = this.#node(randomInt(2));
        if (!isAlive(node)) return Promise.reject(new TypeError('the node is down'));
        return fetch(node.url + pathname + search, init);
      },
    });
    const { signal } = this.#following;
    // One follower never ends; the other one starts again after the last event that it has seen.
    try {
      for (;;) {
        const after = seen.at(-1);
        const options = { ...(after === undefined ? {} : { after }), follow: index === 0, limit: 20, signal };
        for await (const { sequence } of client.events(options)) seen.push(sequence);
        await delay(50, undefined, { signal });
      }
    } catch (error) {
      if (signal.aborted) return;
      if (index !== 0) return this.#follow(seen, index);
      throw error;
    }
  }

  /** The bytes of each event, as a stream sends them. */
  async #feed(last: number): Promise<Map<number, string>> {
    const found = new Map<number, string>();
    const headers = { Authorization: `Bearer ${KEY}`, Accept: 'text/event-stream' };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const request = http.get(`${this.#node(1).url}/api/events`, { headers, signal });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    let text = '';
    for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [id, , data] = text.slice(0, end).split('\n');
        if (data !== undefined) found.set(Number(id?.slice('id: '.length)), data.slice('data: '.length));
        text = text.slice(end + 2);
      }
      if (found.size >= last) break;
    }
    request.destroy();
    return found;
  }

  async #strike(): Promise<void> {
    this.strikes += 1;
    const what = randomInt(6);
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
      const node = this.#node(index);
      await node.kill();
      node.api.close();
      const next = await this.#startNode(index);
      this.#nodes[index] = next;
      // It was started while the storm was ended.
      if (this.#ending !== undefined) await next.stop();
    }
  }
}

function isAlive({ process }: TestGateway): boolean {
  return process.exitCode === null && process.signalCode === null;
}

test(
  'webhooks and feed together have every number, with the same bytes',
  { timeout: STORM_MS + 300_000 },
  async (context) => {
    // The receiver ends and starts again on the same port, which no other program gets meanwhile.
    const port = await freePort();
    const [postgres, ssh, receiver] = await startTogether([startPostgres(), startSshd(), startReceiver(port)]);
    const storm = new Storm(postgres, ssh, receiver);
    const giveUp = (): void => {
      console.error(`the storm does not end; ${storm.report()}`);
      storm.end().catch(() => undefined);
    };
    context.signal.addEventListener('abort', giveUp);
    try {
      await storm.begin();
      await storm.rage(STORM_MS);
      const last = await storm.settle();
      await storm.judge(last);
      context.diagnostic(storm.summary(last));
      held({
        area: 'Faults',
        what: 'events: gateways, database and receiver are killed (SIGKILL)',
        done: 'at random on two nodes, while operations fail, two webhooks receive events and two readers follow the feed',
        held: 'the feed and each webhook have every number, byte for byte the same; a follower sees each once, in order; what was acknowledged is delivered, and once',
        tries: storm.strikes,
      });
    } finally {
      context.signal.removeEventListener('abort', giveUp);
      await storm.end();
    }
  },
);
