import { setTimeout as delay } from 'node:timers/promises';
import { follow } from '../lab/follower.js';
import type { GatewayUnderTest } from '../lab/gateway.js';
import type { Lab } from '../lab/lab.js';
import { BenchOutbox } from '../lab/outbox.js';
import { residentMiB } from '../lab/process-meter.js';
import { medianFigure, medianOf, type ScenarioResult } from '../measure.js';
import { cells, number, whole } from '../report/table.js';
import type { BenchCase, CaseOptions, Scenario } from '../scenario.js';

/** The limit of streams of one account. */
const OF_AN_ACCOUNT = 10;
/** Followers, and event loops: one takes 900 streams. */
const SIZES = [
  { followers: 100, loops: 1 },
  { followers: 900, loops: 1 },
  { followers: 1_000, loops: 2 },
  { followers: 3_000, loops: 4 },
] as const;
const OPENED_AT_ONCE = 50;
/** Accounts whose feeds get events in turn. */
const BUSY_ACCOUNTS = 10;
const EVERY_MS = 50;
const SECONDS = { quick: 3, full: 20 } as const;
const SETTLE_MS = 3_000;
const WITHIN_MS = 60_000;
const LOOK_MS = 20;
const TYPE = 'connection.down';

export const followers: BenchCase = {
  name: 'followers',
  title: 'how many clients can follow the event feed',
  about:
    `Streams of GET /api/events (Accept: text/event-stream), ${OF_AN_ACCOUNT} for each account, which is the most, held open by one ` +
    `client process. ${1000 / EVERY_MS} events a second are added to the feeds of ${BUSY_ACCOUNTS} accounts in turn, by SQL, as another node ` +
    'would; each goes to ten followers. The delay is the time from the commit, as PostgreSQL keeps it, to the line of the event at a ' +
    'follower. Memory is the growth of the gateway from ten followers to all of them, before the events.',
  scenarios,
  summary,
  pictured: () => [],
};

async function* scenarios(lab: Lab, { quick, only }: CaseOptions): AsyncGenerator<Scenario> {
  for (const { followers: count, loops } of SIZES) {
    const name = `${count.toLocaleString('en')} followers, ${loops} loop${loops === 1 ? '' : 's'}`;
    if (!` ${name}`.includes(` ${only}`)) continue;
    const database = await lab.database();
    const gateway = await lab.gateway({
      connections: {},
      accounts: count / OF_AN_ACCOUNT,
      server: { threads: loops },
      settings: { database: { url: database.url }, budgets: { requests: 2 * count + 2_048 } },
    });
    const outbox = await BenchOutbox.open(database.sql);
    const rows = await database.sql<{ id: string; email: string }[]>`select id, email from accounts`;
    const idOf = new Map(rows.map(({ id, email }) => [email, id]));
    const busy = gateway.accounts.slice(0, BUSY_ACCOUNTS).map(({ email }) => idOf.get(email) ?? '');

    const arrivals: { readonly id: string; readonly at: number }[] = [];
    const hear = (id: string): void => void arrivals.push({ id, at: performance.timeOrigin + performance.now() });
    const ends: (() => void)[] = [];
    const open = async (until: number): Promise<void> => {
      while (ends.length < until) {
        const indices = Array.from(
          { length: Math.min(OPENED_AT_ONCE, until - ends.length) },
          (_, at) => ends.length + at,
        );
        ends.push(...(await Promise.all(indices.map((index) => follow(gateway.url, headersOf(gateway, index), hear)))));
      }
    };
    const stream = async (seconds: number): Promise<number> => {
      const events = (seconds * 1000) / EVERY_MS;
      const startedAt = performance.now();
      for (let event = 0; event < events; event += 1) {
        await delay(startedAt + event * EVERY_MS - performance.now());
        await outbox.add(TYPE, [busy[event % busy.length] ?? '']);
      }
      return events;
    };
    // Code is compiled by then: growth after this is only the memory of followers.
    await open(OF_AN_ACCOUNT);
    await stream(2);
    const restMiB = residentMiB(gateway.pid);
    await open(count);
    await delay(SETTLE_MS);
    const memoryKiB = ((residentMiB(gateway.pid) - restMiB) * 1024) / (count - OF_AN_ACCOUNT);
    yield {
      name,
      unit: 'ops/s',
      goals: [],
      contenders: [
        {
          name: 'gateway',
          pid: gateway.pid,
          databasePid: database.pid,
          restMiB,
          loopDelayMs: gateway.loopDelayMs,
          run: async () => {
            arrivals.length = 0;
            await outbox.clear();
            const lines = (await stream(quick ? SECONDS.quick : SECONDS.full)) * OF_AN_ACCOUNT;
            for (const end = Date.now() + WITHIN_MS; arrivals.length < lines; await delay(LOOK_MS)) {
              if (Date.now() > end) throw new Error(`${arrivals.length} of ${lines} lines arrived in ${WITHIN_MS} ms`);
            }
            const commits = await outbox.commits();
            const latenciesMs = arrivals.map(({ id, at }) => at - (commits.get(id) ?? NaN));
            return { bytes: 0, operations: lines, latenciesMs, figures: { memoryKiB } };
          },
        },
      ],
    };
    for (const end of ends) end();
    await gateway.stop();
  }
}

/** The headers of the account whose stream this is: the busy accounts come first. */
function headersOf({ accounts }: GatewayUnderTest, index: number): Readonly<Record<string, string>> {
  return accounts[Math.floor(index / OF_AN_ACCOUNT)]?.headers ?? {};
}

function summary(results: readonly ScenarioResult[]): string[] {
  return [
    '| followers | commit to line, p50 | p99 | memory of one | in all | loop p99 | of a core: the gateway | its database |',
    '|---|---|---|---|---|---|---|---|',
    ...results.map(({ name, contenders: [own] }) => {
      const share = (of: 'cpuSeconds' | 'databaseSeconds'): string => {
        const [sample] = own?.samples ?? [];
        return sample === undefined ? '' : number(((sample[of] ?? NaN) / sample.seconds) * 100, 1, ' %');
      };
      return cells(
        name,
        number(medianOf(own, 'p50Ms'), 1, ' ms'),
        `**${number(medianOf(own, 'p99Ms'), 1, ' ms')}**`,
        number(medianFigure(own, 'memoryKiB'), 1, ' KiB'),
        `${whole(medianOf(own, 'peakMiB'))} MiB`,
        number(medianOf(own, 'loopDelayMs'), 1, ' ms'),
        share('cpuSeconds'),
        share('databaseSeconds'),
      );
    }),
    '',
  ];
}
