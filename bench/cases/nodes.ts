import { setTimeout as delay } from 'node:timers/promises';
import type { LabDatabase } from '../lab/database.js';
import { uploadRequest, type GatewayUnderTest } from '../lab/gateway.js';
import type { Lab } from '../lab/lab.js';
import type { Target } from '../lab/target.js';
import { applyLoad } from '../load/load.js';
import { medianCpu, medianFigure, medianOf, type ScenarioResult } from '../measure.js';
import { cells, number, whole } from '../report/table.js';
import type { BenchCase, CaseOptions, Contender, Scenario, Window, Work } from '../scenario.js';

const BYTES = 4096;
const MOST_NODES = 3;
const CLIENTS = 30;
const SETTLE_MS = { quick: 5_000, full: 20_000 } as const;
const REST_SECONDS = { quick: 10, full: 60 } as const;
const LOAD_SECONDS = { quick: 3, full: 10 } as const;
const REST = 'at rest';
const LOADED = `${CLIENTS} clients upload`;

export const nodes: BenchCase = {
  name: 'nodes',
  title: 'what one more node costs',
  about:
    'One, two and three nodes with the default configuration on one PostgreSQL server, first at rest, where the unit is a ' +
    `second, then with ${CLIENTS} clients in all that upload files of ${BYTES / 1024} KiB over SFTP, shared out among the nodes. Processor ` +
    'time and memory are those of all nodes together; statements and connections are counted by the server (pg_stat_statements, ' +
    'pg_stat_activity), without those of the bench.',
  scenarios,
  summary,
  pictured: (results) => results.filter(({ name }) => name.endsWith(LOADED)),
};

async function* scenarios(lab: Lab, { quick }: CaseOptions): AsyncGenerator<Scenario> {
  const target = await lab.target('sftp');
  const body = await lab.source(BYTES);
  const database = await lab.database();
  await database.sql`create extension pg_stat_statements`;
  const started: GatewayUnderTest[] = [];
  while (started.length < MOST_NODES) {
    started.push(await lab.gateway({ connections: { remote: target }, settings: { database: { url: database.url } } }));
    const words = `${started.length} node${started.length === 1 ? '' : 's'}`;
    await delay(quick ? SETTLE_MS.quick : SETTLE_MS.full);
    yield {
      name: `${words}, ${REST}`,
      unit: 'ops/s',
      contenders: [contender(started, database, () => rest(quick ? REST_SECONDS.quick : REST_SECONDS.full))],
      goals: [],
    };
    const seconds = quick ? LOAD_SECONDS.quick : LOAD_SECONDS.full;
    const load = (window: Window): Promise<Work> => upload(started, target, body, seconds, window);
    await load({ begin: () => undefined, end: () => undefined });
    yield {
      name: `${words}, ${LOADED}`,
      unit: 'ops/s',
      contenders: [contender(started, database, load)],
      goals: [],
    };
  }
}

function contender(
  started: readonly GatewayUnderTest[],
  database: LabDatabase,
  work: (window: Window) => Promise<Work>,
): Contender {
  const [first, ...others] = started;
  return {
    name: 'gateway',
    pid: first?.pid ?? NaN,
    others: others.map(({ pid }) => pid),
    databasePid: database.pid,
    run: async (_, window) => {
      const before = await look(database);
      const done = await work(window);
      window.end();
      const { statements, connections, seconds } = await look(database);
      const figures = { connections, statements: (statements - before.statements) / (seconds - before.seconds) };
      return { ...done, figures };
    },
  };
}

interface Look {
  readonly statements: number;
  readonly connections: number;
  readonly seconds: number;
}

async function look({ sql }: LabDatabase): Promise<Look> {
  const [row] = await sql<Look[]>`
    select (select sum(calls)::float8 from pg_stat_statements s join pg_database d on d.oid = s.dbid
        where d.datname = current_database() and s.query not like '%pg_stat%') as statements,
      (select count(*)::int from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()) as connections,
      extract(epoch from clock_timestamp())::float8 as seconds`;
  return row as Look;
}

async function rest(seconds: number): Promise<Work> {
  await delay(seconds * 1000);
  return { bytes: 0, operations: seconds };
}

async function upload(
  started: readonly GatewayUnderTest[],
  target: Target,
  bodyFile: string,
  seconds: number,
  window: Window,
): Promise<Work> {
  let warm = 0;
  // The load of each node warms up by itself; the window is open while all of them count.
  const shared: Window = {
    begin: () => {
      warm += 1;
      if (warm === started.length) window.begin();
    },
    end: () => window.end(),
  };
  const works = await Promise.all(
    started.map((gateway, node) => {
      const { method, url, headers } = uploadRequest({ gateway, connection: 'remote', target }, `${node}-{n}`);
      const call = { kind: 'http', method, url: url.replace('%7Bn%7D', '{n}'), headers, bodyFile } as const;
      return applyLoad({ call, clients: CLIENTS / started.length, seconds }, BYTES, shared);
    }),
  );
  const sum = (of: (work: Work) => number): number => works.reduce((total, work) => total + of(work), 0);
  return {
    bytes: sum(({ bytes }) => bytes),
    operations: sum(({ operations }) => operations),
    seconds: Math.max(...works.map((work) => work.seconds ?? 0)),
    latenciesMs: works.flatMap(({ latenciesMs = [] }) => latenciesMs),
  };
}

function summary(results: readonly ScenarioResult[]): string[] {
  const rows = (isLoaded: boolean): string[] =>
    results
      .filter(({ name }) => name.endsWith(LOADED) === isLoaded)
      .map(({ name, contenders: [own] }) => {
        if (own === undefined) return cells(name);
        const [cpu, database] = [medianCpu(own, 'ops/s'), medianCpu(own, 'ops/s', 'databaseSeconds')];
        return cells(
          name.replace(/, .*/, ''),
          ...(isLoaded
            ? [whole(medianOf(own, 'rate')), number(cpu, 2, ' ms'), number(database, 2, ' ms')]
            : [number(cpu / 10, 2, ' %'), number(database / 10, 2, ' %')]),
          number(medianFigure(own, 'statements'), 1),
          whole(medianFigure(own, 'connections')),
          `${whole(medianOf(own, 'peakMiB'))} MiB`,
        );
      });
  return [
    `| ${REST} | of a core: the nodes | their database | statements a second | connections | memory |`,
    '|---|---|---|---|---|---|',
    ...rows(false),
    '',
    `| ${LOADED} | uploads a second | processor time of the nodes for one | of their database | statements a second | connections | memory |`,
    '|---|---|---|---|---|---|---|',
    ...rows(true),
    '',
    '![Uploads a second by nodes](nodes.svg)',
    '',
  ];
}
