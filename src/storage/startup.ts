/** What a storage is started with, and the error where it cannot be. */

export interface StorageOptions {
  readonly dataDir: string;
  readonly url: string;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  /** See Config.masterKey. */
  readonly masterKey: string;
  /** Days that history items are kept; 0 = for ever. */
  readonly retentionDays: number;
  /** Items of list, of exists and of poll that each account keeps, the newest; absent or 0 = all. */
  readonly freeItems?: number;
  /** Idempotency-Keys that one account may use within 24 hours; absent = a million. */
  readonly idempotencyKeys?: number;
  /** Told how many history rows each commit held. */
  readonly onHistoryCommit?: (rows: number) => void;
  readonly log: Log;
}

export type Log = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  facts?: Record<string, unknown>,
) => void;

/**
 * The program cannot start on this storage: database unreachable, newer than the program, encrypted with another key.
 * The message is one line for the operator, names what to change and holds no secret.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
