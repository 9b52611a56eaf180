import { constants } from 'node:os';
import { GatewayError, toGatewayError } from '../../../base/errors.js';
import type { ExecOptions, ExecResult } from '../../remote.js';
import type { RunningCommand, SftpLease } from '../session/session.js';

const SIGNAL_BASE = 128;

/**
 * Runs a command on a channel of its own, with nothing on its standard input. command_timeout and too_large end it:
 * KILL is sent (RFC 4254, 6.9) and the channel closed, since not every server passes the signal on.
 */
export async function runCommand(
  lease: SftpLease,
  command: string,
  options: ExecOptions,
  signal: AbortSignal,
): Promise<ExecResult> {
  signal.throwIfAborted();
  const { timeoutMs, maxOutputBytes, onOutput } = options;
  return new Promise((done, fail) => {
    let running: RunningCommand | undefined;
    let isOver = false;
    const finish = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      lease.runsCommand = false;
      settle();
    };
    const stop = (reason: Error): void => {
      if (isOver) return;
      // Settled first: closing the channel makes its own end heard.
      finish(() => fail(reason));
      if (running !== undefined) void lease.session.killCommand(running);
    };
    const abort = (): void => stop(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(() => {
      stop(new GatewayError('command_timeout', `the command did not end within ${timeoutMs} ms`, { step: 'transfer' }));
    }, timeoutMs);

    lease.session.openCommand(lease, command).then(
      (started) => {
        running = started;
        if (isOver) void lease.session.killCommand(started);
        else collect(started);
      },
      (error: unknown) => finish(() => fail(refusal(error))),
    );

    function collect({ channel: opened, exit: exitOf }: RunningCommand): void {
      const output: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
      let outputBytes = 0;
      const gather = (name: keyof typeof output) => (bytes: Buffer) => {
        outputBytes += bytes.length;
        try {
          if (outputBytes > maxOutputBytes) throw tooMuch(maxOutputBytes);
          onOutput?.(outputBytes);
          output[name].push(bytes);
        } catch (error) {
          stop(toGatewayError(error));
        }
      };
      opened.on('data', gather('stdout'));
      opened.stderr.on('data', gather('stderr'));
      opened.on('error', (error: Error) => {
        stop(new GatewayError('connection_lost', error.message, { step: 'transfer', cause: error }));
      });
      opened.on('close', () => {
        const exit = exitOf();
        if (exit === undefined) {
          const text = 'the connection ended before the command did';
          finish(() => fail(new GatewayError('connection_lost', text, { step: 'transfer' })));
          return;
        }
        const exitCode = exit.code ?? SIGNAL_BASE + signalNumber(exit.signal);
        const text = (name: keyof typeof output): string => Buffer.concat(output[name]).toString('utf8');
        finish(() => done({ exitCode, stdout: text('stdout'), stderr: text('stderr') }));
      });
      opened.end();
    }
  });
}

function tooMuch(maxBytes: number): GatewayError {
  return new GatewayError('too_large', `the command wrote more than ${maxBytes} bytes`, { step: 'transfer' });
}

function signalNumber(name: string | undefined): number {
  return (constants.signals as Readonly<Record<string, number>>)[name ?? ''] ?? 0;
}

/** A server without commands refuses the request itself; that is no fault of the remote but of the wish. */
function refusal(thrown: unknown): GatewayError {
  const error = toGatewayError(thrown);
  if (error.code !== 'remote_failure') return error;
  return new GatewayError('unsupported_operation', error.message, {
    step: 'open',
    remote: error.remote,
    cause: error,
  });
}
