import { MIB } from '../lab/lab.js';
import type { Protocol } from '../lab/target.js';
import { BEFORE, type BenchCase, type Goal, NOT_SLOWER } from '../scenario.js';
import { protocolsOf } from './large.js';
import { gatewayFront, seed, throughFront, type Direction, type Front } from './transfers.js';

const COUNTS: readonly number[] = [8, 64];
/** The size of all files of one scenario together, as a multiple of the large file. */
const TOGETHER = 2;

const memoryGoal = (protocol: Protocol, files: number): readonly Goal[] =>
  protocol === 's3' ? [] : [{ kind: 'memory', atMostMiB: files === 64 ? 400 : 4 * files + 100 }];

export const parallel: BenchCase = {
  name: 'parallel',
  title: '8 and 64 large files at once',
  about:
    'One curl sends or fetches all of them at once over connections of their own. Pools are wide enough for all ' +
    '(FTP: 64 sessions). rclone and the naive gateway open what they like.',
  async *scenarios(lab, { size, before, only }) {
    for (const protocol of protocolsOf(only)) {
      const target = await lab.target(protocol);
      const pool = { maxSessions: protocol === 'sftp' ? 8 : 64 };
      const start = async (name: string, checkout?: string): Promise<Front> =>
        gatewayFront(await lab.gateway({ connections: { remote: target }, pool, checkout }), 'remote', target, name);
      for (const files of COUNTS) await seed(lab, target, bytesOf(size, files));
      const own = await start('gateway');
      const rivals =
        before === undefined
          ? [await lab.webdav(target), await lab.naiveGateway(target)]
          : [await start(BEFORE, before)];
      for (const front of [own, ...rivals]) await lab.warmUp(front);
      for (const files of COUNTS) {
        for (const direction of ['up', 'down'] satisfies Direction[]) {
          const load = { target, direction, bytes: bytesOf(size, files), files };
          yield {
            name: `${protocol} ${direction} ${files} × ${load.bytes / MIB} MiB`,
            unit: 'MB/s',
            contenders: [own, ...rivals].map((front) => throughFront(lab, load, front)),
            goals: before === undefined ? memoryGoal(protocol, files) : [NOT_SLOWER],
          };
        }
      }
      for (const front of [own, ...rivals]) await front.stop();
    }
  },
};

const bytesOf = (size: number, files: number): number => Math.max(1, Math.floor((size * TOGETHER) / files / MIB)) * MIB;
