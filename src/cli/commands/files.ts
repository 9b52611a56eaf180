/** `ftg ls`, `cp`, `mv`, `rm`, `mkdir`, `exec`: what the gateway does with files, without their content passing by here. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { FtgError, type CopyAnswer, type CopyRequest } from '../../client/index.js';
import type { Arguments, Session } from '../command.js';
import { Exit, EXIT, UsageError } from '../exit-codes.js';
import { isFolder, parseFileLocation, parseLocation, targetPath } from '../location.js';
import { bytesText, printable, table, timeText } from '../output.js';

export async function ls({ gateway, out, signal }: Session, [place = '']: Arguments): Promise<void> {
  const { connectionId, path } = parseLocation(place.includes(':') ? place : `${place}:`);
  const answer = await gateway.files.list(connectionId, path === '' ? undefined : path, { signal });
  out.show(answer, () => {
    const rows = answer.files.map(({ name, size, isDirectory, modifiedAt }) => [
      isDirectory ? '-' : bytesText(size),
      // The epoch stands for a time that the server does not keep.
      Date.parse(modifiedAt) === 0 ? '-' : timeText(modifiedAt),
      isDirectory ? `${name}/` : name,
    ]);
    return table(['SIZE', 'CHANGED', 'NAME'], rows, 'the folder is empty');
  });
}

export async function cp(
  session: Session,
  [from = '', to = '']: Arguments,
  { overwrite, template }: { readonly overwrite: boolean; readonly template?: string },
): Promise<void> {
  const source = parseFileLocation(from);
  const target = parseLocation(to);
  const answer = await copied(session, {
    source_connection_id: source.connectionId,
    source_path: source.path,
    dest_connection_id: target.connectionId,
    dest_path: targetPath(source.path, target.path),
    ...(overwrite ? {} : { overwrite: false }),
    ...(template === undefined ? {} : { filename_template: template }),
  });
  const { destination, fileSize, durationMs } = answer;
  session.out.show(
    answer,
    () => `${destination.connectionId}:${printable(destination.path)}  ${bytesText(fileSize)} in ${durationMs} ms`,
  );
}

/** fetch gives up on an answer after five minutes. */
const FETCH_PATIENCE_MS = 240_000;
const ASK_AGAIN_MS = 5_000;

/** A copy may take hours: the same Idempotency-Key asks for the answer to the one that runs. */
async function copied({ gateway, signal }: Session, request: CopyRequest): Promise<CopyAnswer> {
  const idempotencyKey = randomUUID();
  for (let isRunning = false; ;) {
    const startedAt = performance.now();
    try {
      return await gateway.files.copy(request, { idempotencyKey, signal });
    } catch (error) {
      if (!(error instanceof FtgError)) throw error;
      const wasPatient = performance.now() - startedAt > FETCH_PATIENCE_MS;
      isRunning ||= error.code === 'network_error' && wasPatient;
      if (!isRunning || !['network_error', 'idempotency_in_progress'].includes(error.code)) throw error;
      if (error.code === 'network_error' && !wasPatient) throw error;
      await delay(ASK_AGAIN_MS, undefined, { signal });
    }
  }
}

export async function mv(
  { gateway, out, signal }: Session,
  [from = '', to = '']: Arguments,
  { overwrite }: { readonly overwrite: boolean },
): Promise<void> {
  const [source, target] = [parseFileLocation(from), parseLocation(to)];
  if (source.connectionId !== target.connectionId) {
    throw new UsageError('a file moves within one connection; copy it with cp and delete it with rm');
  }
  const path = targetPath(source.path, target.path);
  const answer = await gateway.files.move(source.connectionId, source.path, path, { overwrite, signal });
  out.show(answer, () => printable(answer.to));
}

export async function rm(
  { gateway, out, signal }: Session,
  places: readonly string[],
  { force = false }: { readonly force?: boolean },
): Promise<void> {
  for (const { connectionId, path } of places.map(parseFileLocation)) {
    try {
      const answer = await gateway.files.delete(connectionId, path, { signal });
      out.show(answer, () => '');
    } catch (error) {
      if (!force || !(error instanceof FtgError) || error.code !== 'not_found') throw error;
    }
  }
}

export async function mkdir({ gateway, out, signal }: Session, places: readonly string[]): Promise<void> {
  for (const { connectionId, path } of places.map(parseLocation)) {
    const folder = isFolder(path) && path.length > 1 ? path.slice(0, -1) : path;
    const answer = await gateway.files.mkdir(connectionId, folder, { signal });
    out.show(answer, () => '');
  }
}

/** Ends with the code of the command, as ssh does. */
export async function exec(
  { gateway, out, signal }: Session,
  [connectionId = '', ...words]: readonly string[],
  { timeout }: { readonly timeout?: number },
): Promise<void> {
  let exitCode: number = EXIT.execFailed;
  try {
    const answer = await gateway.files.exec(connectionId, words.join(' '), {
      signal,
      ...(timeout === undefined ? {} : { timeout: timeout * 1_000 }),
    });
    exitCode = answer.exitCode;
    if (out.isJson) out.show(answer, () => '');
    else {
      process.stdout.write(answer.stdout);
      process.stderr.write(answer.stderr);
    }
  } catch (error) {
    if (signal.aborted) throw error;
    out.fail(error);
  }
  throw new Exit(exitCode);
}
