/** Divides the busy time of profiled processes by parts of the program that a reader knows. */
import { readFileSync } from 'node:fs';

/** The output of V8's --cpu-prof, as far as it is read here. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The node of each sample. */
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

export interface ProfileFile {
  readonly path: string;
  /** Time between the start of the process and the moment in which it was ready. */
  readonly skipMs: number;
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

export interface Part {
  readonly name: string;
  /** Part of the busy time, 0 to 1. */
  readonly share: number;
}

const IDLE = '(idle)';
/** Pseudo functions of V8 for time that it cannot see into. */
const PSEUDO: Readonly<Record<string, string>> = {
  '(garbage collector)': 'garbage collection',
  '(program)': 'native code and the kernel outside of JavaScript: reading sockets, the front end, the event loop',
};
/** The first one in the address of a function's file counts. */
const PLACES: readonly (readonly [string, string])[] = [
  ['/node_modules/ssh2/', 'ssh2: packets, ciphers'],
  ['/node_modules/@aws-sdk/', 'the S3 client'],
  ['/node_modules/@smithy/', 'the S3 client'],
  ['/node_modules/basic-ftp/', 'basic-ftp'],
  ['/node_modules/postgres/', 'the database driver'],
  ['/node_modules/prom-client/', 'metrics'],
  ['/node_modules/pino/', 'logs'],
  ['/node_modules/@opentelemetry/', 'traces'],
  ['/node_modules/', 'other packages'],
  ['/src/remotes/sftp/', 'the gateway: SFTP'],
  ['/src/remotes/ftp/', 'the gateway: FTP'],
  ['/src/remotes/s3/', 'the gateway: S3'],
  ['/src/http/', 'the gateway: HTTP'],
  ['/src/storage/', 'the gateway: history and database'],
  ['/src/pools/', 'the gateway: pools'],
  ['/src/', 'the gateway: operations and the rest'],
  ['node:internal/stream_base', 'Node.js: sockets'],
  ['node:net', 'Node.js: sockets'],
  ['node:_http', 'Node.js: HTTP client'],
  ['node:internal/crypto', 'Node.js: cryptography'],
  ['node:crypto', 'Node.js: cryptography'],
  ['node:internal/streams', 'Node.js: streams'],
  ['node:', 'Node.js: the rest'],
];

/** @returns the file's content, without the start of the program */
export function readProfile({ path, skipMs }: ProfileFile): CpuProfile {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(path, 'utf8')) as CpuProfile;
  let elapsed = 0;
  const first = timeDeltas.findIndex((delta) => (elapsed += delta) >= skipMs * 1000);
  return { nodes, samples: samples.slice(first), timeDeltas: timeDeltas.slice(first) };
}

/** Parts of the busy time of all the profiles together, the largest first. */
export function partsOf(profiles: readonly CpuProfile[]): Part[] {
  const times = new Map<string, number>();
  for (const profile of profiles) addTimes(profile, times);
  const busy = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times]
    .map(([name, time]) => ({ name, share: busy === 0 ? 0 : time / busy }))
    .sort((a, b) => b.share - a.share);
}

function addTimes({ nodes, samples, timeDeltas }: CpuProfile, times: Map<string, number>): void {
  const names = partNames(nodes);
  samples.forEach((node, index) => {
    const name = names.get(node);
    if (name !== undefined) times.set(name, (times.get(name) ?? 0) + (timeDeltas[index] ?? 0));
  });
}

/** By node; nothing for idle ones. A native function, which has no file, belongs to the part that called it. */
function partNames(nodes: readonly ProfileNode[]): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const names = new Map<number, string>();
  const waiting = nodes.slice(0, 1).map((node) => ({ node, caller: 'start' }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, caller } = next;
    const name = nameOf(node, caller);
    if (node.callFrame.functionName !== IDLE) names.set(node.id, name);
    for (const id of node.children ?? []) {
      const child = byId.get(id);
      if (child !== undefined) waiting.push({ node: child, caller: name });
    }
  }
  return names;
}

function nameOf({ callFrame: { functionName, url } }: ProfileNode, caller: string): string {
  const pseudo = PSEUDO[functionName];
  if (pseudo !== undefined) return pseudo;
  if (url === '') return WRITES.has(functionName) ? 'the kernel: writing to sockets' : caller;
  return PLACES.find(([place]) => url.includes(place))?.[1] ?? caller;
}

/** Functions of Node.js's system streams that end in write(2). */
const WRITES: ReadonlySet<string> = new Set(['writeBuffer', 'writev', 'writeUtf8String', 'writeLatin1String']);
