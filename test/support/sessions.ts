import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 2;
const ESTABLISHED = '01';

/**
 * What `work` comes to, and how many connections to `server` were open at once meanwhile: as the kernel sees its side of
 * them, where one that the client has closed is none any more.
 */
export async function countingSessions<T>(
  server: { readonly port: number },
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly most: number }> {
  let most = 0;
  const looking = setInterval(() => (most = Math.max(most, established(server.port))), LOOK_EVERY_MS);
  try {
    return { result: await work(), most };
  } finally {
    clearInterval(looking);
  }
}

function established(port: number): number {
  const [, ...rows] = readFileSync('/proc/net/tcp', 'latin1').trimEnd().split('\n');
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return rows.filter((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/);
    return state === ESTABLISHED && local.endsWith(`:${hex}`);
  }).length;
}
