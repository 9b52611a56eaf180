/** The exit codes of commands, and the failure that each means. docs/integrate/cli.md lists the same codes. */
import { FtgError } from '../client/index.js';
import { definitionOfError } from '../contract/errors.js';

export const EXIT = {
  success: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  conflict: 5,
  remote: 6,
  network: 7,
  busy: 8,
  partlyFailed: 9,
  execFailed: 255,
} as const;

/** The meaning of each code, for help and the manual page. */
export const EXIT_WORDS: Readonly<Record<number, string>> = {
  [EXIT.success]: 'done',
  [EXIT.failure]: 'failed, for a reason without a code of its own; a check or a connection test failed',
  [EXIT.usage]: 'wrong usage, or the gateway finds the request wrong',
  [EXIT.notFound]: 'not found, here or on the server',
  [EXIT.refused]: 'refused: the key or login is not valid, or lacks the right',
  [EXIT.conflict]: 'in the way: the file exists, is a folder, or has changed meanwhile; others depend on it',
  [EXIT.remote]: 'the remote server failed',
  [EXIT.network]: 'no whole answer came from the gateway',
  [EXIT.busy]: 'busy or stopping: try again later',
  [EXIT.partlyFailed]: 'some of many files failed, the others are done',
  130: 'ended by Ctrl-C (SIGINT)',
  143: 'ended by SIGTERM',
  141: 'the reader of the output has gone (SIGPIPE)',
  [EXIT.execFailed]: 'exec alone: the command did not run; else exec ends with its code',
};

/** The command line asks for something impossible. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(
    message: string,
    /** What was probably meant. */
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** Everything was printed; only the exit code is left. */
export class Exit extends Error {
  override readonly name = 'Exit';

  constructor(readonly exitCode: number) {
    super(`exit ${exitCode}`);
  }
}

export function exitCodeOf(thrown: unknown): number {
  if (thrown instanceof Exit) return thrown.exitCode;
  if (thrown instanceof UsageError) return EXIT.usage;
  if (thrown instanceof FtgError) return BY_CODE[thrown.code] ?? byStatus(thrown);
  // The code of a local file error.
  return BY_ERRNO[(thrown as { code?: string }).code ?? ''] ?? EXIT.failure;
}

function byStatus({ code, status }: FtgError): number {
  const exit = BY_STATUS[status] ?? EXIT.failure;
  // Scripts retry when the gateway is busy; this one must not be repeated.
  return exit === EXIT.busy && definitionOfError(code)?.retry === 'no' ? EXIT.conflict : exit;
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
