/** `ftg serve`: the gateway itself, in this process. */
import { resolve } from 'node:path';

/** Resolves when it serves, or has said why it cannot; from then on the process is its own. */
export async function serve(config: string | undefined): Promise<void> {
  process.setSourceMapsEnabled(true);
  if (config !== undefined) process.env['GATEWAY_CONFIG'] = resolve(config);
  await import('../../main.js');
}
