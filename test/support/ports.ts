import { randomInt } from 'node:crypto';
import net from 'node:net';

/** Below those that the system itself gives away (net.ipv4.ip_local_port_range): nobody gets it before it is used. */
const LOWEST = 20_000;
const HIGHEST = 32_000;
const LOWEST_HUNDRED = 100;
const given = new Set<number>();

/** The first of a hundred ports that a server may give away itself; below all others, and no process gets them twice. */
export function freeHundred(): number {
  const first = randomInt(LOWEST_HUNDRED, LOWEST / 100) * 100;
  if (given.has(first)) return freeHundred();
  given.add(first);
  return first;
}

/** A port of loopback that was free a moment ago; no process gets one twice. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
