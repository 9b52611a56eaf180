import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 2;
const ESTABLISHED = '01';

/**
 * The result of `work`, and how many connections to `server` were open at once meanwhile: read from the kernel's view
 * of the server's side, which no longer counts those that the client has closed.
 */
export async function countingSessions<T>(
  server: { readonly port: number },
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly most: number }> {
  let most = 0;
  const looking = setInterval(() => (most = Math.max(most, openAtOnce(server.port))), LOOK_EVERY_MS);
  try {
    return { result: await work(), most };
  } finally {
    clearInterval(looking);
  }
}

/**
 * The kernel's table is no snapshot, it changes while it is read: a connection in both readings was open between them.
 */
function openAtOnce(port: number): number {
  const before = established(port);
  const after = established(port);
  return [...before].filter((client) => after.has(client)).length;
}

/** The addresses of the clients. */
function established(port: number): Set<string> {
  const [, ...rows] = readFileSync('/proc/net/tcp', 'latin1').trimEnd().split('\n');
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const clients = new Set<string>();
  for (const row of rows) {
    const [, local = '', remote = '', state] = row.trim().split(/\s+/);
    if (state === ESTABLISHED && local.endsWith(`:${hex}`)) clients.add(remote);
  }
  return clients;
}
