/** An end for what a remote server could draw out for ever by answering now and then. */
import { GatewayError } from '../base/errors.js';

/** Runs `work` with a signal that also fires after `ms`; then it rejects with command_timeout, whatever `work` made of it. */
export async function withinDeadline<T>(
  what: string,
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const text = `${what} took longer than ${ms} ms (watcher.checkTimeoutMs)`;
  const tooLate = new GatewayError('command_timeout', text, { step: 'transfer' });
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(tooLate), ms);
  try {
    return await work(AbortSignal.any([signal, deadline.signal]));
  } catch (error) {
    throw deadline.signal.aborted && !signal.aborted ? tooLate : error;
  } finally {
    clearTimeout(timer);
  }
}
