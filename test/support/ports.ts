import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';

/**
 * Below those that the system itself assigns (net.ipv4.ip_local_port_range): no other program gets one before it is
 * used.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;
const LOWEST_HUNDRED = 100;
/** Ports that tests hold, each with the process: test files run concurrently, and a server needs a moment to listen. */
const HELD = '/tmp/ftg-test-ports';
const held = new Set<string>();

/** The first of a hundred ports that a server may assign itself; below all others. */
export function freeHundred(): number {
  for (;;) {
    const first = randomInt(LOWEST_HUNDRED, LOWEST / 100) * 100;
    if (hold(first)) return first;
  }
}

/** A port of loopback that was free a moment ago, and is held by no other test. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (hold(port) && (await isFree(port))) return port;
  }
}

/** Held for as long as this process lives. */
function hold(port: number): boolean {
  if (held.size === 0) {
    mkdirSync(HELD, { recursive: true });
    process.once('exit', () => held.forEach((file) => rmSync(file, { force: true })));
  }
  const file = `${HELD}/${port}`;
  if (held.has(file) || isTaken(file)) return false;
  held.add(file);
  return true;
}

function isTaken(file: string): boolean {
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return false;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (lives(file)) return true;
    rmSync(file, { force: true });
  }
}

/** Whether its holder is alive; a file that was just being written counts. */
function lives(file: string): boolean {
  try {
    const pid = Number(readFileSync(file, 'latin1'));
    return pid === 0 || process.kill(pid, 0);
  } catch (error) {
    // It has been released, or its process is gone.
    return !['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
