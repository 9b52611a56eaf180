import { getRequest, uploadRequest } from '../lab/gateway.js';
import { fetchTo, send } from '../lab/http-client.js';
import { MIB } from '../lab/lab.js';
import type { Target } from '../lab/target.js';
import { applyLoad } from '../load/load.js';
import type { HttpCall } from '../load/spec.js';
import type { BenchCase, Contender, Window, Work } from '../scenario.js';
import { PROTOCOLS } from './large.js';
import { seed } from './transfers.js';

const BYTES = 4096;
const FILE = 'small';
const CLIENTS = 8;
const SECONDS = { quick: 3, full: 15 } as const;
const LARGE = 64 * MIB;

export const mixed: BenchCase = {
  name: 'mixed',
  title: 'small operations beside large transfers',
  about:
    `${CLIENTS} clients download ${BYTES / 1024} KiB files over SFTP, alone ("quiet") and while one client each uploads and downloads ` +
    `${LARGE / MIB} MiB files over every protocol without a pause ("busy"). What counts is the p99 of the small ones and the event loop.`,
  async *scenarios(lab, { quick }) {
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
  },
};

async function again(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  do await work();
  while (!signal.aborted);
}
