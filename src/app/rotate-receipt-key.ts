/** The command `rotate-receipt-key`: from now on another key signs the receipts of the database of a configuration. */
import type { Config } from '../config/schema.js';
import { changeReceiptKey } from '../storage/open.js';
import { StartupError } from '../storage/storage.js';
import { EXIT } from './lifecycle.js';

/** Running gateways use it from their next receipt on. Resolves to the exit code. */
export async function rotateReceiptKey(config: Config): Promise<number> {
  const options = {
    ...config.database,
    dataDir: config.dataDir,
    masterKey: config.masterKey,
    retentionDays: config.history.retentionDays,
    log: () => undefined,
  };
  try {
    const id = await changeReceiptKey(options);
    process.stdout.write(`receipts are signed by key ${id} from now on; those before stay valid\n`);
    return EXIT.success;
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT.failure;
  }
}
