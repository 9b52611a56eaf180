/**
 * A rolling upgrade of three nodes from a former version, under load, while the receiver of webhooks is down. Exits
 * with 0 if no request failed and each event arrived once, otherwise with 1.
 *
 *   npm run upgrade -- --from FOLDER [--down SECONDS] [--load SECONDS]
 *
 * FOLDER is a built checkout of the former version.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { begin } from '../jobs/support.js';
import { provide } from '../runner/needs.js';
import type { ApiClient } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import {
  type DeadLetter,
  type DeliveryFacts,
  expectedMessages,
  type FeedEvent,
  findings,
  type UpgradeFacts,
} from './checks.js';
import { Load } from './load.js';
import { allOf, BROKEN, DEAD_RECEIVER, good, SERVER, System } from './system.js';

const DEAD_LETTERS = 3;
const ACCOUNT_RECEIVER = '/account';
const TYPES = ['watched_folder.files_detected', 'transfer.failed', 'job.finished'];
const PAUSE_MS = 5_000;
/** After this many pauses without an event, no more are awaited: the last tries come a minute apart. */
const MOST_RESTS = 18;
const SHOWN = 20;

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '' },
    down: { type: 'string', default: '60' },
    load: { type: 'string', default: '30' },
  },
});
const [downSeconds, loadSeconds] = [Number(values.down), Number(values.load)];
if (values.from === '' || !(downSeconds >= 0) || !(loadSeconds > 0)) {
  process.stderr.write('--from takes the folder of a built former version; --down and --load take seconds\n');
  process.exit(64);
}

