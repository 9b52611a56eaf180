/** A PostgreSQL server on a disk for gateways that share a database, and the bench's own view of it. */
import postgres, { type Sql } from 'postgres';
import { startPostgres } from '../../test/servers/postgres.js';

export interface LabDatabase {
  readonly url: string;
  /** The first process of its server. */
  readonly pid: number;
  /** The bench's own connection. */
  readonly sql: Sql;
}

export interface LabPostgres {
  /** Makes an empty database. */
  create(): Promise<LabDatabase>;
  stop(): Promise<void>;
}

/** It counts statements, and remembers when each transaction was committed. */
const SETTINGS = ['shared_preload_libraries=pg_stat_statements', 'track_commit_timestamp=on'];

export async function startLabPostgres(): Promise<LabPostgres> {
  // On a disk, not in memory: commits must have their real cost.
  const server = await startPostgres({ settings: SETTINGS, parent: '/tmp' });
  const connections: Sql[] = [];
  const connect = (url: string): Sql => {
    const sql = postgres(url, { max: 1, onnotice: () => undefined });
    connections.push(sql);
    return sql;
  };
  const first = connect(server.url);
  return {
    create: async () => {
      const name = `bench_${connections.length}`;
      await first.unsafe(`create database ${name}`);
      const url = new URL(server.url);
      url.pathname = name;
      return { url: url.href, pid: server.pid, sql: connect(url.href) };
    },
    stop: async () => {
      await Promise.all(connections.map((sql) => sql.end()));
      await server.stop();
    },
  };
}
