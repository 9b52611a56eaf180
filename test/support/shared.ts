/**
 * Servers that a run starts once, for all of its files: `test/runner/shared.ts` starts each when the first file asks,
 * at a socket that the environment names. A file that runs alone starts its own.
 */
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';

/** Names the socket. */
export const SHARED_VARIABLE = 'TEST_SHARED';
/** Sent by a file that leaves a server as it found it. */
export const DONE = 'done';

/** The facts about a server, as JSON; `stop` returns it, or ends it if it belongs to the file. */
export interface Stoppable {
  stop(): Promise<void>;
}

/** The run's server of this kind, or the result of `start`. */
export async function useShared<S extends Stoppable>(kind: string, start: () => Promise<S>): Promise<S> {
  const address = process.env[SHARED_VARIABLE];
  if (address === undefined) return start();
  const socket = net.connect(address);
  // It may take long: another file waits for the same start.
  const lines = createInterface(socket);
  socket.write(`${kind}\n`);
  const [line] = (await Promise.race([once(lines, 'line'), once(socket, 'end').then(() => [])])) as string[];
  if (line === undefined) throw new Error(`the run ended before it had started ${kind}`);
  const answer = JSON.parse(line) as { readonly facts: Omit<S, 'stop'> } | { readonly error: string };
  if ('error' in answer) throw new Error(answer.error);
  // A file that forgets to stop it must still end.
  socket.unref();
  const stop = async (): Promise<void> => {
    socket.ref();
    socket.end(`${DONE}\n`);
    if (!socket.closed) await once(socket, 'close');
  };
  return { ...answer.facts, stop } as S;
}
