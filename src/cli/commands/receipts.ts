/** `ftg receipts` and `ftg transfers receipt`: fetch the input of `ftg verify`. */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Arguments, type Session, shows } from '../command.js';
import { partOf, publish } from '../store.js';

interface ReceiptsOptions {
  readonly after?: number;
  readonly overwrite: boolean;
}

/** Writes the chain, one receipt per line, to standard output or a file. */
export async function fetchReceipts(
  { gateway, out, signal }: Session,
  [file = '-']: Arguments,
  { after, overwrite }: ReceiptsOptions,
): Promise<void> {
  let [receipts, last] = [0, null as number | null];
  async function* lines(): AsyncGenerator<string> {
    for await (const receipt of gateway.files.receipts({ after, signal })) {
      receipts += 1;
      last = receipt.sequence;
      yield `${JSON.stringify(receipt)}\n`;
    }
  }
  if (file === '-') return pipeline(Readable.from(lines()), process.stdout, { signal, end: false });
  const part = partOf(resolve(file));
  try {
    await pipeline(Readable.from(lines()), createWriteStream(part, { flags: 'wx', flush: true }), { signal });
    await publish(part, file, overwrite);
  } finally {
    await rm(part, { force: true });
  }
  out.show({ file, receipts, last }, () => `${receipts} receipts in ${file}${last === null ? '' : `, up to ${last}`}`);
}

export const showReceipt = shows(
  async ({ gateway, signal }, [id = '']) => ({ receipt: await gateway.files.receipt(id, { signal }) }),
  ({ receipt }) => receipt,
);
