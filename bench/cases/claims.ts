import { setTimeout as delay } from 'node:timers/promises';
import { Database } from '../../src/storage/postgres/database.js';
import { parseDatabaseUrl } from '../../src/storage/postgres/target.js';
import type { QueueName } from '../../src/storage/postgres/notices.js';
import { type NewTask, PostgresQueue } from '../../src/storage/queue/queue.js';
import type { LabDatabase } from '../lab/database.js';
import type { GatewayUnderTest } from '../lab/gateway.js';
import type { Lab } from '../lab/lab.js';
import { medianCpu, medianOf, type ScenarioResult } from '../measure.js';
import { cells, number, whole } from '../report/table.js';
import type { BenchCase, CaseOptions, Contender, Scenario } from '../scenario.js';

const TASKS = { quick: 2_000, full: 10_000 } as const;
const WARM_UP_TASKS = 1_000;
const ACCOUNTS = 50;
const SENT_AT_ONCE = 1_000;
const LOOK_MS = 20;
const WITHIN_MS = 300_000;
/** Tasks whose subject is unknown: a node claims one, looks its subject up, and takes the task away. */
const QUEUES: readonly (readonly [QueueName, string])[] = [
  ['job-files', 'slices of jobs'],
  ['watch-check', 'checks of watched folders'],
];

export const claims: BenchCase = {
  name: 'claims',
  title: 'how many tasks nodes claim',
  about:
    `Tasks of ${ACCOUNTS} accounts on one PostgreSQL server, sent in one transaction, for jobs and watched folders that do not ` +
    'exist: a node claims a task, looks for its subject, and takes the task away. One node alone and three nodes together each ' +
    'have a database of their own, with the default configuration; the clock runs from the commit to the end of the last task.',
  scenarios,
  summary,
};

async function* scenarios(lab: Lab, { quick }: CaseOptions): AsyncGenerator<Scenario> {
  const clusters = [await Cluster.start(lab, 1), await Cluster.start(lab, 3)];
  for (const [queue, words] of QUEUES) {
    for (const cluster of clusters) await cluster.work(queue, WARM_UP_TASKS, () => undefined);
    const tasks = quick ? TASKS.quick : TASKS.full;
    yield {
      name: `${tasks.toLocaleString('en')} ${words}`,
      unit: 'ops/s',
      contenders: clusters.map((cluster) => cluster.contender(queue, tasks)),
      goals: [],
    };
  }
  for (const cluster of clusters) await cluster.close();
}

/** Nodes on a database of their own, and the bench's way to send tasks to them. */
class Cluster {
  readonly #nodes: readonly GatewayUnderTest[];
  readonly #lab: LabDatabase;
  readonly #database: Database;
  readonly #queue: PostgresQueue;

  private constructor(nodes: readonly GatewayUnderTest[], lab: LabDatabase, database: Database, queue: PostgresQueue) {
    this.#nodes = nodes;
    this.#lab = lab;
    this.#database = database;
    this.#queue = queue;
  }

  static async start(lab: Lab, count: number): Promise<Cluster> {
    const own = await lab.database();
    const nodes: GatewayUnderTest[] = [];
    for (let node = 0; node < count; node += 1) {
      nodes.push(await lab.gateway({ connections: {}, settings: { database: { url: own.url } } }));
    }
    const log = (): void => undefined;
    const database = new Database(await parseDatabaseUrl(own.url), { poolSize: 4, connectTimeoutMs: 10_000, log });
    return new Cluster(nodes, own, database, await PostgresQueue.open(database, log));
  }

  contender(queue: QueueName, tasks: number): Contender {
    const [first, ...others] = this.#nodes;
    return {
      name: `${this.#nodes.length} node${this.#nodes.length === 1 ? '' : 's'}`,
      pid: first?.pid ?? NaN,
      others: others.map(({ pid }) => pid),
      databasePid: this.#lab.pid,
      run: async (_, window) => {
        await this.work(queue, tasks, () => window.begin());
        return { bytes: 0, operations: tasks };
      },
    };
  }

  /** Sends tasks and waits until none is left. `begin` is called when they have been committed. */
  async work(queue: QueueName, count: number, begin: () => void): Promise<void> {
    const accounts = Array.from({ length: ACCOUNTS }, () => crypto.randomUUID());
    const tasks = Array.from({ length: count }, (_, index): NewTask => {
      const subject = crypto.randomUUID();
      return {
        key: queue === 'job-files' ? `${subject} 0` : subject,
        account: accounts[index % ACCOUNTS] ?? '',
        group: queue === 'job-files' ? subject : 'host',
        data: queue === 'job-files' ? { jobId: subject, seat: 0 } : { kind: 'scheduled', dueAt: new Date() },
      };
    });
    await this.#database.transaction(async (tx) => {
      for (let sent = 0; sent < count; sent += SENT_AT_ONCE) {
        await this.#queue.send(queue, tasks.slice(sent, sent + SENT_AT_ONCE), tx);
      }
    });
    begin();
    for (const end = Date.now() + WITHIN_MS; await this.#hasAny(queue); await delay(LOOK_MS)) {
      if (Date.now() > end) throw new Error(`tasks of ${queue} were left after ${WITHIN_MS} ms`);
    }
  }

  async #hasAny(queue: QueueName): Promise<boolean> {
    const rows = await this.#lab.sql`select from public_jobs.job where name = ${queue} limit 1`;
    return rows.length > 0;
  }

  async close(): Promise<void> {
    await this.#queue.close();
    await this.#database.close();
    for (const node of this.#nodes) await node.stop();
  }
}

function summary(results: readonly ScenarioResult[]): string[] {
  return [
    '| tasks | nodes | claimed a second | processor time of the nodes for one | of their database |',
    '|---|---|---|---|---|',
    ...results.flatMap(({ name, contenders }) =>
      contenders.map((one) =>
        cells(
          name,
          one.name,
          `**${whole(medianOf(one, 'rate'))}**`,
          number(medianCpu(one, 'ops/s'), 2, ' ms'),
          number(medianCpu(one, 'ops/s', 'databaseSeconds'), 2, ' ms'),
        ),
      ),
    ),
    '',
    '![Claims a second](claims.svg)',
    '',
  ];
}
