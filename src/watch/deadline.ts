/** An end for what a remote server could draw out for ever by answering now and then. */
import { withDeadline } from '../base/deadline.js';
import { GatewayError } from '../base/errors.js';

/** Runs `work` with a signal that also fires after `ms`; then it rejects with command_timeout, whatever `work` made of it. */
export function withinDeadline<T>(
  what: string,
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const text = `${what} took longer than ${ms} ms (watcher.checkTimeoutMs)`;
  const late = (): GatewayError => new GatewayError('command_timeout', text, { step: 'transfer' });
  return withDeadline({ signal, ms, late }, work);
}
