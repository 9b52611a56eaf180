/**
 * The program cannot start on this storage: database unreachable, newer than the program, encrypted with another key.
 * The message is one line for the operator, names what to change and holds no secret.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
