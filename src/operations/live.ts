/** The running operations of this process: their progress, and how to end one from outside. */
import { GatewayError } from '../base/errors.js';
import { PassingSet } from '../base/passing-set.js';
import type { TransferType, Direction } from '../contract/transfer.js';
import type { JobReference } from '../storage/storage.js';

export interface LiveTransfer {
  readonly id: string;
  readonly accountId: string;
  readonly connectionId: string;
  readonly type: TransferType;
  readonly direction: Direction;
  readonly startedAt: Date;
  readonly filename: string;
  readonly path: string;
  /** Its job, and which file of it. */
  readonly job: JobReference | undefined;
  /** The link that it came by. */
  readonly linkId: string | undefined;
  /** Bytes of the file that have been transferred so far. */
  readonly bytes: number;
  /** undefined if unknown. */
  readonly totalBytes: number | undefined;
  /** The current stage: a Stage. */
  readonly step: string;
}

export interface LiveEntry {
  readonly transferId: string;
  snapshot(): LiveTransfer;
  end(reason: GatewayError): void;
}

export class LiveTransfers {
  readonly #entries = new PassingSet<LiveEntry>();
  #whenBusy = (): void => undefined;

  /** Calls `act` whenever an operation begins while none runs. */
  onBusy(act: () => void): void {
    this.#whenBusy = act;
  }

  /** Returns a function that removes it. */
  add(entry: LiveEntry): () => void {
    const remove = this.#entries.add(entry);
    if (this.#entries.size === 1) this.#whenBusy();
    return remove;
  }

  /** In no order. */
  list(): readonly LiveTransfer[] {
    return this.#entries.items().map((entry) => entry.snapshot());
  }

  /**
   * Returns whether it ran here, for this account. It ends a moment later, recorded as failed with `cancelled`, or with
   * its own result if its file is being published at that moment.
   */
  cancel(accountId: string, id: string): boolean {
    const entry = this.#entries.items().find(({ transferId }) => transferId === id);
    if (entry?.snapshot().accountId !== accountId) return false;
    entry.end(
      new GatewayError('cancelled', 'the transfer was cancelled by the owner of the account', { step: 'transfer' }),
    );
    return true;
  }
}
