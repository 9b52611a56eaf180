/** The command `rotate-keys`: a new master key for the database of a configuration. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../config/schema.js';
import { EXIT } from './lifecycle.js';
import { changeMasterKey } from '../storage/open.js';
import { StartupError } from '../storage/storage.js';

/**
 * Rewraps every secret from the configured master key (GATEWAY_MASTER_KEY or the key file) to `nextKey`; "" generates a
 * key, which only a key file can store. Resolves to the exit code. Running gateways keep their key, cannot read or
 * write secrets any more, and must be restarted with the new one.
 */
export async function rotateKeys(config: Config, nextKey: string): Promise<number> {
  if (nextKey === '' && config.masterKey !== '') {
    process.stderr.write(
      'GATEWAY_NEW_MASTER_KEY: missing; allowed: 32 bytes as base64 or as 64 hex digits, as GATEWAY_MASTER_KEY is set\n',
    );
    return EXIT.badConfig;
  }
  const options = {
    ...config.database,
    dataDir: config.dataDir,
    masterKey: config.masterKey,
    retentionDays: config.history.retentionDays,
    log: () => undefined,
  };
  try {
    const count = await changeMasterKey(options, nextKey === '' ? randomBytes(32).toString('hex') : nextKey);
    const rest = config.masterKey === '' ? 'the key file holds it' : 'set GATEWAY_MASTER_KEY to it';
    process.stdout.write(`${count} secrets are wrapped by the new master key; ${rest}, and restart every node\n`);
    return EXIT.success;
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT.failure;
  }
}
