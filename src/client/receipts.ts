/** Receipts: what transfers were, signed, each linked to the one before. */
import { reading } from './calls.js';
import { FtgError } from './errors.js';
import { linesOf } from './lines.js';
import type { CallOptions, Transport } from './transport.js';
import type * as api from './types.js';
import { wait } from './wait.js';

export interface ReceiptsOptions extends CallOptions {
  /** The `sequence` behind which to begin; absent = the oldest that is kept. Where what follows it no longer is, FtgError `gone`. */
  readonly after?: number | undefined;
}

/** One of the chain. */
export interface Receipt {
  readonly sequence: number;
  readonly transferId: string;
  /** A JWS in its compact form. */
  readonly receipt: string;
  /** What the history says now; null once it has forgotten the transfer. */
  readonly transfer: (api.TransferDetails & { readonly keyId: string | null }) | null;
}

export function receiptOf(transport: Transport, transferId: string, options: CallOptions): Promise<string> {
  const path = `/api/transfers/${encodeURIComponent(transferId)}/receipt`;
  return transport.send(reading(path, options), (response) => transport.text(response, options));
}

/** Each once, in order, up to the last that there is; where the line breaks it goes on behind the last one that came. */
export async function* receiptsOf(
  transport: Transport,
  { after, ...options }: ReceiptsOptions,
): AsyncGenerator<Receipt, void> {
  let failures = 0;
  for (let last = after; ;) {
    try {
      const response = await transport.send(
        reading('/api/receipts', options, { after: last }),
        async (answer) => answer,
      );
      for await (const line of linesOf(response, { signal: options.signal, silenceMs: transport.timeoutOf(options) })) {
        const receipt = JSON.parse(line) as Receipt;
        ({ sequence: last } = receipt);
        failures = 0;
        yield receipt;
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
