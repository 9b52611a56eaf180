import { residentMiB } from '../lab/process-meter.js';
import type { GatewayUnderTest } from '../lab/gateway.js';
import { runJob } from '../lab/job-client.js';
import type { Lab } from '../lab/lab.js';
import { pathOn, type Protocol, type Target } from '../lab/target.js';
import { expectSameTree, removeTree, storeTree, type Tree } from '../lab/trees.js';
import { hasAwsCli } from '../rivals/command-line.js';
import { awsSync, type FolderClient, type FolderPlace, rclone, RCLONE_COPY, RCLONE_SYNC } from '../rivals/folders.js';
import { hasRclone } from '../rivals/rclone.js';
import {
  BEFORE,
  NOT_SLOWER,
  type BenchCase,
  type CaseOptions,
  type Contender,
  type Goal,
  type Scenario,
} from '../scenario.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const SMALL = { quick: { files: 1_000, bytes: 4 * KIB }, full: { files: 10_000, bytes: 4 * KIB } } as const;
const LARGE = { quick: { files: 20, bytes: 10 * MIB }, full: { files: 200, bytes: 10 * MIB } } as const;
const WARM_UP: Tree = { files: 200, bytes: 4 * KIB };
/** As many as one job of the gateway runs at once. */
const AT_ONCE = 16;
const WAYS: readonly (readonly [Protocol, Protocol])[] = [
  ['sftp', 's3'],
  ['sftp', 'ftp'],
  ['s3', 'sftp'],
];
const SOURCE = 'source';

export const jobs: BenchCase = {
  name: 'jobs',
  title: 'whole folders, from one server to another',
  about:
    'A tree is copied into an empty folder, by a sync job of the gateway and by the clients with as many transfers and checkers ' +
    `(${AT_ONCE}) as such a job has files under way; then a second sync finds nothing to do. rclone takes the times of a store's ` +
    'objects from its listing (`--use-server-modtime --update`), as the gateway does. `aws s3 sync` has the tree on its own disk.',
  scenarios: wayByWay,
};

async function* wayByWay(lab: Lab, options: CaseOptions): AsyncGenerator<Scenario> {
  const { quick, before, only } = options;
  const [small, large] = [SMALL, LARGE].map((sizes) => (quick ? sizes.quick : sizes.full)) as [Tree, Tree];
  for (const [from, to] of WAYS) {
    for (const tree of [small, large]) {
      const name = `${from} to ${to}, ${tree.files.toLocaleString('en')} × ${sizeOf(tree)}`;
      if (!` ${name}`.includes(` ${only}`)) continue;
      const [source, target] = [await lab.target(from), await lab.target(to)];
      await storeTree(source, SOURCE, tree);
      const movers = before === undefined ? await rivals(from, to) : [];
      const gateways = await Promise.all(
        [undefined, ...(before === undefined ? [] : [before])].map((checkout) =>
          started(lab, source, target, checkout),
        ),
      );
      const all = [...gateways, ...movers];
      const way: Way = { tree, source: { target: source, folder: SOURCE }, target };
      const isSmall = tree === small;
      yield {
        name,
        unit: isSmall ? 'ops/s' : 'MB/s',
        contenders: all.map((mover) => first(way, mover)),
        goals: before === undefined ? firstGoals(from, isSmall) : [NOT_SLOWER],
      };
      const syncs = all.filter((mover) => mover.name !== RCLONE_COPY);
      yield {
        name: `${name}, again`,
        unit: 'ops/s',
        contenders: syncs.map((mover) => again(way, mover)),
        goals: before === undefined ? [{ kind: 'ratio', against: RCLONE_SYNC, atLeast: 0.83 }] : [NOT_SLOWER],
      };
      for (const mover of all) await removeTree(target, placeOf(mover, 0), tree);
      await removeTree(source, SOURCE, tree);
      for (const { gateway } of gateways) await gateway?.stop();
    }
  }
}

function firstGoals(from: Protocol, isSmall: boolean): Goal[] {
  if (isSmall && from === 's3') return [];
  return [{ kind: 'ratio', against: RCLONE_COPY, atLeast: isSmall ? 1.5 : 1 }];
}

interface Mover extends FolderClient {
  readonly gateway?: GatewayUnderTest;
  readonly restMiB?: number;
}

interface Way {
  readonly tree: Tree;
  readonly source: FolderPlace;
  readonly target: Target;
}

async function rivals(from: Protocol, to: Protocol): Promise<FolderClient[]> {
  return [
    ...((await hasRclone()) ? [rclone(RCLONE_COPY, AT_ONCE), rclone(RCLONE_SYNC, AT_ONCE)] : []),
    ...((from === 's3' || to === 's3') && (await hasAwsCli()) ? [awsSync] : []),
  ];
}

async function started(lab: Lab, source: Target, target: Target, checkout: string | undefined): Promise<Mover> {
  const gateway = await lab.gateway({ connections: { source, target }, checkout });
  const name = checkout === undefined ? 'gateway' : BEFORE;
  const run = (from: FolderPlace, to: FolderPlace): Promise<unknown> =>
    runJob(gateway, {
      type: 'sync',
      source: { connectionId: 'source', path: pathOn(from.target, from.folder) },
      destination: { connectionId: 'target', path: pathOn(to.target, to.folder) },
    });
  const folder = `warm-up-${slugOf(name)}`;
  await storeTree(source, folder, WARM_UP);
  await run({ target: source, folder }, { target, folder: `${folder}-copy` });
  await removeTree(source, folder, WARM_UP);
  await removeTree(target, `${folder}-copy`, WARM_UP);
  return { name, gateway, run, restMiB: residentMiB(gateway.pid) };
}

function first(way: Way, mover: Mover): Contender {
  const { tree, source, target } = way;
  return {
    ...contender(way, mover, (round) => round),
    verify: async (round) => {
      const folder = placeOf(mover, round);
      await expectSameTree(tree, source, { target, folder });
      // The first round's result is what the second sync finds.
      if (round > 0) await removeTree(target, folder, tree);
    },
  };
}

function again(way: Way, mover: Mover): Contender {
  return contender(way, mover, () => 0);
}

function contender({ tree, source, target }: Way, mover: Mover, roundOf: (round: number) => number): Contender {
  const { gateway } = mover;
  return {
    name: mover.name,
    ...(gateway && { pid: gateway.pid, databasePid: gateway.databasePid, loopDelayMs: gateway.loopDelayMs }),
    ...(mover.restMiB !== undefined && { restMiB: mover.restMiB }),
    run: async (round) => {
      await mover.run(source, { target, folder: placeOf(mover, roundOf(round)) });
      return { bytes: tree.bytes * tree.files, operations: tree.files };
    },
  };
}

const slugOf = (name: string): string => name.replaceAll(/[^a-z0-9]+/g, '-');
const placeOf = (mover: Mover, round: number): string => `copy-${slugOf(mover.name)}-${round}`;
const sizeOf = ({ bytes }: Tree): string => (bytes < MIB ? `${bytes / KIB} KiB` : `${bytes / MIB} MiB`);
