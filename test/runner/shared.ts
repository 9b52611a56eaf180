/** Starts what the files of a run share (test/support/shared.ts), each when it is first asked for, and ends all of it with the run. */
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DONE, SHARED_VARIABLE, type Stoppable } from '../support/shared.js';

export interface Kind {
  start(): Promise<Stoppable>;
  /** Serves one file at a time: there are as many as files that use one at once. */
  readonly isExclusive?: boolean;
}

interface Instance {
  readonly running: Promise<Stoppable>;
  isTaken: boolean;
  /** Ends an exclusive one that no file has used for a while: it would measure and poll beside the others. */
  idle?: NodeJS.Timeout;
}

const IDLE_MS = 20_000;

/** Loaded when the first file asks, for most runs ask for few. */
const KINDS: Readonly<Record<string, Kind>> = {
  gateway: { start: async () => (await import('../support/account.js')).startShareable(), isExclusive: true },
  'prompt gateway': {
    start: async () => (await import('../support/account.js')).startShareable(true),
    isExclusive: true,
  },
  radosgw: { start: async () => (await import('../servers/radosgw.js')).startRadosgw() },
  swift: { start: async () => (await import('../servers/swift.js')).startSwift() },
};

/** Resolves to the function that ends everything, once the address is in the environment of the files to come. */
export async function serveShared(folder: string, kinds = KINDS): Promise<() => Promise<void>> {
  const instances = new Map<string, Instance[]>();
  const server = net.createServer((socket) => {
    // A file that is killed resets it.
    socket.on('error', () => undefined);
    void serve(socket, kinds, instances);
  });
  const address = process.platform === 'win32' ? `\\\\.\\pipe\\ftg-tests-${process.pid}` : path.join(folder, 'shared');
  server.listen(address);
  await once(server, 'listening');
  server.unref();
  process.env[SHARED_VARIABLE] = address;
  return async () => {
    delete process.env[SHARED_VARIABLE];
    server.close();
    await Promise.allSettled(
      [...instances.values()].flat().map(async ({ running, idle }) => {
        clearTimeout(idle);
        await (await running).stop();
      }),
    );
  };
}

async function serve(
  socket: net.Socket,
  kinds: Readonly<Record<string, Kind>>,
  instances: Map<string, Instance[]>,
): Promise<void> {
  const lines = createInterface(socket);
  const closed = once(socket, 'close');
  const [name = ''] = (await Promise.race([once(lines, 'line'), closed])) as string[];
  const kind = kinds[name];
  if (kind === undefined) return void socket.end(`${JSON.stringify({ error: `there is no shared ${name}` })}\n`);
  const all = instances.get(name) ?? [];
  instances.set(name, all);
  const instance = take(kind, all);
  let isClean = false;
  lines.on('line', (line) => (isClean ||= line === DONE));
  try {
    // Functions do not pass: what is left says where the server is.
    socket.write(`${JSON.stringify({ facts: await instance.running })}\n`);
  } catch (error) {
    all.splice(all.indexOf(instance), 1);
    return void socket.end(`${JSON.stringify({ error: error instanceof Error ? error.stack : String(error) })}\n`);
  }
  await closed;
  instance.isTaken = false;
  if (kind.isExclusive !== true) return;
  const end = async (): Promise<void> => {
    all.splice(all.indexOf(instance), 1);
    await (await instance.running).stop();
  };
  // What a file left in it when it died is for no other file.
  if (isClean) instance.idle = setTimeout(() => void end(), IDLE_MS);
  else await end();
}

function take(kind: Kind, all: Instance[]): Instance {
  const found = all.find((instance) => kind.isExclusive !== true || !instance.isTaken);
  const instance = found ?? { running: kind.start(), isTaken: true };
  instance.isTaken = true;
  clearTimeout(instance.idle);
  if (found === undefined) all.push(instance);
  return instance;
}
