/** Reads the data connection of a listing as lines. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { destroyOnAbort, StallTimer } from '../../../base/deadline.js';
import { GatewayError } from '../../../base/errors.js';
import { Turns } from '../../../base/turns.js';
import { beginTransfer, dataError, type Transfer } from '../session/data.js';
import { OpenEnd } from '../session/open-end.js';
import type { FtpOperation } from '../session/operation.js';
import { isPositive, refusal, type Reply } from '../session/replies.js';
import { LineSplitter } from './line-splitter.js';

/** Lines passed on in one batch: one read can hold many times as many, which would keep others waiting too long. */
const LINES_AT_ONCE = 100;
const BYTES_AT_ONCE = 8192;
const FIRST_BYTE_MS = 1_000;
/** The lines of one listing, in batches as they arrive; or the reply that refused it. */
export async function openListing(operation: FtpOperation, command: string): Promise<AsyncIterable<Buffer[]> | Reply> {
  const transfer = await beginTransfer(operation, command);
  if (transfer.first.code >= 400) return transfer.first;
  // 226 at once, without 150: an empty folder, for which some servers never use the data connection.
  if (transfer.first.code >= 200 && !(await startsSoon(transfer.socket))) {
    transfer.socket.destroy();
    return nothing();
  }
  return readLines(operation, transfer, command.slice(0, 4));
}

export const isRefusal = (opened: AsyncIterable<Buffer[]> | Reply): opened is Reply => 'code' in opened;

async function* nothing(): AsyncGenerator<Buffer[]> {}

async function startsSoon(socket: Socket): Promise<boolean> {
  const until = AbortSignal.timeout(FIRST_BYTE_MS);
  try {
    await once(socket, 'readable', { signal: until });
    return socket.readableLength > 0;
  } catch {
    return false;
  }
}

async function* readLines(operation: FtpOperation, transfer: Transfer, verb: string): AsyncGenerator<Buffer[]> {
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
    (reply) => (isPositive(reply) ? undefined : socket.destroy(refusal(reply, 'transfer', 'listing the folder'))),
    (error: Error) => socket.destroy(error),
  );
  let isComplete = false;
  const splitter = new LineSplitter(operation.host);
  const ending = new OpenEnd(socket, operation.limits.stallTimeoutMs, () => !splitter.isInLine);
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
    if (!isPositive(last)) throw refusal(last, 'transfer', 'listing the folder');
    // Plain FTP has no other sign of a connection that was closed too early: the server may answer 226 all the same.
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
