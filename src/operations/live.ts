/** The running operations of this process: their progress, and how to end one from outside. */
import { GatewayError } from '../base/errors.js';
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
  snapshot(): LiveTransfer;
  end(reason: GatewayError): void;
}

export class LiveTransfers {
  readonly #entries = new Map<string, LiveEntry>();
  #whenBusy = (): void => undefined;

  /** Calls `act` whenever an operation begins while none runs. */
  onBusy(act: () => void): void {
    this.#whenBusy = act;
  }

  add(id: string, entry: LiveEntry): void {
    const isFirst = this.#entries.size === 0;
    this.#entries.set(id, entry);
    if (isFirst) this.#whenBusy();
  }

  remove(id: string): void {
    this.#entries.delete(id);
  }

  /** In the order in which they began. */
  list(): readonly LiveTransfer[] {
    return Array.from(this.#entries.values(), (entry) => entry.snapshot());
  }

  /**
   * Returns whether it ran here, for this account. It ends a moment later, recorded as failed with `cancelled`, or with
   * its own result if its file is being published at that moment.
   */
  cancel(accountId: string, id: string): boolean {
    const entry = this.#entries.get(id);
    if (entry?.snapshot().accountId !== accountId) return false;
    entry.end(
      new GatewayError('cancelled', 'the transfer was cancelled by the owner of the account', { step: 'transfer' }),
    );
    return true;
  }
}
