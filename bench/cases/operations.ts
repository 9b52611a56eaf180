import { getRequest, uploadRequest, type GatewayOptions, type GatewayUnderTest, type Request } from '../lab/gateway.js';
import type { Lab } from '../lab/lab.js';
import type { Protocol, Target } from '../lab/target.js';
import { applyLoad } from '../load/load.js';
import type { HttpCall, SmallOperation } from '../load/spec.js';
import { BARE, operationsSummary, pictured, VARIANTS } from '../report/operations.js';
import { hasRclone } from '../rivals/rclone.js';
import { WEBDAV } from '../rivals/http-gateways.js';
import {
  BEFORE,
  NOT_SLOWER,
  type BenchCase,
  type CaseOptions,
  type Contender,
  type Goal,
  type Scenario,
  type Window,
} from '../scenario.js';
import { protocolsOf } from './large.js';

const BYTES = 4096;
const LISTED = 1000;
const FILE = 'small';
const FOLDER = 'thousand';
/** The gateway's default number of sessions to one host. */
const SESSIONS = 8;
const SECONDS = { quick: 2, full: 3 } as const;
const PATIENT_SECONDS = { quick: 5, full: 60 } as const;

/** These reach no remote server. */
type OwnOperation = 'healthz' | 'me';
type Operation = SmallOperation | OwnOperation;

interface Row {
  readonly operation: Operation;
  readonly clients: number;
  readonly goals?: readonly Goal[];
}

const cpu = (atMostMs: number): Goal => ({ kind: 'cpu', atMostMs });
const ratio = (against: string, atLeast: number): Goal => ({ kind: 'ratio', against, atLeast });
const FOUR_LOOPS: Goal = { kind: 'cost', of: VARIANTS.fourLoops, atMost: 1.15 };

const OWN_ROWS: readonly Row[] = [
  { operation: 'healthz', clients: 32, goals: [cpu(0.02)] },
  { operation: 'me', clients: 32, goals: [cpu(0.05)] },
];
const SFTP_ROWS: readonly Row[] = [
  { operation: 'exists', clients: 32, goals: [cpu(0.18), ratio(BARE.sftp, 0.15), FOUR_LOOPS] },
  { operation: 'download', clients: 32, goals: [cpu(0.4), ratio(BARE.sftp, 0.3), ratio(WEBDAV, 1.5), FOUR_LOOPS] },
  { operation: 'upload', clients: 32, goals: [cpu(0.55), ratio(BARE.sftp, 0.3), ratio(WEBDAV, 3), FOUR_LOOPS] },
];
const ROWS: readonly Row[] = [
  { operation: 'exists', clients: 32 },
  { operation: 'download', clients: 32 },
  { operation: 'upload', clients: 32 },
];
/** Rows that the table of the page leaves out. */
const MORE_ROWS: readonly Row[] = [
  { operation: 'exists', clients: 1 },
  { operation: 'download', clients: 1 },
  { operation: 'upload', clients: 1 },
  { operation: 'list', clients: 8 },
];

export const operations: BenchCase = {
  name: 'operations',
  title: 'what one small operation costs',
  about:
    `Clients that each have one operation under way, in a process of their own, over kept connections; files of ${BYTES / 1024} KiB, ` +
    `lists of ${LISTED}. Every gateway has worked for some 20 s before. The bare libraries use as many warm sessions (${SESSIONS}) and ` +
    'the same remote calls, and the processor time is that of the process with the loop around them; for an upload a hidden ' +
    'name, a size check and a rename. The gateway moreover checks a key, a plan and paths, and writes a history row to its database. ' +
    'That database works for it alone; its processor time is that of all its processes. Allocated is what V8 made on its heap, without the memory of buffers.',
  scenarios: rowByRow,
  summary: operationsSummary,
  pictured,
};

async function* rowByRow(lab: Lab, options: CaseOptions): AsyncGenerator<Scenario> {
  const { quick, before, only } = options;
  const seconds = quick ? SECONDS.quick : SECONDS.full;
  for (const protocol of quick && only === '' ? (['sftp'] as const) : protocolsOf(only)) {
    const isFirst = protocol === 'sftp';
    const target = await lab.target(protocol);
    await lab.store(target, FILE, await lab.source(BYTES));
    if (!quick) for (let index = 0; index < LISTED; index += 1) await lab.storeIn(target, FOLDER, `file-${index}`);
    const start = async (name: string, more: Partial<GatewayOptions> = {}): Promise<Front> => {
      const gateway = await lab.gateway({ connections: { remote: target }, countsAllocation: true, ...more });
      return { name, gateway };
    };
    const gateways = [await start('gateway')];
    if (before !== undefined) gateways.push(await start(BEFORE, { checkout: before }));
    else if (isFirst && !quick) {
      gateways.push(
        await start(VARIANTS.nodeFrontEnd, { server: { frontEnd: 'node' } }),
        await start(VARIANTS.noNativeCrypto, { hasNativeCrypto: false }),
        await start(VARIANTS.fourLoops, { server: { threads: 4 } }),
      );
    }
    const webdav = before === undefined && (await hasRclone()) ? await lab.webdav(target) : undefined;
    const bench: Bench = { lab, target, body: await lab.source(BYTES) };
    const through = (front: Front, row: Row): Contender => throughGateway(bench, front, row, seconds);
    for (const front of gateways) for (const row of ROWS) await through(front, row).run(0, UNTIMED);

    const rows = [...(isFirst ? [...OWN_ROWS, ...SFTP_ROWS] : ROWS), ...(quick ? [] : MORE_ROWS)];
    for (const row of rows) {
      const { operation, clients } = row;
      // One client shows the latency of a call, not its cost: only the first gateway is needed.
      const contenders = gateways
        .filter(({ name }, index) => index === 0 || name === BEFORE || clients === 32)
        .filter(({ name }) => !isOwn(operation) || name !== VARIANTS.noNativeCrypto)
        .map((front) => through(front, row));
      if (before === undefined && !isOwn(operation)) {
        contenders.push(bare(bench, operation, clients, seconds));
        // Its other operations are answered from a cache of the folder and cost no remote call.
        if (webdav !== undefined && (operation === 'upload' || operation === 'download')) {
          const request = operation === 'upload' ? webdav.upload('dav-{n}') : webdav.download(FILE);
          contenders.push(loaded(bench, WEBDAV, row, seconds, request, webdav));
        }
      }
      const goals = (row.goals ?? []).filter((goal) => hasRival(goal, contenders));
      yield {
        name: nameOf(row, protocol),
        unit: 'ops/s',
        contenders,
        goals: before === undefined ? goals : [NOT_SLOWER],
      };
    }
    if (isFirst && before === undefined) yield twoForAMinute(bench, gateways[0] as Front, quick);
    for (const service of [...gateways.map(({ gateway }) => gateway), webdav]) await service?.stop();
  }
}

