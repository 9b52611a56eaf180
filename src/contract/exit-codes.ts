/** The exit codes of `ftg`, and the HTTP statuses of answers that end it so. */
const exit = (code: number, meaning: string, ...statuses: readonly number[]) => ({ code, meaning, statuses });

export const EXITS = {
  success: exit(0, 'done'),
  failure: exit(1, 'failed for a reason without its own code; a check or a connection test failed'),
  usage: exit(2, 'wrong usage, or the gateway rejected the request as invalid', 400, 405, 413, 415, 416, 422),
  notFound: exit(3, 'not found, locally or on the server', 404, 410),
  refused: exit(4, 'refused: the key or login is not valid, or lacks a right', 401, 403),
  conflict: exit(5, 'conflict: the file exists, is a folder or has changed; others depend on it', 409),
  remote: exit(6, 'the remote server failed', 502, 504),
  network: exit(7, 'no complete answer arrived from the gateway'),
  busy: exit(8, 'busy or stopping: try again later', 429, 503),
  partlyFailed: exit(9, 'some files failed; the others are done'),
  interrupted: exit(130, 'ended by Ctrl-C (SIGINT)'),
  readerGone: exit(141, 'the reader of the output has closed it (SIGPIPE)'),
  terminated: exit(143, 'ended by SIGTERM'),
  execFailed: exit(255, 'only exec: the command did not run; otherwise exec ends with its code'),
};
