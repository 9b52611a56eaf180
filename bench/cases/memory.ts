import { runJob } from '../lab/job-client.js';
import { type Lab, MIB } from '../lab/lab.js';
import { residentMiB } from '../lab/process-meter.js';
import { BEFORE, type BenchCase, type CaseOptions, type Contender, type Scenario } from '../scenario.js';
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

/** The most memory that a job may need, however many files it has, and the longest that it may block the event loop. */
const JOB_MIB = 80;
const JOB_STALL_MS = 20;
/** Code that the first job loads stays loaded. */
const FEW_OBJECTS = 2_000;

export const memory: BenchCase = {
  name: 'memory',
  title: 'memory of the process against file size, parallel transfers and the number of files',
  about:
    'Peak resident memory (VmHWM, set back before every run) of a gateway that lives through the whole case. ' +
    'It must not follow the size of a file, nor the number of files of a job: one finds a million objects, another one ' +
    'deletes 200,000.',
  async *scenarios(lab, options) {
    const { size, only } = options;
    yield* manyFiles(lab, options);
    if (only.startsWith('a job')) return;
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

/** What jobs do with many objects of a store. */
async function* manyFiles(lab: Lab, { quick, before, only }: CaseOptions): AsyncGenerator<Scenario> {
  const [found, deleted] = quick ? [20_000, 4_000] : [1_000_000, 200_000];
  const works = [
    ['finds', found],
    ['deletes', deleted],
  ] as const;
  const wanted = works.map(
    ([what, objects]) => [`a job ${what} ${objects.toLocaleString('en')} objects`, what, objects] as const,
  );
  for (const [name, what, objects] of wanted.filter(([name]) => ` ${name}`.includes(` ${only}`))) {
    const contenders: Contender[] = [];
    for (const checkout of [undefined, ...(before === undefined ? [] : [before])]) {
      const target = await lab.largeStore();
      const gateway = await lab.gateway({ connections: { remote: target }, checkout });
      // Each deletes trees of its own.
      let trees = 0;
      const work = async (count: number): Promise<void> => {
        const path = `/${checkout === undefined ? 'own' : 'former'}-${trees++}/tree-${count}`;
        const source = { connectionId: 'remote', path };
        if (what === 'deletes') await runJob(gateway, { type: 'delete', source });
        else
          await runJob(gateway, {
            type: 'copy',
            dryRun: true,
            source,
            destination: { connectionId: 'remote', path: '/nowhere' },
          });
      };
      await work(FEW_OBJECTS);
      contenders.push({
        name: checkout === undefined ? 'gateway' : BEFORE,
        pid: gateway.pid,
        restMiB: residentMiB(gateway.pid),
        longestStallMs: gateway.longestStallMs,
        run: async () => {
          await work(objects);
          return { bytes: 0, operations: objects };
        },
      });
    }
    yield {
      name,
      unit: 'ops/s',
      contenders,
      goals: [
        { kind: 'memory', atMostMiB: JOB_MIB },
        { kind: 'stall', atMostMs: JOB_STALL_MS },
      ],
    };
  }
}

const whole = (bytes: number): number => Math.max(1, Math.floor(bytes / MIB)) * MIB;
