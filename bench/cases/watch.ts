import { setTimeout as delay } from 'node:timers/promises';
import type { GatewayUnderTest } from '../lab/gateway.js';
import { lagsBetween, WatchClient } from '../lab/watch-client.js';
import { residentMiB } from '../lab/process-meter.js';
import type { Lab } from '../lab/lab.js';
import { pathOn } from '../lab/target.js';
import type { WebhookReceiver } from '../lab/webhook-receiver.js';
import type { BenchCase, CaseOptions, Contender, Scenario } from '../scenario.js';

const ENTRIES = { quick: 20_000, full: 1_000_000 } as const;
const NEW_FILES = 3;
const FOLDERS = { quick: 300, full: 10_000 } as const;
const SECONDS = { quick: 20, full: 180 } as const;
const DETECTIONS = { quick: 20, full: 200 } as const;
const CHECK_MS = 900_000;
const MINUTE_MS = 60_000;

export const watchedEntries: BenchCase = {
  name: 'watched-entries',
  title: 'a watched folder of very many entries',
  about:
    'A folder on OpenSSH is taken as the baseline, then gets three new files and is listed twice: the second look finds ' +
    'them at rest. Exactly these are to be reported. The rate is that of entries looked at, listing, comparison and all.',
  scenarios: largeFolder,
};

export const watchedFolders: BenchCase = {
  name: 'watched-folders',
  title: 'very many watched folders, and how soon a receiver hears of a file',
  about:
    'Folders over SFTP, FTP and S3 on one node, each checked every minute, while a file appears in one of them five times a ' +
    'second. p50 and p99 are the lag of a check behind its due time, as upper bounds of the histogram of /metrics. The way ' +
    'of an event is from the moment of the detection, as the event dates it, to its first arrival at the receiver.',
  scenarios: manyFolders,
};

async function* largeFolder(lab: Lab, { quick }: CaseOptions): AsyncGenerator<Scenario> {
  const entries = quick ? ENTRIES.quick : ENTRIES.full;
  const target = await lab.target('sftp');
  const receiver = await lab.receiver();
  const gateway = await watchingGateway(lab, { watcher: { settleMs: 1000 } });
  const client = new WatchClient(gateway);

  await lab.storeMany(target, 'few', 10, (index) => `file-${index}.csv`);
  const few = await client.watch({ connectionId: 'sftp', path: pathOn(target, 'few') });
  await client.firstCheck(few, CHECK_MS);
  const restMiB = residentMiB(gateway.pid);

  await lab.storeMany(target, 'many', entries, (index) => `file-${index}.csv`);
  const shared = { pid: gateway.pid, restMiB, longestStallMs: () => gateway.longestStallMs() };
  const goals = [
    { kind: 'memory', atMostMiB: 64 },
    { kind: 'stall', atMostMs: 50 },
  ] as const;
  const webhookUrl = receiver.url;
  const path = pathOn(target, 'many');
  let folder = '';
  const words = `${entries.toLocaleString('en')} entries`;
  yield {
    name: `baseline of ${words}`,
    unit: 'ops/s',
    goals,
    contenders: [
      {
        ...shared,
        name: 'gateway',
        run: async () => {
          // Each round makes a new baseline; the last one's folder is kept.
          if (folder !== '') await client.remove(folder);
          folder = await client.watch({ connectionId: 'sftp', path, webhookUrl, scheduleMinutes: 1440 });
          await client.firstCheck(folder, CHECK_MS);
          return { bytes: 0, operations: entries };
        },
      },
    ],
  };
  yield {
    name: `${NEW_FILES} new among ${words}`,
    unit: 'ops/s',
    goals,
    contenders: [
      {
        ...shared,
        name: 'gateway',
        run: async (round) => {
          receiver.clear();
          for (let file = 0; file < NEW_FILES; file += 1) {
            // Not empty: empty files would wait for the next regular check.
            await lab.storeIn(target, 'many', `new-${round}-${file}`);
          }
          await client.requestCheck(folder);
          await receiver.expect(NEW_FILES, CHECK_MS);
          return { bytes: 0, operations: 2 * entries };
        },
        verify: async (round) => {
          await client.check(folder, CHECK_MS);
          const expected = Array.from({ length: NEW_FILES }, (_, file) => `new-${round}-${file}`);
          if (receiver.names.toSorted().join() !== expected.join()) {
            throw new Error(`reported were ${receiver.names.length} files: ${receiver.names.slice(0, 10).join()}`);
          }
        },
      },
    ],
  };
  await gateway.stop();
}

