/** Child processes: services that run until they are stopped, and commands that run to their end. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const START_MS = 60_000;
const STOP_MS = 20_000;
const COMMAND_MS = 900_000;
const KEPT_WORDS = 4_000;
const SHOWN_ARGUMENTS = 300;

/** Ended with this process, however that ends: an interrupted start has no owner yet. */
const living = new Set<ChildProcess>();
process.once('exit', () => living.forEach((child) => child.kill('SIGTERM')));

export interface Service {
  readonly pid: number;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Called repeatedly until it returns true. */
  readonly isReady: () => Promise<boolean>;
  /** Gets the output as it arrives. */
  readonly hear?: (text: string) => void;
}

/** Starts a service and resolves once it is ready. It is ended by its own id, first with SIGTERM. */
export async function startService(
  command: string,
  args: readonly string[],
  { env = {}, isReady, hear }: ServiceOptions,
): Promise<Service> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  living.add(child);
  child.once('exit', () => living.delete(child));
  const words = listen(child);
  if (hear !== undefined) child.stdout.on('data', hear);
  let failure: Error | undefined;
  child.once('error', (error) => (failure = error));
  const until = Date.now() + START_MS;
  const stop = (): Promise<void> => end(child);
  while (!(await isReady())) {
    if (failure !== undefined) throw failure;
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${command} ended: ${words()}`);
    if (Date.now() > until) {
      await stop();
      throw new Error(`${command} was not ready in ${START_MS} ms: ${words()}`);
    }
    await delay(25);
  }
  return { pid: child.pid as number, stop };
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** Runs a command; resolves with its output, rejects with its error text if it ends with anything but 0. */
export async function runCommand(
  command: string,
  args: readonly string[],
  { env = {}, input = '' }: CommandOptions = {},
): Promise<string> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-KEPT_WORDS)));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const timer = setTimeout(() => child.kill('SIGKILL'), COMMAND_MS);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (code !== 0)
      throw new Error(`${command} ${args.join(' ').slice(0, SHOWN_ARGUMENTS)} ended with ${signal ?? code}: ${words}`);
    return printed;
  } finally {
    clearTimeout(timer);
  }
}

export async function accepts(host: string, port: number): Promise<boolean> {
  const socket = net.connect(port, host);
  const isUp = await new Promise<boolean>((done) => {
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
  socket.destroy();
  return isUp;
}

function listen(child: ChildProcess): () => string {
  let words = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-KEPT_WORDS)));
  }
  return () => words;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const hard = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(hard);
}
