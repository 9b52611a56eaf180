import { getRequest, uploadRequest } from '../lab/gateway.js';
import { fetchAll, fetchTo, send, sendAll } from '../lab/http-client.js';
import { type Lab, MIB } from '../lab/lab.js';
import type { Target } from '../lab/target.js';
import { applyLoad } from '../load/load.js';
import type { HttpCall } from '../load/spec.js';
import { BEFORE, type BenchCase, type Contender, type Scenario, type Window, type Work } from '../scenario.js';
import { PROTOCOLS } from './large.js';
import { seed } from './transfers.js';

const BYTES = 4096;
const FILE = 'small';
const CLIENTS = 8;
const SECONDS = { quick: 3, full: 15 } as const;
const LARGE = 64 * MIB;
/** Large transfers at once, half of them uploads. */
const CROWD = 64;
/**
 * Enough for all of them and for the small ones: nothing waits for a session, or is refused because memory is short.
 */
const SESSIONS = 16;
const MEMORY_BYTES = 1024 * MIB;
const MOST_P99_MS = 20;

export const mixed: BenchCase = {
  name: 'mixed',
  title: 'small operations beside large transfers',
  about:
    `${CLIENTS} clients download ${BYTES / 1024} KiB files over SFTP, alone ("quiet") and while one client each uploads and downloads ` +
    `${LARGE / MIB} MiB files over every protocol without a pause ("busy"). What counts is the p99 of the small ones and the event loop. ` +
    `Then beside ${CROWD} large transfers at once, on a connection of their own.`,
  async *scenarios(lab, { quick, before }) {
    const seconds = quick ? SECONDS.quick : SECONDS.full;
    const targets: Record<string, Target> = {};
    for (const protocol of PROTOCOLS) {
      const target = await lab.target(protocol);
      await seed(lab, target, LARGE);
      targets[protocol] = target;
    }
    const near = await lab.target('sftp');
    await lab.store(near, FILE, await lab.source(BYTES));
    const gateway = await lab.gateway({ connections: targets });
    const { method, url, headers } = getRequest({ gateway, connection: 'sftp', target: near }, 'download', FILE);
    const call: HttpCall = { kind: 'http', method, url, headers };
    const small = (window: Window): Promise<Work> => applyLoad({ call, clients: CLIENTS, seconds }, BYTES, window);
    const common = {
      pid: gateway.pid,
      databasePid: gateway.databasePid,
      loopDelayMs: gateway.loopDelayMs,
      restMiB: gateway.restMiB,
    };
    const busy: Contender = {
      ...common,
      name: 'gateway, busy',
      run: async (_, window) => {
        const end = new AbortController();
        const transfers = Object.entries(targets).flatMap(([connection, target]) => {
          const place = { gateway, connection, target };
          return [
            again(end.signal, async () => send(uploadRequest(place, `mixed-${connection}`), await lab.source(LARGE))),
            again(end.signal, async () => {
              const copy = await lab.destination(`mixed-${connection}`);
              await fetchTo(getRequest(place, 'download', `seed-${LARGE}`), copy);
            }),
          ];
        });
        const work = await small(window);
        end.abort();
        await Promise.all(transfers);
        return work;
      },
      verify: async () => {
        const source = await lab.source(LARGE);
        for (const [connection, target] of Object.entries(targets)) {
          await lab.expectStored(target, `mixed-${connection}`, source);
          await lab.expectSame(await lab.destination(`mixed-${connection}`), source);
        }
      },
    };
    yield {
      name: `4 KiB downloads, ${CLIENTS} clients`,
      unit: 'ops/s',
      contenders: [busy, { ...common, name: 'gateway, quiet', run: (_, window) => small(window) }],
      goals: [],
    };
    await gateway.stop();
    yield await crowded(lab, seconds, before);
  },
};

async function crowded(lab: Lab, seconds: number, before: string | undefined): Promise<Scenario> {
  const target = await lab.target('sftp');
  const names = Array.from({ length: CROWD / 2 }, (_, index) => `crowd-${index}`);
  const copies = await Promise.all(names.map((name) => lab.destination(name)));
  const source = await lab.source(LARGE);
  const contender = async (name: string, checkout?: string): Promise<Contender> => {
    const connections = { crowd: target, small: target };
    const gateway = await lab.gateway({
      connections,
      pool: { maxSessions: SESSIONS },
      settings: { budgets: { memoryBytes: MEMORY_BYTES } },
      checkout,
    });
    const place = { gateway, connection: 'crowd', target };
    const { method, url, headers } = getRequest({ ...place, connection: 'small' }, 'download', FILE);
    const call: HttpCall = { kind: 'http', method, url, headers };
    return {
      name,
      pid: gateway.pid,
      databasePid: gateway.databasePid,
      loopDelayMs: gateway.loopDelayMs,
      restMiB: gateway.restMiB,
      run: async (_, window) => {
        const end = new AbortController();
        const transfers = [
          again(end.signal, () =>
            sendAll(names.map((file) => ({ request: uploadRequest(place, file), file: source }))),
          ),
          again(end.signal, () =>
            fetchAll(copies.map((file) => ({ request: getRequest(place, 'download', `seed-${LARGE}`), file }))),
          ),
        ];
        const work = await applyLoad({ call, clients: CLIENTS, seconds }, BYTES, window);
        end.abort();
        await Promise.all(transfers);
        return work;
      },
      verify: async () => {
        for (const name of names) await lab.expectStored(target, name, source);
        for (const copy of copies) await lab.expectSame(copy, source);
      },
    };
  };
  return {
    name: `4 KiB downloads, ${CLIENTS} clients beside ${CROWD} transfers`,
    unit: 'ops/s',
    contenders: [await contender('gateway'), ...(before === undefined ? [] : [await contender(BEFORE, before)])],
    goals: [{ kind: 'p99', atMostMs: MOST_P99_MS }],
  };
}

async function again(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  do await work();
  while (!signal.aborted);
}
