import { constants } from 'node:os';
import { waitFor } from '../../../base/deadline.js';
import { GatewayError, toGatewayError } from '../../../base/errors.js';
import type { ExecOptions, ExecResult } from '../../remote.js';
import type { RunningCommand, SftpLease } from '../session/session.js';

const SIGNAL_BASE = 128;

/**
 * Runs a command on its own channel, with empty standard input. command_timeout and too_large end it: KILL is sent (RFC
 * 4254, 6.9) and the channel closed, because not every server passes the signal on.
 */
export function runCommand(
  lease: SftpLease,
  command: string,
  options: ExecOptions,
  signal: AbortSignal,
): Promise<ExecResult> {
  const { timeoutMs, maxOutputBytes, onOutput } = options;
  const late = (): GatewayError =>
    new GatewayError('command_timeout', `the command did not end within ${timeoutMs} ms`, { step: 'transfer' });
  return waitFor({ signal, ms: timeoutMs, late }, (done, fail) => {
    let running: RunningCommand | undefined;
    let isOver = false;

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
          fail(toGatewayError(error));
        }
      };
      opened.on('data', gather('stdout'));
      opened.stderr.on('data', gather('stderr'));
      opened.on('error', (error: Error) => {
        fail(new GatewayError('connection_lost', error.message, { step: 'transfer', cause: error }));
      });
      opened.on('close', () => {
        running = undefined;
        const exit = exitOf();
        if (exit === undefined) {
          const text = 'the connection ended before the command did';
          return fail(new GatewayError('connection_lost', text, { step: 'transfer' }));
        }
        const exitCode = exit.code ?? SIGNAL_BASE + signalNumber(exit.signal);
        const text = (name: keyof typeof output): string => Buffer.concat(output[name]).toString('utf8');
        done({ exitCode, stdout: text('stdout'), stderr: text('stderr') });
      });
      opened.end();
    }

    lease.session.openCommand(lease, command).then(
      (started) => {
        if (isOver) return void lease.session.killCommand(started);
        running = started;
        collect(started);
      },
      (error: unknown) => fail(refusal(error)),
    );
    return () => {
      isOver = true;
      lease.runsCommand = false;
      if (running !== undefined) void lease.session.killCommand(running);
    };
  });
}

function tooMuch(maxBytes: number): GatewayError {
  return new GatewayError('too_large', `the command wrote more than ${maxBytes} bytes`, { step: 'transfer' });
}

function signalNumber(name: string | undefined): number {
  return (constants.signals as Readonly<Record<string, number>>)[name ?? ''] ?? 0;
}

/** A server without commands refuses the request itself: the request is wrong, not the remote. */
function refusal(thrown: unknown): GatewayError {
  const error = toGatewayError(thrown);
  if (error.code !== 'remote_failure') return error;
  return new GatewayError('unsupported_operation', error.message, {
    step: 'open',
    remote: error.remote,
    cause: error,
  });
}