async function* manyFolders(lab: Lab, { quick }: CaseOptions): AsyncGenerator<Scenario> {
  const count = quick ? FOLDERS.quick : FOLDERS.full;
  const detections = quick ? DETECTIONS.quick : DETECTIONS.full;
  const receiver = await lab.receiver();
  const gateway = await watchingGateway(lab, { watcher: { settleMs: 0, perHostConcurrency: 8 } });
  const client = new WatchClient(gateway);
  const protocols = ['sftp', 'ftp', 's3'] as const;

  const create = async (index: number, scheduleMinutes: number): Promise<{ id: string; put: Put }> => {
    const protocol = protocols[index % protocols.length] ?? 'sftp';
    const target = await lab.target(protocol);
    const name = `watched-${index}`;
    const put: Put = (file) => lab.storeIn(target, name, file);
    await put('old');
    const path = pathOn(target, name);
    return { id: await client.watch({ connectionId: protocol, path, webhookUrl: receiver.url, scheduleMinutes }), put };
  };
  const idle = await Promise.all(protocols.map((_, index) => create(index, 1440)));
  for (const { id } of idle) await client.firstCheck(id, CHECK_MS);
  yield {
    name: 'the way of an event, nothing else to do',
    unit: 'ops/s',
    goals: [{ kind: 'p99', atMostMs: 1000 }],
    contenders: [
      {
        name: 'gateway',
        pid: gateway.pid,
        run: async (round) => {
          receiver.clear();
          for (let file = 0; file < detections; file += 1) {
            const { id, put } = idle[file % idle.length] as (typeof idle)[number];
            await put(`new-${round}-${file}`);
            await client.requestCheck(id);
            await receiver.expect(file + 1, MINUTE_MS);
          }
          return wayOf(receiver);
        },
      },
    ],
  };

  const folders = [...idle];
  const indices = Array.from({ length: count }, (_, index) => index + idle.length).values();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const index of indices) folders.push(await create(index, 1));
    }),
  );
  // The first, unscheduled checks are not counted.
  await delay(quick ? 2000 : 2 * MINUTE_MS);
  const under = { pid: gateway.pid, name: 'gateway' };
  const seconds = quick ? SECONDS.quick : SECONDS.full;
  const name = `${count.toLocaleString('en')} folders, each every minute`;
  let ways: readonly number[] = [];
  yield {
    name,
    unit: 'ops/s',
    goals: [
      { kind: 'p99', atMostMs: 5000 },
      { kind: 'peak', atMostMiB: 500 },
    ],
    contenders: [
      {
        ...under,
        loopDelayMs: gateway.loopDelayMs,
        run: async (round) => {
          receiver.clear();
          const before = await client.lags();
          const end = Date.now() + seconds * 1000;
          for (let file = 0; Date.now() < end; file += 1) {
            const { put } = folders[(file * 37) % folders.length] as (typeof folders)[number];
            await put(`busy-${round}-${file}`);
            await delay(200);
          }
          ways = [...receiver.delaysMs];
          const latenciesMs = lagsBetween(before, await client.lags());
          return { bytes: 0, operations: latenciesMs.length, seconds, latenciesMs };
        },
      },
    ],
  };
  yield {
    name: `the way of an event, beside ${name}`,
    unit: 'ops/s',
    goals: [{ kind: 'p99', atMostMs: 1000 }],
    contenders: [{ ...under, run: async () => ({ bytes: 0, operations: ways.length, seconds, latenciesMs: ways }) }],
  };
  await gateway.stop();
}

type Put = (file: string) => Promise<void>;

function wayOf({ delaysMs }: WebhookReceiver): Awaited<ReturnType<Contender['run']>> {
  return { bytes: 0, operations: delaysMs.length, latenciesMs: [...delaysMs] };
}

async function watchingGateway(lab: Lab, settings: Readonly<Record<string, unknown>>): Promise<GatewayUnderTest> {
  const [sftp, ftp, s3] = [await lab.target('sftp'), await lab.target('ftp'), await lab.target('s3')];
  const network = { webhooks: { allow: ['127.0.0.0/8'] } };
  return lab.gateway({ connections: { sftp, ftp, s3 }, settings: { network, ...settings } });
}
