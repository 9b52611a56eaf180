import { MIB } from '../lab/lab.js';
import type { BenchCase } from '../scenario.js';
import { protocolsOf } from './large.js';
import { gatewayFront, seed, throughFront, type Direction, type Load } from './transfers.js';

const SIZE_STEPS: readonly number[] = [1 / 16, 1 / 4, 1, 2];
const FILES: readonly number[] = [4, 16, 64];
/** The size of all files of one scenario together, in relation to the large file. */
const TOGETHER = 1;
/**
 * For a single transfer: everything that the process needs in addition to its memory at rest, including buffers that
 * wait for the collector.
 */
const ALONE_MIB = 100;
const EACH_MIB = 4;

export const memory: BenchCase = {
  name: 'memory',
  title: 'memory of the process against file size and against parallel transfers',
  about:
    'Peak resident memory (VmHWM, set back before every run) of a gateway that lives through the whole case. ' +
    'It must not follow the size of a file.',
  async *scenarios(lab, { size, only }) {
    for (const protocol of protocolsOf(only)) {
      const target = await lab.target(protocol);
      const pool = { maxSessions: protocol === 'sftp' ? 8 : 64 };
      const gateway = await lab.gateway({ connections: { remote: target }, pool });
      const own = gatewayFront(gateway, 'remote', target);
      await lab.warmUp(own);
      const loads = [
        ...SIZE_STEPS.map((step) => ({ bytes: whole(size * step), files: 1 })),
        ...FILES.map((files) => ({ bytes: whole((size * TOGETHER) / files), files })),
      ];
      for (const { bytes, files } of loads) {
        await seed(lab, target, bytes);
        for (const direction of ['up', 'down'] satisfies Direction[]) {
          const load: Load = { target, direction, bytes, files };
          yield {
            name: `${protocol} ${direction} ${files} × ${bytes / MIB} MiB`,
            unit: 'MB/s',
            contenders: [throughFront(lab, load, own)],
            goals: [{ kind: 'memory', atMostMiB: ALONE_MIB + EACH_MIB * (files - 1) }],
          };
        }
      }
      await gateway.stop();
    }
  },
};

const whole = (bytes: number): number => Math.max(1, Math.floor(bytes / MIB)) * MIB;
