/** The options that a storage starts with, and the error if it cannot start. */

export interface StorageOptions {
  readonly dataDir: string;
  readonly url: string;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  /** See Config.masterKey. */
  readonly masterKey: string;
  /** How many days history items are kept; 0 = for ever. */
  readonly retentionDays: number;
  /** How many items of list, exists and poll each account keeps (the newest); absent or 0 = all. */
  readonly freeItems?: number;
  /** How many Idempotency-Keys one account may use within 24 hours; absent = a million. */
  readonly idempotencyKeys?: number;
  /** Called with the number of history rows of each commit. */
  readonly onHistoryCommit?: (rows: number) => void;
  readonly log: Log;
}

export type Log = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  facts?: Record<string, unknown>,
) => void;

/**
 * The program cannot start on this storage: the database is unreachable, newer than the program, or encrypted with
 * another key. The message is one line for the operator, names what to change and contains no secret.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
