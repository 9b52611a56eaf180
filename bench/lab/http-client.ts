/** curl as the client for everything that speaks HTTP: the same for the gateway and its rivals. */
import type { Request } from './gateway.js';
import { runCommand } from './process.js';

const options = ['-sS', '--fail'];

export async function send(request: Request, file: string): Promise<void> {
  await runCommand('curl', [...options, ...curlRequest(request), '-T', file, '-o', '/dev/null', request.url]);
}

export async function fetchTo(request: Request, file: string): Promise<void> {
  await runCommand('curl', [...options, ...curlRequest(request), '-o', file, request.url]);
}

export interface Exchange {
  readonly request: Request;
  readonly file: string;
}

/** All at once, by one curl. */
export async function sendAll(exchanges: readonly Exchange[]): Promise<void> {
  await inParallel(exchanges, ({ request, file }) => ['-T', file, '-o', '/dev/null', request.url]);
}

export async function fetchAll(exchanges: readonly Exchange[]): Promise<void> {
  await inParallel(exchanges, ({ request, file }) => ['-o', file, request.url]);
}

async function inParallel(
  exchanges: readonly Exchange[],
  own: (exchange: Exchange) => readonly string[],
): Promise<void> {
  const each = exchanges.map((exchange) => [...options, ...curlRequest(exchange.request), ...own(exchange)]);
  const all = each.flatMap((args, index) => (index === 0 ? args : ['--next', ...args]));
  await runCommand('curl', ['--parallel', '--parallel-immediate', '--parallel-max', String(each.length), ...all]);
}

function curlRequest({ method, headers }: Request): string[] {
  return ['-X', method, ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])];
}
