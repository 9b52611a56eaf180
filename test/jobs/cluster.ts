/** Nodes of one gateway on one PostgreSQL, any of which may be killed at any time, and the servers of their jobs. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import postgresClient from 'postgres';
import type { ServerEntry, TestServer } from '../servers/catalogue.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { TEST_KEY } from '../storage/databases.js';
import { eventually } from '../support/eventually.js';
import { KEY, startGateway, type ApiClient, type TestGateway } from '../support/gateway.js';
import { look, type JobView } from './support.js';

export interface ClusterOptions {
  readonly nodes?: number;
  /** Further keys of the configuration, and of the account. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly account?: Readonly<Record<string, unknown>>;
  /** Another account with the same connections, whose ids begin with `other-`. */
  readonly other?: Readonly<Record<string, unknown>>;
}

/** `servers`: connections by their ids. */
export async function startCluster<Name extends string>(
  servers: Readonly<Record<Name, ServerEntry | undefined>>,
  { nodes = 3, config = {}, account = {}, other }: ClusterOptions = {},
): Promise<Cluster<Name>> {
  const cluster = new Cluster<Name>(async (cluster) =>
    startGateway({
      env: { GATEWAY_MASTER_KEY: TEST_KEY },
      config: {
        database: { url: cluster.postgres.url },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            apiKeys: [{ name: 'test', key: KEY }],
            ...account,
            connections: connectionsOf(cluster.servers, ''),
          },
          ...(other === undefined ? [] : [{ ...other, connections: connectionsOf(cluster.servers, 'other-') }]),
        ],
        ...config,
      },
    }),
  );
  // Started servers are stopped if another one did not start.
  const starting: Promise<unknown>[] = [
    startPostgres().then((postgres) => (cluster.postgres = postgres)),
    ...Object.entries<ServerEntry | undefined>(servers).map(async ([name, entry]) => {
      cluster.servers[name as Name] = await (entry ?? assert.fail(name)).start();
    }),
  ];
  try {
    for (const outcome of await Promise.allSettled(starting)) if (outcome.status === 'rejected') throw outcome.reason;
    // Only the first node creates the database's tables.
    await cluster.add();
    await Promise.all(Array.from({ length: nodes - 1 }, () => cluster.add()));
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

function connectionsOf(servers: Readonly<Record<string, TestServer>>, prefix: string): object[] {
  return Object.entries(servers).map(([id, { connection }]) => ({ id: prefix + id, name: id, ...connection }));
}

export class Cluster<Name extends string> {
  readonly #start: (cluster: Cluster<Name>) => Promise<TestGateway>;
  postgres!: PostgresServer;
  readonly servers = {} as Record<Name, TestServer>;
  /** The live nodes. */
  readonly nodes: TestGateway[] = [];

  constructor(start: (cluster: Cluster<Name>) => Promise<TestGateway>) {
    this.#start = start;
  }

  /** The client of any live node. */
  get api(): ApiClient {
    return this.node(0).api;
  }

  node(index: number): TestGateway {
    return this.nodes[index] ?? assert.fail('no node lives');
  }

  async add(): Promise<void> {
    this.nodes.push(await this.#start(this));
  }

  /** Kills one of them with SIGKILL; `add` starts another in its place. */
  async kill(index = randomInt(this.nodes.length)): Promise<void> {
    const [victim] = this.nodes.splice(index, 1);
    assert.ok(victim !== undefined);
    await victim.kill();
    await victim.stop();
  }

  /** A job, from any node that answers. */
  async see(id: string): Promise<JobView> {
    let job: JobView | undefined;
    const reported = async (): Promise<boolean> => {
      job = await look(this.api, id).catch(() => undefined);
      return job !== undefined;
    };
    await eventually(reported, 'a node reports the job');
    return job as JobView;
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.nodes.map((node) => node.stop()));
    await Promise.allSettled(Object.values<TestServer>(this.servers).map((server) => server.stop()));
    await (this.postgres as PostgresServer | undefined)?.stop();
  }
}

export interface JobLock {
  /** Locks the job's row, so that records of ended files wait. */
  lock(id: string): Promise<void>;
  /** Records that wait by then never happen. */
  unlock(): Promise<void>;
}

/** Connected before the job begins, which would go on meanwhile. */
export async function openJobLock({ url }: Pick<PostgresServer, 'url'>): Promise<JobLock> {
  const sql = postgresClient(url, { max: 1, onnotice: () => undefined });
  const session = await sql.reserve();
  return {
    lock: async (id) => {
      await session`begin`;
      await session`select from jobs where id = ${id} for update`;
    },
    unlock: async () => {
      await session`select pg_terminate_backend(pid, 60000) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`;
      await session`rollback`;
      session.release();
      await sql.end();
    },
  };
}
