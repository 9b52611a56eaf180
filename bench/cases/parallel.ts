import { MIB } from '../lab/lab.js';
import type { Protocol } from '../lab/target.js';
import type { BenchCase, Goal } from '../scenario.js';
import { protocolsOf } from './large.js';
import { gatewayFront, seed, throughFront, type Direction } from './transfers.js';

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
  async *scenarios(lab, { size, only }) {
    for (const protocol of protocolsOf(only)) {
      const target = await lab.target(protocol);
      const pool = { maxSessions: protocol === 'sftp' ? 8 : 64 };
      const gateway = await lab.gateway({ connections: { remote: target }, pool });
      for (const files of COUNTS) await seed(lab, target, bytesOf(size, files));
      const [webdav, naive] = [await lab.webdav(target), await lab.naiveGateway(target)];
      const own = gatewayFront(gateway, 'remote', target);
      await lab.warmUp(own);
      for (const files of COUNTS) {
        for (const direction of ['up', 'down'] satisfies Direction[]) {
          const load = { target, direction, bytes: bytesOf(size, files), files };
          yield {
            name: `${protocol} ${direction} ${files} × ${load.bytes / MIB} MiB`,
            unit: 'MB/s',
            contenders: [own, webdav, naive].map((front) => throughFront(lab, load, front)),
            goals: memoryGoal(protocol, files),
          };
        }
      }
      for (const service of [gateway, webdav, naive]) await service.stop();
    }
  },
};

const bytesOf = (size: number, files: number): number => Math.max(1, Math.floor((size * TOGETHER) / files / MIB)) * MIB;
