/** `ftg cp -r`, `mv -r`, `rm -r`, `sync`: whole folders, as jobs of the gateway. */
import { posix } from 'node:path';
import { FtgError, type NewJob } from '../../client/index.js';
import type { Arguments, Session } from '../command.js';
import { UsageError } from '../exit-codes.js';
import { follow } from '../follow.js';
import { filesIn, globAt, nothingMatches, treesIn } from '../glob.js';
import { jobOptionsOf } from '../job-options.js';
import { type Glob, isFolder, isPlace, type Location, parseLocation, targetFolder } from '../location.js';

/** Options for following a job; the others are for the job itself. */
export interface JobOptions {
  readonly dryRun?: boolean;
  readonly detach?: boolean;
  readonly progress?: boolean;
  readonly onConflict?: NewJob['onConflict'];
}

/** Adds advice that the gateway cannot give, because it does not know the options of `ftg`. */
export function withAdvice(thrown: unknown, place: string): unknown {
  if (!(thrown instanceof FtgError) || thrown.code !== 'is_a_folder') return thrown;
  return folderError(place, thrown);
}

function folderError(
  place: string,
  facts: Pick<FtgError, 'status' | 'code'> = { status: 409, code: 'is_a_folder' },
): FtgError {
  return new FtgError(`${place} is a folder: use -r`, facts);
}

interface BetweenOptions extends JobOptions {
  readonly overwrite: boolean;
}

/** `cp -r` and `mv -r`: a folder, or the matches of a glob with everything below them. */
export async function moveTrees(
  session: Session,
  type: 'copy' | 'move',
  [from = '', to = '']: Arguments,
  options: BetweenOptions,
): Promise<void> {
  for await (const place of placesOf(session, from)) {
    // Several sources go into a folder, even if it is written without a slash.
    const target = place === from || isFolder(parseLocation(to).path) ? to : `${to}/`;
    await runJob(session, orderOf(type, place, target, withRule(options)), options);
  }
}

/** `cp` and `mv` of the files that a glob matches into one folder, as one job. */
export async function moveMatches(
  session: Session,
  type: 'copy' | 'move',
  { connectionId, glob, to }: { readonly connectionId: string; readonly glob: Glob; readonly to: string },
  options: BetweenOptions & { readonly include?: unknown; readonly maxDepth?: unknown },
): Promise<void> {
  const { folder, pattern } = glob;
  if (options.include !== undefined || options.maxDepth !== undefined)
    throw new UsageError('the glob says which files: --include and --max-depth are for folders');
  const { done } = await filesIn(session, connectionId, glob).next();
  if (done === true) throw nothingMatches(`${connectionId}:${posix.join(folder, pattern)}`);
  const depth = pattern.includes('**') ? {} : { maxDepth: pattern.split('/').length };
  const settings = jobOptionsOf(type, { ...withRule(options), include: [pattern], ...depth });
  const source = placeOf({ connectionId, path: folder });
  await runJob(session, { type, source, destination: placeOf(parseLocation(to)), ...settings }, options);
}

/** Moves a file to another connection; there is no single request for that. */
export async function moveFile(session: Session, from: string, to: string, options: BetweenOptions): Promise<void> {
  const { gateway, signal } = session;
  const { connectionId, path } = parseLocation(from);
  const { file } = await gateway.files.exists(connectionId, path, { signal });
  if (file?.isDirectory === true) throw folderError(from);
  await runJob(session, orderOf('move', from, to, withRule(options)), options);
}

function withRule({ overwrite, ...options }: BetweenOptions): JobOptions {
  return { ...options, onConflict: options.onConflict ?? (overwrite ? 'replace' : 'fail') };
}

/** The place itself, or the matches of its glob. @throws FtgError if nothing matches */
async function* placesOf(session: Session, place: string): AsyncGenerator<string, void> {
  const location = parseLocation(place);
  const glob = await globAt(session, location);
  if (glob === undefined) {
    yield place;
    return;
  }
  let found = 0;
  for await (const { path } of treesIn(session, location.connectionId, glob)) {
    found += 1;
    yield `${location.connectionId}:${path}`;
  }
  if (found === 0) throw nothingMatches(place);
}

/** The job for the words of a command; without `to`, a deletion. */
export function orderOf(type: NewJob['type'], from: string, to: string | undefined, options: object): NewJob {
  const settings = jobOptionsOf(type, options);
  const source = type === 'sync' ? parseSide(from) : parseLocation(from);
  if (to === undefined) return { type, source: placeOf(source), ...settings };
  const target = type === 'sync' ? parseSide(to) : parseLocation(to);
  const path = type === 'sync' ? target.path : targetFolder(source.path, target.path);
  return { type, source: placeOf(source), destination: placeOf({ ...target, path }), ...settings };
}

export async function removeTrees(
  session: Session,
  places: readonly string[],
  { force = false, ...options }: JobOptions & { readonly force?: boolean },
): Promise<void> {
  for (const given of places) {
    if (force && !(await isThere(session, given))) continue;
    for await (const place of placesOf(session, given)) {
      await runJob(session, orderOf('delete', place, undefined, options), options);
    }
  }
}

/** Both are folders whose content is synchronized: no name is added to either. */
export function sync(session: Session, [from = '', to = '']: Arguments, options: JobOptions): Promise<void> {
  return runJob(session, orderOf('sync', from, to, options), options);
}

function parseSide(text: string): Location {
  if (isPlace(text)) return parseLocation(text);
  throw new UsageError(`${text} is no place on a connection; sync is between connections: see put -r and get -r`);
}

async function runJob(session: Session, order: NewJob, options: JobOptions): Promise<void> {
  const { gateway, out, signal } = session;
  const job = await gateway.files.jobs.create(order, { signal });
  if (options.detach === true) return out.show({ job }, () => job.id);
  await follow(session, job, options);
}

async function isThere(session: Session, place: string): Promise<boolean> {
  const { connectionId, path } = parseLocation(place);
  const glob = await globAt(session, { connectionId, path });
  if (glob !== undefined) return (await treesIn(session, connectionId, glob).next()).done !== true;
  const { gateway, signal } = session;
  return path === '' || (await gateway.files.exists(connectionId, path, { signal })).exists;
}

function placeOf({ connectionId, path }: Location): NewJob['source'] {
  if (path === '') return { connectionId };
  return { connectionId, path: isFolder(path) && path.length > 1 ? path.slice(0, -1) : path };
}
