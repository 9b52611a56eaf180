/** Reads the data connection of a listing as lines. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { destroyOnAbort, StallTimer } from '../../../base/deadline.js';
import { GatewayError } from '../../../base/errors.js';
import { Turns } from '../../../base/turns.js';
import { beginTransfer, dataError, type FtpTransfer } from '../session/data.js';
import { OpenEnd } from '../session/open-end.js';
import type { FtpOperation } from '../session/operation.js';
import { isPositive, refusedBy, spoken, type Reply } from '../session/replies.js';
import { LineSplitter } from './line-splitter.js';

/** Lines passed on in one batch: one read can hold many times as many, which would keep others waiting too long. */
const LINES_AT_ONCE = 100;
const BYTES_AT_ONCE = 8192;
/** How long after the last reply the data connection may still stay unused. */
const UNUSED_MS = 5_000;

/**
 * The lines of one listing, in batches as they arrive; or the reply that refused it, or that ended it without a use of
 * the data connection: the folder need not be empty.
 */
export async function openListLines(
  operation: FtpOperation,
  command: string,
): Promise<AsyncIterable<Buffer[]> | Reply> {
  const transfer = await beginTransfer(operation, command);
  const { first, socket } = transfer;
  if (first.code >= 400) return first;
  // 226 at once, without 150: only the end of the data connection shows that the folder is empty.
  const waitMs = Math.min(UNUSED_MS, operation.limits.stallTimeoutMs / 2);
  if (first.code >= 200 && !(await isUsed(socket, waitMs))) {
    socket.destroy();
    return first;
  }
  return readLines(operation, transfer, command.slice(0, 4));
}

export const isReply = (opened: AsyncIterable<Buffer[]> | Reply): opened is Reply => 'code' in opened;

/** The error of a listing that was not sent. `refused`: what its refusal means. */
export function notListed(operation: FtpOperation, reply: Reply, refused: () => GatewayError): GatewayError {
  if (!isPositive(reply)) return refused();
  const text = `${operation.host} answered the listing with success, but did not use its data connection; the folder may have entries`;
  return new GatewayError('protocol_error', text, { step: 'transfer', remote: spoken(reply) });
}

/** Whether bytes or the regular end arrive in time. */
async function isUsed(socket: Socket, waitMs: number): Promise<boolean> {
  try {
    await once(socket, 'readable', { signal: AbortSignal.timeout(waitMs) });
    return true;
  } catch {
    return false;
  }
}

async function* readLines(operation: FtpOperation, transfer: FtpTransfer, verb: string): AsyncGenerator<Buffer[]> {
  const { socket, exchange } = transfer;
  const { control } = operation.lease;
  const { signal } = operation;
  const stall = new StallTimer(operation.limits.stallTimeoutMs, () =>
    socket.destroy(
      new GatewayError(
        'stall_timeout',
        `${operation.host} sent nothing of the listing for ${operation.limits.stallTimeoutMs} ms`,
        {
          step: 'transfer',
        },
      ),
    ),
  );
  destroyOnAbort(socket, signal);
  // A control connection that is lost, or a late refusal, ends the data as well: the data connection may never end by
  // itself.
  exchange.finished.then(
    (reply) => (isPositive(reply) ? undefined : socket.destroy(refusedBy(reply, 'transfer', 'listing the folder'))),
    (error: Error) => socket.destroy(error),
  );
  let isComplete = false;
  const splitter = new LineSplitter(operation.host);
  // Without any line it may not have been used yet.
  const ending = new OpenEnd(socket, operation.limits.stallTimeoutMs, () => splitter.hasLines && !splitter.isInLine);
  exchange.finished.then(
    () => ending.begin(),
    () => undefined,
  );
  try {
    const turns = new Turns();
    stall.restart();
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      stall.pause();
      ending.postpone();
      // Lines are split just before they are passed on: a thousand waiting lines would survive the quick garbage
      // collections.
      for (let at = 0; at < chunk.length; at += BYTES_AT_ONCE) {
        const lines = splitter.add(chunk.subarray(at, at + BYTES_AT_ONCE));
        for (let start = 0; start < lines.length; start += LINES_AT_ONCE) {
          // Several reads can follow each other in one turn, and the work on their lines counts.
          if (turns.isOver()) await turns.next();
          yield lines.slice(start, start + LINES_AT_ONCE);
        }
      }
      stall.restart();
    }
    stall.stop();
    const last = await control.obey(signal, control.answerInTime(exchange.finished, verb));
    if (!isPositive(last)) throw refusedBy(last, 'transfer', 'listing the folder');
    // Plain FTP has no other sign of a connection that was closed too early: the server may still answer 226.
    if (splitter.isInLine) throw endedEarly(operation.host, 'in the middle of a line');
    isComplete = true;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw dataError(operation, error as Error);
  } finally {
    stall.stop();
    ending.stop();
    socket.destroy();
    // If the listing is left in the middle, the server's last reply would be taken for the answer to the next command.
    if (!isComplete) control.close();
  }
}

function endedEarly(host: string, how: string): GatewayError {
  const text = `the listing that ${host} sent ended ${how}; it may lack entries`;
  return new GatewayError('connection_lost', text, { step: 'transfer' });
}