/** A gateway with little work must answer at once. */
function twoForAMinute(bench: Bench, front: Front, quick: boolean): Scenario {
  const seconds = quick ? PATIENT_SECONDS.quick : PATIENT_SECONDS.full;
  return {
    name: `sftp exists, 2 clients for ${seconds} s`,
    unit: 'ops/s',
    contenders: [throughGateway(bench, front, { operation: 'exists', clients: 2 }, seconds)],
    goals: [{ kind: 'p99', atMostMs: 10 }],
  };
}

interface Bench {
  readonly lab: Lab;
  readonly target: Target;
  readonly body: string;
}

interface Front {
  readonly name: string;
  readonly gateway: GatewayUnderTest;
}

const UNTIMED: Window = { begin: () => undefined, end: () => undefined };

const isOwn = (operation: Operation): operation is OwnOperation => operation === 'healthz' || operation === 'me';

function nameOf({ operation, clients }: Row, protocol: Protocol): string {
  return `${isOwn(operation) ? '' : `${protocol} `}${operation}, ${clients} client${clients === 1 ? '' : 's'}`;
}

/** A rival that is not installed, or a gateway that a quick run leaves out, is not judged. */
function hasRival(goal: Goal, contenders: readonly Contender[]): boolean {
  const rival = goal.kind === 'ratio' ? goal.against : goal.kind === 'cost' ? goal.of : undefined;
  return rival === undefined || contenders.some(({ name }) => name === rival);
}

function throughGateway(bench: Bench, { name, gateway }: Front, row: Row, seconds: number): Contender {
  const contender = loaded(bench, name, row, seconds, ownRequest(row.operation, gateway, bench.target), gateway);
  return { ...contender, allocatedBytes: gateway.allocatedBytes };
}

function ownRequest(operation: Operation, gateway: GatewayUnderTest, target: Target): Request {
  const place = { gateway, connection: 'remote', target };
  switch (operation) {
    case 'healthz':
      return { method: 'GET', url: `${gateway.url}/healthz`, headers: {} };
    case 'me':
      return { method: 'GET', url: `${gateway.url}/api/me`, headers: gateway.headers };
    case 'upload':
      return uploadRequest(place, '{n}');
    default:
      return getRequest(place, operation, operation === 'list' ? FOLDER : FILE);
  }
}

function loaded(
  { lab, target, body }: Bench,
  name: string,
  { operation, clients }: Row,
  seconds: number,
  { method, url, headers }: Request,
  service: { readonly pid: number; readonly restMiB?: number; readonly databasePid?: number },
): Contender {
  const sent = operation === 'upload' ? { bodyFile: body } : {};
  const call: HttpCall = { kind: 'http', method, url: url.replace('%7Bn%7D', '{n}'), headers, ...sent };
  return {
    name,
    pid: service.pid,
    ...(service.restMiB === undefined ? {} : { restMiB: service.restMiB }),
    databasePid: service.databasePid,
    run: (_, window) => applyLoad({ call, clients, seconds }, BYTES, window),
    ...(operation === 'upload' ? { verify: () => expectLast(lab, target, name === WEBDAV ? 'dav-' : '') } : {}),
  };
}

function bare({ lab, target, body }: Bench, operation: SmallOperation, clients: number, seconds: number): Contender {
  const names = { upload: 'bare-', download: FILE, exists: FILE, list: FOLDER };
  const call = { kind: 'bare', target, operation, sessions: SESSIONS, name: names[operation], bodyFile: body } as const;
  // FTP carries one operation per session: more callers than sessions would only wait for each other.
  const callers = target.protocol === 'ftp' ? Math.min(clients, SESSIONS) : clients;
  return {
    name: BARE[target.protocol],
    run: (_, window) => applyLoad({ call, clients: callers, seconds }, BYTES, window),
    ...(operation === 'upload' ? { verify: () => expectLast(lab, target, 'bare-') } : {}),
  };
}

/** Each run writes this one, among others. */
async function expectLast(lab: Lab, target: Target, prefix: string): Promise<void> {
  await lab.expectStored(target, `${prefix}0-0`, await lab.source(BYTES));
}
