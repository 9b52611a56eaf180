/** Bytes in memory that their owner reuses: a consumer that can use them at once saves a copy. */
import type { Duplex, Readable } from 'node:stream';

export interface Borrower {
  /** Takes a prefix of `chunk`, whose memory is valid during the call only; returns its length. */
  borrow(chunk: Buffer): number;
  /** Whether there is room for bytes; if not, `roomy` is called once there is. */
  awaitRoom(roomy: () => void): boolean;
}

/** A stream of bytes in memory that it reuses. */
export interface Lender {
  /**
   * From now on the borrower gets each chunk first, unless other bytes wait before it. The rest of the chunk is copied
   * and read as usual. Chunks are requested while the borrower has room.
   */
  lendTo(borrower: Borrower): void;
}

/** Lends the chunks of `source`, if it lends, past a stage between it and `borrower`: `borrow` does what the stage does. */
export function lendPast(
  stage: Duplex,
  { source, borrower }: { readonly source: Readable; readonly borrower: Borrower },
  borrow: (chunk: Buffer) => number,
): void {
  if (!lends(source)) return;
  source.lendTo({
    // Bytes that came before wait in the stage.
    borrow: (chunk) => (stage.writableLength + stage.readableLength > 0 ? 0 : borrow(chunk)),
    awaitRoom: (roomy) => borrower.awaitRoom(roomy),
  });
}

function lends(source: object): source is Lender {
  return 'lendTo' in source;
}

export function borrows(target: object): target is Borrower {
  return 'borrow' in target;
}
