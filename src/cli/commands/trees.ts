/** `ftg cp -r`, `mv -r`, `rm -r`, `sync`: whole folders, by jobs of the gateway. */
import { FtgError, type NewJob } from '../../client/index.js';
import type { Arguments, Session } from '../command.js';
import { UsageError } from '../exit-codes.js';
import { follow } from '../follow.js';
import { jobOptionsOf } from '../job-options.js';
import { isFolder, type Location, parseLocation, targetFolder } from '../location.js';

/** What following a job reads; the rest is for the job itself. */
export interface JobOptions {
  readonly dryRun?: boolean;
  readonly detach?: boolean;
  readonly progress: boolean;
  readonly onConflict?: NewJob['onConflict'];
}

/** With the advice that the gateway, which knows no options of ours, cannot give. */
export function withAdvice(thrown: unknown, place: string): unknown {
  if (!(thrown instanceof FtgError) || thrown.code !== 'is_a_folder') return thrown;
  return new FtgError(`${place} is a folder: use -r`, thrown);
}

export function copyTree(
  session: Session,
  [from = '', to = '']: Arguments,
  options: JobOptions & { readonly overwrite: boolean },
): Promise<void> {
  return betweenFolders(session, 'copy', [from, to], options);
}

export function moveTree(
  session: Session,
  [from = '', to = '']: Arguments,
  options: JobOptions & { readonly overwrite: boolean },
): Promise<void> {
  return betweenFolders(session, 'move', [from, to], options);
}

function betweenFolders(
  session: Session,
  type: 'copy' | 'move',
  [from, to]: readonly [string, string],
  { overwrite, ...options }: JobOptions & { readonly overwrite: boolean },
): Promise<void> {
  const onConflict = options.onConflict ?? (overwrite ? 'replace' : 'fail');
  return runJob(session, orderOf(type, from, to, { ...options, onConflict }), options);
}

/** The job that the words of a command stand for; without `to`, a deletion. */
export function orderOf(type: NewJob['type'], from: string, to: string | undefined, options: object): NewJob {
  const told = jobOptionsOf(type, options);
  const source = type === 'sync' ? parseSide(from) : parseLocation(from);
  if (to === undefined) return { type, source: placeOf(source), ...told };
  const target = type === 'sync' ? parseSide(to) : parseLocation(to);
  const path = type === 'sync' ? target.path : targetFolder(source.path, target.path);
  return { type, source: placeOf(source), destination: placeOf({ ...target, path }), ...told };
}

export async function removeTrees(
  session: Session,
  places: readonly string[],
  { force = false, ...options }: JobOptions & { readonly force?: boolean },
): Promise<void> {
  for (const place of places) {
    if (force && !(await isThere(session, parseLocation(place)))) continue;
    await runJob(session, orderOf('delete', place, undefined, options), options);
  }
}

/** Both are folders, whose content becomes alike: no name is added to either. */
export function sync(session: Session, [from = '', to = '']: Arguments, options: JobOptions): Promise<void> {
  return runJob(session, orderOf('sync', from, to, options), options);
}

function parseSide(text: string): Location {
  if (/^[^:/]+:/.test(text)) return parseLocation(text);
  throw new UsageError(`${text} is no place on a connection; sync is between connections: see put -r and get -r`);
}

async function runJob(session: Session, order: NewJob, options: JobOptions): Promise<void> {
  const { gateway, out, signal } = session;
  const job = await gateway.files.jobs.create(order, { signal });
  if (options.detach === true) return out.show({ job }, () => job.id);
  await follow(session, job, options);
}

async function isThere({ gateway, signal }: Session, { connectionId, path }: Location): Promise<boolean> {
  return path === '' || (await gateway.files.exists(connectionId, path, { signal })).exists;
}

function placeOf({ connectionId, path }: Location): NewJob['source'] {
  if (path === '') return { connectionId };
  return { connectionId, path: isFolder(path) && path.length > 1 ? path.slice(0, -1) : path };
}
