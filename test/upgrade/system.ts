/** Three nodes behind a load balancer, on one PostgreSQL server, with an SFTP server and a receiver of webhooks. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { startSystemServer, TEST_KEY, type TestServer } from '../storage/databases.js';
import { type ApiAnswer, type ApiClient, KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { type LoadBalancer, startLoadBalancer } from '../support/load-balancer.js';
import { freePort } from '../support/ports.js';
import { startTogether } from '../support/together.js';
import { type Receiver, startReceiver } from '../watch/support/receiver.js';
import type { Acknowledged } from './checks.js';

/** They are more than the receiver is down, and few enough to end soon. */
const RETRY_MS = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 60_000, 60_000];
/** Long enough that a node is stopped while it waits for answers. */
const ANSWER_MS = 50;
const FILES_PER_EVENT = 3;
/** A line of the log that reports no error. */
const HARMLESS = /^\{"level":"(debug|info|warn)"/;
const PAGE = 100;

export const SERVER = 'files';
/** A connection to a server that does not exist. */
export const BROKEN = 'broken';
/** A receiver that takes nothing until it is repaired. */
export const DEAD_RECEIVER = '/dead';

export class System {
  /** What the receiver has answered with 2xx. */
  readonly acknowledged: Acknowledged[] = [];
  refused = 0;
  /** Whether the receiver that took nothing has been repaired. */
  isRepaired = false;
  balancer!: LoadBalancer;
  readonly #database: TestServer;
  readonly sshd: TestSshd;
  #receiver: Receiver;
  readonly #url: string;
  readonly #ports: readonly [number, number, number];
  /** All nodes that were ever started. */
  readonly #started: TestGateway[] = [];
  readonly #nodes: TestGateway[] = [];

  private constructor(
    database: TestServer,
    url: string,
    sshd: TestSshd,
    receiver: Receiver,
    ports: readonly [number, number, number],
  ) {
    this.#database = database;
    this.#url = url;
    this.sshd = sshd;
    this.#receiver = receiver;
    this.#ports = ports;
    this.#receiver.respond = this.#take;
  }

  static async open(): Promise<System> {
    const [database, sshd, receiver] = await startTogether([
      startSystemServer(),
      startSshd(['MaxStartups 300']),
      startReceiver(await freePort()),
    ]);
    const ports = [await freePort(), await freePort(), await freePort()] as const;
    return new System(database, await database.createDatabase(), sshd, receiver, ports);
  }

  get api(): ApiClient {
    return this.balancer.api;
  }

  urlOf(receiver: string): string {
    return `http://127.0.0.1:${this.#receiver.port}${receiver}`;
  }

  /** A single node of the former version, which gives deliveries up at once. */
  async withImpatientNode(checkout: string, work: (api: ApiClient) => Promise<void>): Promise<void> {
    const node = await this.#start(0, checkout, [1]);
    await work(node.api);
    assert.equal(await node.stop(), 0);
  }

  async startNodes(checkout: string): Promise<void> {
    for (const index of this.#ports.keys()) this.#nodes.push(await this.#start(index, checkout));
    this.balancer = await startLoadBalancer([...this.#ports]);
  }

  /** Stops a node as an orchestrator does, and starts the current version in its place. */
  async upgradeNode(index: number): Promise<void> {
    assert.equal(await this.#nodes[index]?.stop(), 0);
    const node = await this.#start(index);
    this.#nodes[index] = node;
    const served = async (): Promise<string> => {
      const { text } = await node.api.get('/metrics', { key: '' });
      return /^ftg_requests_total\{route="\/api\/upload\/:connectionId",status="2xx"\} (\d+)$/m.exec(text)?.[1] ?? '0';
    };
    const alone = await served();
    await eventually(async () => (await served()) !== alone, 'the load balancer uses the new node');
  }

  get count(): number {
    return this.#ports.length;
  }

  /** For the first half of the time the receiver answers 500, then it does not listen. */
  async withoutReceiver(ms: number): Promise<void> {
    const { port } = this.#receiver;
    this.#receiver.respond = (_, response) => {
      this.refused++;
      response.writeHead(500).end();
    };
    await delay(ms / 2);
    await this.#receiver.close();
    await delay(ms / 2);
    this.#receiver = await startReceiver(port);
    this.#receiver.respond = this.#take;
  }

  /** Lines of the nodes' output that report an error, or are not of the log; `expected`: ids of requests. */
  errorLines(expected: readonly string[]): string[] {
    const lines = this.#lines().filter((line) => !HARMLESS.test(line));
    const ids = new Set(expected);
    return lines.filter((line) => !ids.has(/"requestId":"([^"]*)"/.exec(line)?.[1] ?? ''));
  }

  /** How often each warning was logged. */
  warnings(): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    for (const line of this.#lines()) {
      if (!line.startsWith('{"level":"warn"')) continue;
      const { msg } = JSON.parse(line) as { readonly msg: string };
      found.set(msg, (found.get(msg) ?? 0) + 1);
    }
    return found;
  }

  /** Ends everything, even after a failed start. */
  async close(): Promise<void> {
    await (this.balancer as LoadBalancer | undefined)?.stop();
    await Promise.allSettled(this.#nodes.map((node) => node.stop()));
    await Promise.allSettled([this.#receiver.close(), this.sshd.stop()]);
    await this.#database.stop();
  }

  #lines(): string[] {
    return this.#started.flatMap((node) => node.output().split('\n')).filter((line) => line !== '');
  }

  readonly #take: Receiver['respond'] = ({ path, text, headers }, response) => {
    setTimeout(() => {
      const isTaken = path !== DEAD_RECEIVER || this.isRepaired;
      if (isTaken) this.acknowledged.push({ receiver: path, id: String(headers['webhook-id']), text });
      response.writeHead(isTaken ? 204 : 500).end();
    }, ANSWER_MS);
  };

  async #start(index: number, checkout?: string, retryMs: readonly number[] = RETRY_MS): Promise<TestGateway> {
    const { port, username, clientKeyFile: privateKeyFile, files: rootPath } = this.sshd;
    const login = { type: 'sftp', host: '127.0.0.1', username, privateKeyFile, rootPath };
    const node = await startGateway({
      ...(checkout === undefined ? {} : { checkout }),
      env: { GATEWAY_MASTER_KEY: TEST_KEY },
      apiKeys: [{ name: 'test', key: KEY, scopes: ['read', 'write', 'watch', 'admin'] }],
      connections: [
        { id: SERVER, name: 'Files', defaultPath: '/', ...login, port },
        { id: BROKEN, name: 'Broken', defaultPath: '/', ...login, port: 1 },
      ],
      config: {
        server: { port: this.#ports[index], trustedProxies: ['127.0.0.1'], retireSeconds: 5 },
        database: { url: this.#url },
        network: { webhooks: { allow: ['127.0.0.1/32'] } },
        watcher: { settleMs: 1_000 },
        webhooks: { retryMs, filesPerEvent: FILES_PER_EVENT },
      },
    });
    this.#started.push(node);
    return node;
  }
}

/** All items of a list that is read by offsets. */
export async function allOf<T>(
  api: ApiClient,
  target: string,
  field: string,
  filter: Readonly<Record<string, string>> = {},
): Promise<T[]> {
  const found: T[] = [];
  for (;;) {
    const query = { ...filter, limit: String(PAGE), offset: String(found.length) };
    const items = good(await api.get(target, { query })).json[field] as T[];
    found.push(...items);
    if (items.length < PAGE) return found;
  }
}

export function good(answer: ApiAnswer, status = 200): ApiAnswer {
  if (answer.status === status) return answer;
  throw new Error(`${answer.status} ${answer.text.slice(0, 300)}`);
}
