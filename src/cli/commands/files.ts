/**
 * `ftg cp`, `mv`, `rm`, `mkdir`, `exec`: operations inside the gateway; no content passes through this
 * process.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { FtgError, type CopyAnswer, type CopyRequest } from '../../client/index.js';
import type { Arguments, Session } from '../command.js';
import { Exit, UsageError } from '../exit-codes.js';
import { filesIn, globAt, nothingMatches } from '../glob.js';
import { inParallel } from '../in-parallel.js';
import { refuseJobOptions } from '../job-options.js';
import { isFolder, type Location, parseFileLocation, parseLocation, targetPath } from '../location.js';
import { bytesText, printable } from '../output.js';
import { type JobOptions, moveFile, moveMatches, moveTrees, removeTrees, withAdvice } from './trees.js';

interface CopyOptions extends JobOptions {
  readonly overwrite: boolean;
  readonly template?: string;
  readonly recursive?: boolean;
}

export async function cp(session: Session, [from = '', to = '']: Arguments, options: CopyOptions): Promise<void> {
  const { overwrite, template, recursive = false } = options;
  const target = parseLocation(to);
  const source = recursive ? parseLocation(from) : parseFileLocation(from);
  const glob = recursive ? undefined : await globAt(session, source);
  if (template !== undefined && (recursive || glob !== undefined))
    throw new UsageError('--template is for one file, and not with -r or a glob');
  if (recursive) return moveTrees(session, 'copy', [from, to], options);
  if (glob !== undefined) return moveMatches(session, 'copy', { ...source, glob, to }, options);
  refuseJobOptions(options);
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

/** fetch stops waiting for an answer after five minutes. */
const FETCH_PATIENCE_MS = 240_000;
const ASK_AGAIN_MS = 5_000;

/** A copy may take hours: the same Idempotency-Key asks for the answer of the running one. */
async function copied({ gateway, signal }: Session, request: CopyRequest): Promise<CopyAnswer> {
  const idempotencyKey = randomUUID();
  for (let isRunning = false; ;) {
    const startedAt = performance.now();
    try {
      return await gateway.files.copy(request, { idempotencyKey, signal });
    } catch (error) {
      if (!(error instanceof FtgError)) throw error;
      const wasPatient = performance.now() - startedAt > FETCH_PATIENCE_MS;
      if (!['network_error', 'idempotency_in_progress'].includes(error.code)) throw error;
      // The client has retried meanwhile: the last answer may be that the first try still runs.
      isRunning ||= wasPatient;
      if (!isRunning) throw error;
      if (error.code === 'network_error' && !wasPatient) throw error;
      await delay(ASK_AGAIN_MS, undefined, { signal });
    }
  }
}

export async function mv(
  session: Session,
  [from = '', to = '']: Arguments,
  options: Omit<CopyOptions, 'template'>,
): Promise<void> {
  const { overwrite, recursive = false } = options;
  const target = parseLocation(to);
  if (recursive) return moveTrees(session, 'move', [from, to], options);
  const { gateway, out, signal } = session;
  const source = parseFileLocation(from);
  const glob = await globAt(session, source);
  if (glob !== undefined) return moveMatches(session, 'move', { ...source, glob, to }, options);
  if (source.connectionId !== target.connectionId) return moveFile(session, from, to, options);
  refuseJobOptions(options);
  const path = targetPath(source.path, target.path);
  const answer = await gateway.files.move(source.connectionId, source.path, path, { overwrite, signal });
  out.show(answer, () => printable(answer.to));
}

interface RemoveOptions extends JobOptions {
  readonly force?: boolean;
  readonly recursive?: boolean;
}

export async function rm(session: Session, places: readonly string[], options: RemoveOptions): Promise<void> {
  if (options.recursive === true) return removeTrees(session, places, options);
  const { dryRun = false, force = false, ...rest } = options;
  refuseJobOptions(rest);
  const { out, signal } = session;
  for (const place of places) {
    const location = parseFileLocation(place);
    const glob = await globAt(session, location);
    if (glob === undefined) {
      await removeOne(session, { ...location, shown: place }, { dryRun, force });
      continue;
    }
    let found = 0;
    const { connectionId } = location;
    await inParallel(filesIn(session, connectionId, glob), DELETES_AT_ONCE, async ({ path, rawName }) => {
      signal.throwIfAborted();
      found += 1;
      await removeOne(session, { connectionId, path, rawName, shown: `${connectionId}:${path}` }, { dryRun, force });
    });
    if (found === 0 && !force) throw nothingMatches(place);
    if (!dryRun) out.note(`${found} deleted`);
  }
}

const DELETES_AT_ONCE = 4;

interface Doomed extends Location {
  readonly rawName?: string | undefined;
  readonly shown: string;
}

async function removeOne(
  { gateway, out, signal }: Session,
  { connectionId, path, rawName, shown }: Doomed,
  { dryRun, force }: { readonly dryRun: boolean; readonly force: boolean },
): Promise<void> {
  if (dryRun) return out.show({ connectionId, path, dryRun }, () => `would delete ${printable(shown)}`);
  try {
    const answer = await gateway.files.delete(connectionId, path, { rawName, signal });
    out.show(answer, () => '');
  } catch (error) {
    if (!force || !(error instanceof FtgError) || error.code !== 'not_found') throw withAdvice(error, shown);
  }
}

export async function mkdir({ gateway, out, signal }: Session, places: readonly string[]): Promise<void> {
  for (const { connectionId, path } of places.map(parseLocation)) {
    const folder = isFolder(path) && path.length > 1 ? path.slice(0, -1) : path;
    const answer = await gateway.files.mkdir(connectionId, folder, { signal });
    out.show(answer, () => '');
  }
}

/** Ends with the exit code of the command, like ssh. */
export async function exec(
  { gateway, out, signal }: Session,
  [connectionId = '', ...words]: readonly string[],
  { timeout }: { readonly timeout?: number },
): Promise<void> {
  const answer = await gateway.files.exec(connectionId, words.join(' '), {
    signal,
    ...(timeout === undefined ? {} : { timeout: timeout * 1_000 }),
  });
  if (out.isJson) out.show(answer, () => '');
  else {
    process.stdout.write(answer.stdout);
    process.stderr.write(answer.stderr);
  }
  throw new Exit(answer.exitCode);
}
