import { setTimeout as delay } from 'node:timers/promises';
import type { EventType } from '../../src/contract/event.js';
import { ask } from '../lab/api.js';
import { BenchOutbox } from '../lab/outbox.js';
import { medianCpu, medianOf, type ScenarioResult } from '../measure.js';
import { cells, number, whole } from '../report/table.js';
import type { BenchCase, CaseOptions, Contender, Goal, Scenario } from '../scenario.js';
import type { Lab } from '../lab/lab.js';

/** The name of a scenario without a backlog begins with it. */
const STEADY = 'steady: ';
const WITHIN_MS = 300_000;
const MANY = 20;
/** Each number of webhooks has a type of its own, so that the others do not receive its events. */
const TYPES = { one: 'connection.down', many: 'connection.up' } as const satisfies Record<string, EventType>;
const BACKLOG = { quick: { one: 2_000, many: 100 }, full: { one: 10_000, many: 1_000 } } as const;
const EVERY_MS = 20;
const SECONDS = { quick: 5, full: 30 } as const;
const DELIVERIES_A_SECOND: Goal = { kind: 'rate', atLeast: 1_000 };
const SOON: Goal = { kind: 'p99', atMostMs: 100 };

export const events: BenchCase = {
  name: 'events',
  title: 'how many events reach webhooks, and how soon',
  about:
    'Webhooks on loopback that answer 204 at once; one gateway with the default configuration on a PostgreSQL server. The ' +
    'events are written into the outbox by SQL, in the form of the gateway: their rows and a notice in one transaction, as ' +
    'another node would. A backlog is one such transaction, and a delivery counts from its commit to the last arrival, so ' +
    'numbering and addressing the events is part of it. In a steady stream each event has a transaction of its own; its delay ' +
    'is the time from the commit, as PostgreSQL keeps it, to the moment when the receiver has its request.',
  scenarios,
  summary,
  pictured: (results) => results.filter(({ name }) => !name.startsWith(STEADY)),
};

async function* scenarios(lab: Lab, { quick, only }: CaseOptions): AsyncGenerator<Scenario> {
  const database = await lab.database();
  const receiver = await lab.receiver();
  const gateway = await lab.gateway({
    connections: {},
    settings: {
      database: { url: database.url },
      network: { webhooks: { allow: ['127.0.0.0/8'] } },
      webhooks: { perAccount: MANY + 1 },
    },
  });
  const outbox = await BenchOutbox.open(database.sql);
  const [account] = await database.sql<{ id: string }[]>`select id from accounts limit 1`;
  const accountOf = (count: number): string[] => Array<string>(count).fill(account?.id ?? '');
  const subscribe = async (count: number, type: EventType): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      await ask(gateway, 'POST', '/api/webhooks', { url: `${receiver.url}${type}/${index}`, events: [type] });
    }
  };
  await subscribe(1, TYPES.one);
  await subscribe(MANY, TYPES.many);
  const common = {
    name: 'gateway',
    pid: gateway.pid,
    databasePid: database.pid,
    restMiB: gateway.restMiB,
    loopDelayMs: gateway.loopDelayMs,
  };

  const backlog = (count: number, type: EventType, webhooks: number): Contender => ({
    ...common,
    run: async () => {
      receiver.clear();
      await outbox.add(type, accountOf(count));
      await receiver.expectDeliveries(count * webhooks, WITHIN_MS);
      return { bytes: 0, operations: count * webhooks };
    },
  });
  const { one, many } = quick ? BACKLOG.quick : BACKLOG.full;
  // Code is compiled and connections are open.
  await backlog(BACKLOG.quick.one, TYPES.one, 1).run(0, { begin: () => undefined, end: () => undefined });
  yield {
    name: `backlog of ${one.toLocaleString('en')} events, one webhook`,
    unit: 'ops/s',
    contenders: [backlog(one, TYPES.one, 1)],
    goals: [DELIVERIES_A_SECOND],
  };
  yield {
    name: `backlog of ${many.toLocaleString('en')} events, ${MANY} webhooks`,
    unit: 'ops/s',
    contenders: [backlog(many, TYPES.many, MANY)],
    goals: [DELIVERIES_A_SECOND],
  };
  const steady = `${STEADY}${1000 / EVERY_MS} events a second, one webhook`;
  if (!` ${steady}`.includes(` ${only}`)) return;
  yield {
    name: steady,
    unit: 'ops/s',
    goals: [SOON],
    contenders: [
      {
        ...common,
        run: async () => {
          await outbox.clear();
          receiver.clear();
          const count = ((quick ? SECONDS.quick : SECONDS.full) * 1000) / EVERY_MS;
          const startedAt = performance.now();
          for (let event = 0; event < count; event += 1) {
            await delay(startedAt + event * EVERY_MS - performance.now());
            await outbox.add(TYPES.one, accountOf(1));
          }
          await receiver.expectDeliveries(count, WITHIN_MS);
          const { arrivals } = receiver;
          const commits = await outbox.commits();
          const latenciesMs = [...commits].map(([id, committedAt]) => (arrivals.get(id) ?? NaN) - committedAt);
          return { bytes: 0, operations: count, latenciesMs };
        },
      },
    ],
  };
}

function summary(results: readonly ScenarioResult[]): string[] {
  return [
    '| events | deliveries a second | commit to request, p50 | p99 | processor time of a delivery | of its database |',
    '|---|---|---|---|---|---|',
    ...results.map(({ name, contenders: [own] }) => {
      if (own === undefined) return cells(name);
      const isSteady = name.startsWith(STEADY);
      return cells(
        name,
        isSteady ? whole(medianOf(own, 'rate')) : `**${whole(medianOf(own, 'rate'))}**`,
        number(medianOf(own, 'p50Ms'), 1, ' ms'),
        isSteady ? `**${number(medianOf(own, 'p99Ms'), 1, ' ms')}**` : '',
        number(medianCpu(own, 'ops/s'), 2, ' ms'),
        number(medianCpu(own, 'ops/s', 'databaseSeconds'), 2, ' ms'),
      );
    }),
    '',
    '![Deliveries a second](events.svg)',
    '',
  ];
}