await provide(['upgrade/run.js']);
const system = await System.open();
try {
  const { wrong, table } = await upgrade(system, values.from);
  for (const [what, count] of table) process.stdout.write(`${what.padEnd(44)} ${count}\n`);
  for (const line of wrong.slice(0, SHOWN)) process.stdout.write(`WRONG ${line}\n`);
  process.stdout.write(wrong.length === 0 ? 'all holds\n' : `${wrong.length} findings\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  await system.close();
}

interface Outcome {
  readonly wrong: readonly string[];
  readonly table: readonly (readonly [what: string, count: number | string])[];
}

async function upgrade(nodes: System, from: string): Promise<Outcome> {
  const load = new Load(nodes);
  const after = await leaveDeadLetters(nodes, from, load.jobs);
  await nodes.startNodes(from);
  const { api } = nodes;
  await load.start();
  await delay(loadSeconds * 1_000);
  const outage = downSeconds === 0 ? Promise.resolve() : nodes.withoutReceiver(downSeconds * 1_000);
  await delay(PAUSE_MS);
  const before = {
    feed: await feedOf(api),
    dead: await deadLettersOf(api),
    open: (await deliveriesOf(api, { state: 'pending' })).map(({ id }) => id),
  };
  const began = performance.now();
  for (let node = 0; node < nodes.count; node++) {
    await nodes.upgradeNode(node);
    await delay(PAUSE_MS);
  }
  const upgradeSeconds = Math.round((performance.now() - began) / 1_000);
  await outage;
  await delay(loadSeconds * 1_000);
  await load.end();

  const facts = async (): Promise<UpgradeFacts> => ({
    folders: new Map(load.folders.map((folder) => [folder.id, folder])),
    jobs: load.jobs,
    deadReceiver: DEAD_RECEIVER,
    failedRequests: load.failedRequests,
    webhook: { receiver: ACCOUNT_RECEIVER, after, types: TYPES },
    acknowledged: [...nodes.acknowledged],
    followed: load.followed,
    before,
    feed: await feedOf(api),
    dead: await deadLettersOf(api),
    deliveries: await deliveriesOf(api),
  });
  let found = await facts();
  for (let [open, rests] = [findings(found).length, 0]; open > 0 && rests < MOST_RESTS;) {
    await load.checkAll();
    await delay(PAUSE_MS);
    found = await facts();
    const left = findings(found).length;
    rests = left === open ? rests + 1 : 0;
    open = left;
  }
  load.stopFollowing();
  const sentAgain = await sendDeadLetters(nodes);

  const failed = await allOf<{ id: string; connectionId: string }>(api, '/api/transfers', 'transfers', {
    status: 'failed',
  });
  const wrong = [
    ...load.failures,
    ...findings(found),
    ...load.wrongFiles(),
    ...(isDeepStrictEqual(sentAgain, before.dead.map(({ body }) => body).sort())
      ? []
      : [`dead letters were sent again as ${JSON.stringify(sentAgain)}`]),
    ...failed.filter(({ connectionId }) => connectionId !== BROKEN).map((item) => `failed: ${JSON.stringify(item)}`),
    ...nodes.errorLines(load.failedRequests),
  ];
  const { feed, folders } = found;
  return {
    wrong,
    table: [
      ['nodes upgraded', nodes.count],
      ['seconds from the first stop to the last start', upgradeSeconds],
      ['seconds without a receiver', downSeconds],
      ['tries that were refused with 500', nodes.refused],
      ['requests', load.requests],
      ['failed requests', load.failures.length],
      ['files in watched folders', [...folders.values()].reduce((sum, { put }) => sum + put.length, 0)],
      ['jobs', load.jobs.size],
      ['events', feed.length],
      ['  numbered by the former version', before.feed.length],
      ['messages expected', expectedMessages(found).length],
      ['messages acknowledged', found.acknowledged.length],
      ['  deliveries open before the first new node', before.open.length],
      ['dead letters carried over, and sent again', sentAgain.length],
      ...[...nodes.warnings()].map(([text, count]) => [`warning: ${text}`, count] as const),
    ],
  };
}

/** Resolves with the last number before the account has a webhook. */
async function leaveDeadLetters(nodes: System, from: string, jobs: Map<string, string>): Promise<number> {
  let last = 0;
  await nodes.withImpatientNode(from, async (api) => {
    const job = { type: 'copy', source: { connectionId: SERVER, path: '/tree' } };
    const destination = { connectionId: SERVER, path: '/jobs/dead' };
    for (let count = 0; count < DEAD_LETTERS; count++) {
      const { id } = await begin(api, { ...job, destination, webhookUrl: nodes.urlOf(DEAD_RECEIVER) });
      jobs.set(id, DEAD_RECEIVER);
    }
    await eventually(async () => (await deadLettersOf(api)).length === DEAD_LETTERS, 'the deliveries are given up');
    last = (await feedOf(api)).length;
    const webhook = { url: nodes.urlOf(ACCOUNT_RECEIVER), events: TYPES };
    good(await api.post('/api/webhooks', webhook), 201);
  });
  return last;
}

/** Resolves with the bodies that arrived. */
async function sendDeadLetters(nodes: System): Promise<readonly string[]> {
  nodes.isRepaired = true;
  good(await nodes.api.post('/manage/deliveries/replay', { state: 'dead' }), 202);
  const arrived = (): string[] =>
    nodes.acknowledged.filter(({ receiver }) => receiver === DEAD_RECEIVER).map(({ text }) => text);
  // The result lacks what does not arrive.
  await eventually(() => arrived().length === DEAD_LETTERS, 'the dead letters').catch(() => undefined);
  return arrived().sort();
}

async function feedOf(api: ApiClient): Promise<readonly FeedEvent[]> {
  const found: FeedEvent[] = [];
  for (let [after, last] = [0, 1]; after < last;) {
    const { json } = good(await api.get('/api/events', { query: { after: String(after), limit: '100' } }));
    found.push(...(json['events'] as FeedEvent[]));
    [after, last] = [json['nextAfter'] as number, json['last'] as number];
  }
  return found;
}

function deliveriesOf(api: ApiClient, filter: Readonly<Record<string, string>> = {}): Promise<DeliveryFacts[]> {
  return allOf(api, '/manage/deliveries', 'deliveries', filter);
}

async function deadLettersOf(api: ApiClient): Promise<readonly DeadLetter[]> {
  const dead = await deliveriesOf(api, { state: 'dead' });
  return Promise.all(
    dead.map(async ({ id }) => {
      const { json } = good(await api.get(`/manage/deliveries/${id}`));
      const { eventId, type, state, attempts, createdAt, body } = json as unknown as DeadLetter;
      return { id, eventId, type, state, attempts, createdAt, body };
    }),
  );
}
