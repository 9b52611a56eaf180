import { uploadRequest } from '../lab/gateway.js';
import { applyLoad } from '../load/load.js';
import type { BenchCase, Contender } from '../scenario.js';

const BYTES = 4096;
const CLIENTS = 32;
const SECONDS = { quick: 2, full: 6 } as const;
const SWEEP = {
  sftp: [1, 2, 4, 8, 16],
  ftp: [1, 4, 8, 16, 32],
} as const;

export const pools: BenchCase = {
  name: 'pools',
  title: 'how many sessions a pool should hold',
  about:
    `${CLIENTS} clients upload ${BYTES / 1024} KiB files; pools.default.maxSessions differs, everything else is the default ` +
    '(8 SFTP channels a session). The rows are processes of their own, measured in turn; the ratio is that of 8 sessions to each.',
  async *scenarios(lab, { quick }) {
    const seconds = quick ? SECONDS.quick : SECONDS.full;
    const body = await lab.source(BYTES);
    for (const protocol of ['sftp', 'ftp'] as const) {
      const target = await lab.target(protocol);
      const contenders: Contender[] = [];
      const stops: (() => Promise<void>)[] = [];
      // The default first: the others are compared with it.
      for (const maxSessions of [8, ...SWEEP[protocol].filter((sessions) => sessions !== 8)]) {
        const gateway = await lab.gateway({ connections: { remote: target }, pool: { maxSessions } });
        stops.push(() => gateway.stop());
        const { method, url, headers } = uploadRequest({ gateway, connection: 'remote', target }, '{n}');
        const call = { kind: 'http', method, url: url.replace('%7Bn%7D', '{n}'), headers, bodyFile: body } as const;
        contenders.push({
          name: `${maxSessions} session${maxSessions === 1 ? '' : 's'}`,
          pid: gateway.pid,
          databasePid: gateway.databasePid,
          loopDelayMs: gateway.loopDelayMs,
          restMiB: gateway.restMiB,
          run: (_, window) => applyLoad({ call, clients: CLIENTS, seconds }, BYTES, window),
        });
      }
      yield { name: `${protocol} upload, ${CLIENTS} clients`, unit: 'ops/s', contenders, goals: [] };
      for (const stop of stops) await stop();
    }
  },
};
