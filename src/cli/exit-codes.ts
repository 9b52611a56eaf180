/** How a command ends, for programs (docs/integrate/cli.md lists the same table), and which failure ends it how. */
import { FtgError } from '../client/index.js';

export const EXIT = {
  success: 0,
  /** Anything that the others do not name; a check of `doctor` or a connection test that failed. */
  failure: 1,
  /** The command line is wrong, or the gateway finds the request wrong. */
  usage: 2,
  notFound: 3,
  /** The key or login is not valid, or may not do it. */
  refused: 4,
  /** Something stands in the way: a file of that name, others that depend on it. */
  conflict: 5,
  /** The remote server of the connection failed. */
  remote: 6,
  /** No whole answer came from the gateway. */
  network: 7,
  /** Too much at once, or stopping: later it may go. */
  busy: 8,
  /** Of many files some failed; the others are done. */
  partlyFailed: 9,
  /** `exec` alone, in place of all others: its own codes are those of the command that ran (as ssh has it). */
  execFailed: 255,
} as const;

/** The command line asks for something that cannot be. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(
    message: string,
    /** What was most likely meant. */
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** All was said already; only the code is left. */
export class Exit extends Error {
  override readonly name = 'Exit';

  constructor(readonly exitCode: number) {
    super(`exit ${exitCode}`);
  }
}

export function exitCodeOf(thrown: unknown): number {
  if (thrown instanceof Exit) return thrown.exitCode;
  if (thrown instanceof UsageError) return EXIT.usage;
  if (thrown instanceof FtgError) return BY_CODE[thrown.code] ?? BY_STATUS[thrown.status] ?? EXIT.failure;
  // Of a local file.
  return BY_ERRNO[(thrown as { code?: string }).code ?? ''] ?? EXIT.failure;
}

const BY_CODE: Readonly<Record<string, number>> = {
  network_error: EXIT.network,
  invalid_answer: EXIT.network,
  file_changed: EXIT.conflict,
};
const BY_STATUS: Readonly<Record<number, number>> = {
  400: EXIT.usage,
  401: EXIT.refused,
  403: EXIT.refused,
  404: EXIT.notFound,
  405: EXIT.usage,
  409: EXIT.conflict,
  410: EXIT.notFound,
  413: EXIT.usage,
  415: EXIT.usage,
  416: EXIT.usage,
  422: EXIT.usage,
  429: EXIT.busy,
  502: EXIT.remote,
  503: EXIT.busy,
  504: EXIT.remote,
};
const BY_ERRNO: Readonly<Record<string, number>> = {
  ENOENT: EXIT.notFound,
  EACCES: EXIT.refused,
  EPERM: EXIT.refused,
  EEXIST: EXIT.conflict,
};
