/** The exit codes of commands, and the failure that each means. */
import { systemCodeOf } from '../base/errors.js';
import { FtgError } from '../client/index.js';
import { definitionOfError } from '../contract/errors.js';
import { EXITS } from '../contract/exit-codes.js';

export const EXIT = Object.fromEntries(Object.entries(EXITS).map(([name, { code }]) => [name, code])) as Readonly<
  Record<keyof typeof EXITS, number>
>;

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
  return BY_ERRNO[systemCodeOf(thrown)] ?? EXIT.failure;
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
const BY_STATUS: Readonly<Record<number, number>> = Object.fromEntries(
  Object.values(EXITS).flatMap(({ code, statuses }) => statuses.map((status) => [status, code])),
);
const BY_ERRNO: Readonly<Record<string, number>> = {
  ENOENT: EXIT.notFound,
  EACCES: EXIT.refused,
  EPERM: EXIT.refused,
  EEXIST: EXIT.conflict,
};
