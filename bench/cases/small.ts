import { getRequest, uploadRequest, type GatewayUnderTest, type Request } from '../lab/gateway.js';
import type { Lab } from '../lab/lab.js';
import type { Protocol, Target } from '../lab/target.js';
import { applyLoad } from '../load/load.js';
import type { HttpCall, SmallOperation } from '../load/spec.js';
import { BEFORE, type BenchCase, type Contender, type Goal, NOT_SLOWER } from '../scenario.js';
import { protocolsOf } from './large.js';

const BYTES = 4096;
const LISTED = 1000;
const FILE = 'small';
const FOLDER = 'thousand';
/** What the gateway opens by default for one host. */
const SESSIONS = 8;
const SECONDS = { quick: 2, full: 6 } as const;

interface Row {
  readonly operation: SmallOperation;
  readonly clients: number;
}

const ROWS: readonly Row[] = [
  { operation: 'upload', clients: 32 },
  { operation: 'upload', clients: 1 },
  { operation: 'download', clients: 32 },
  { operation: 'download', clients: 1 },
  { operation: 'exists', clients: 32 },
  { operation: 'exists', clients: 1 },
  { operation: 'list', clients: 8 },
  { operation: 'list', clients: 1 },
];

const BARE: Readonly<Record<Protocol, string>> = { sftp: 'bare ssh2', ftp: 'bare basic-ftp', s3: 'bare SDK' };

export const small: BenchCase = {
  name: 'small',
  title: `${BYTES / 1024} KiB files: upload, download, exists, list of ${LISTED}`,
  about:
    'Clients that each have one operation under way, in a process of their own, over kept connections. The bare ' +
    `libraries use as many warm sessions (${SESSIONS}) and the same remote calls: for an upload a hidden name, a size check and ` +
    'a rename. The gateway moreover writes a history row to its database, durably, before it answers. ' +
    'The p50 of one client shows what the gateway adds to a call.',
  async *scenarios(lab, { quick, before, only }) {
    const seconds = quick ? SECONDS.quick : SECONDS.full;
    const body = await lab.source(BYTES);
    for (const protocol of protocolsOf(only)) {
      const target = await lab.target(protocol);
      await lab.store(target, FILE, body);
      for (let index = 0; index < LISTED; index += 1) await lab.storeIn(target, FOLDER, `file-${index}`);
      const connections = { remote: target };
      const gateway = await lab.gateway({ connections });
      const old = before === undefined ? undefined : await lab.gateway({ connections, checkout: before });
      const webdav = before === undefined ? await lab.webdav(target) : undefined;
      const through = (name: string, { operation, clients }: Row, request: Request, service: Watched): Contender =>
        loaded(lab, target, name, operation, clients, seconds, asCall(request, operation, body), service);
      const ours = (name: string, row: Row, front: GatewayUnderTest): Contender =>
        through(name, row, ownRequest(row.operation, { gateway: front, connection: 'remote', target }), front);
      for (const row of ROWS) {
        const { operation, clients } = row;
        const contenders = [ours('gateway', row, gateway)];
        if (old !== undefined) contenders.push(ours(BEFORE, row, old));
        else contenders.push(bare(lab, target, operation, clients, seconds, body));
        // Its other operations are answered from a cache of the folder and cost no remote call.
        if (webdav !== undefined && (operation === 'upload' || operation === 'download')) {
          const request = operation === 'upload' ? webdav.upload('dav-{n}') : webdav.download(FILE);
          contenders.push(through(webdav.name, row, request, webdav));
        }
        yield {
          name: `${protocol} ${operation}, ${clients} client${clients === 1 ? '' : 's'}`,
          unit: 'ops/s',
          contenders,
          goals: before === undefined ? goals(protocol, operation, clients) : [NOT_SLOWER],
        };
      }
      for (const service of [gateway, old, webdav]) await service?.stop();
    }
  },
};

function goals(protocol: Protocol, operation: SmallOperation, clients: number): readonly Goal[] {
  const against = BARE[protocol];
  if (operation === 'exists' && clients === 1) return [{ kind: 'added', against, atMostMs: 1.5 }];
  if (clients !== 32 || (operation !== 'upload' && operation !== 'download')) return [];
  const overWebdav = operation === 'upload' ? 8 : 2;
  const asFastAsBare: Goal[] = protocol === 's3' ? [] : [{ kind: 'ratio', against, atLeast: 0.8 }];
  return [...asFastAsBare, { kind: 'ratio', against: 'rclone serve webdav', atLeast: overWebdav }];
}

function ownRequest(operation: SmallOperation, place: Parameters<typeof uploadRequest>[0]): Request {
  if (operation === 'upload') return uploadRequest(place, '{n}');
  return getRequest(place, operation, operation === 'list' ? FOLDER : FILE);
}

const asCall = ({ method, url, headers }: Request, operation: SmallOperation, body: string): HttpCall => ({
  kind: 'http',
  method,
  url: url.replace('%7Bn%7D', '{n}'),
  headers,
  ...(operation === 'upload' ? { bodyFile: body } : {}),
});

interface Watched {
  readonly pid: number;
  readonly loopDelayMs?: () => Promise<number>;
  readonly restMiB?: number;
}

function loaded(
  lab: Lab,
  target: Target,
  name: string,
  operation: SmallOperation,
  clients: number,
  seconds: number,
  call: HttpCall,
  service: Watched,
): Contender {
  const { loopDelayMs, restMiB } = service;
  return {
    name,
    pid: service.pid,
    ...(loopDelayMs === undefined ? {} : { loopDelayMs }),
    ...(restMiB === undefined ? {} : { restMiB }),
    run: () => applyLoad({ call, clients, seconds }, BYTES),
    ...(operation === 'upload'
      ? { verify: () => expectLast(lab, target, name.startsWith('gateway') ? '' : 'dav-') }
      : {}),
  };
}

function bare(
  lab: Lab,
  target: Target,
  operation: SmallOperation,
  clients: number,
  seconds: number,
  body: string,
): Contender {
  const names = { upload: 'bare-', download: FILE, exists: FILE, list: FOLDER };
  const call = { kind: 'bare', target, operation, sessions: SESSIONS, name: names[operation], bodyFile: body } as const;
  // FTP carries one operation a session: more callers than sessions would only wait for each other.
  const callers = target.protocol === 'ftp' ? Math.min(clients, SESSIONS) : clients;
  return {
    name: BARE[target.protocol],
    run: () => applyLoad({ call, clients: callers, seconds }, BYTES),
    ...(operation === 'upload' ? { verify: () => expectLast(lab, target, 'bare-') } : {}),
  };
}

/** Each run writes this one, among others. */
async function expectLast(lab: Lab, target: Target, prefix: string): Promise<void> {
  await lab.expectStored(target, `${prefix}0-0`, await lab.source(BYTES));
}
