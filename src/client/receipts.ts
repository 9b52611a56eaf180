/** Receipts: signed records of transfers, each linked to the one before. */
import { fieldsOf, reading } from './calls.js';
import { FtgError } from './errors.js';
import { linesOf } from './lines.js';
import type { CallOptions, Transport } from './transport.js';
import type * as api from './types.js';
import { wait } from './wait.js';

export interface ReceiptsOptions extends CallOptions, api.ReceiptsQuery {
  /**
   * The `sequence` to start after; absent = the oldest stored one. If the next one is no longer stored: FtgError
   * `gone`.
   */
  readonly after?: number | undefined;
  /** How many; all when absent. */
  readonly limit?: number | undefined;
}

/** A receipt of the chain. */
export interface Receipt {
  readonly sequence: number;
  readonly transferId: string;
  /** A JWS in its compact form. */
  readonly receipt: string;
  /** The current history item; null once the history has deleted it. */
  readonly transfer: (api.TransferDetails & { readonly keyId: string | null }) | null;
}

/** For more, all are asked for. */
const MOST_ASKED = 1_000_000;

export function receiptOf(transport: Transport, transferId: string, options: CallOptions): Promise<string> {
  const path = `/api/transfers/${encodeURIComponent(transferId)}/receipt`;
  return transport.send(reading(path, options), (response) => transport.text(response, options));
}

/** Each receipt once, in order, up to the last one; continues after a broken line. */
export async function* receiptsOf(
  transport: Transport,
  { after, limit = Infinity, ...options }: ReceiptsOptions,
): AsyncGenerator<Receipt, void> {
  let failures = 0;
  for (let [last, left] = [after, limit]; left > 0;) {
    try {
      const response = await transport.send(
        reading('/api/receipts', options, {
          ...fieldsOf(options),
          after: last,
          ...(left > MOST_ASKED ? {} : { limit: left }),
        }),
        async (answer) => answer,
      );
      for await (const line of linesOf(response, { signal: options.signal, silenceMs: transport.timeoutOf(options) })) {
        const receipt = JSON.parse(line) as Receipt;
        ({ sequence: last } = receipt);
        left -= 1;
        failures = 0;
        yield receipt;
        if (left === 0) return;
      }
      return;
    } catch (thrown) {
      options.signal?.throwIfAborted();
      if (!(thrown instanceof FtgError)) throw thrown;
      failures += 1;
      const delay = transport.delayAfter(thrown, failures);
      if (delay === undefined) throw thrown;
      await wait(delay, options.signal);
    }
  }
}
