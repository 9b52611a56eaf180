/** `ftg watch`: watched folders, their checks and deliveries. */
import type { NewWatchedFolder } from '../../client/index.js';
import { watchedFolderFields } from '../../contract/watched-folder.js';
import type { Arguments, Session } from '../command.js';
import { UsageError } from '../exit-codes.js';
import { givenFieldsOf } from '../field-options.js';
import type { Schemas } from '../gateway.js';
import { parseLocation } from '../location.js';
import { bytesText, fields, table, timeText } from '../output.js';

type Folder = Schemas['ManagedWatchedFolder'];

/** By the file API: a key with the scope watch may look. */
export async function listFolders({ gateway, out, signal }: Session): Promise<void> {
  const watchedFolders = await gateway.files.watchedFolders({ signal });
  out.show({ watchedFolders }, () => {
    const rows = watchedFolders.map((folder) => [
      folder.id,
      folder.name,
      `${folder.connectionId}:${folder.path}`,
      folder.filePattern,
      `${folder.scheduleMinutes} min`,
      folder.isActive ? 'active' : 'paused',
      folder.webhookUrl,
    ]);
    return table(['ID', 'NAME', 'FOLDER', 'PATTERN', 'EVERY', 'STATE', 'WEBHOOK'], rows, 'no watched folders');
  });
}

interface CopyOptions {
  readonly copyTo?: string;
  readonly template?: string;
  readonly onConflict?: NonNullable<NewWatchedFolder['copyTo']>['onConflict'];
}

export async function addFolder(
  { gateway, out, signal }: Session,
  [place = '']: Arguments,
  options: CopyOptions,
): Promise<void> {
  const { connectionId, path } = parseLocation(place);
  const wanted = { connectionId, path, ...fieldsOf(options) } as NewWatchedFolder;
  const folder = await gateway.files.createWatchedFolder(wanted, { signal });
  out.show(folder, () => fields(folder));
}

interface EditOptions extends CopyOptions {
  readonly path?: string;
}

/** What is not said stays; "none" takes away what may be absent. */
export async function editFolder(
  { gateway, out, signal }: Session,
  [id = '']: Arguments,
  { path, ...options }: EditOptions,
): Promise<void> {
  const said = { ...(path === undefined ? {} : { path }), ...fieldsOf(options) };
  const changes = Object.entries(said).map(([name, value]) => [name, value === 'none' ? null : value] as const);
  const folder = await gateway.files.changeWatchedFolder(id, Object.fromEntries(changes), {
    signal,
  });
  out.show(folder, () => fields(folder));
}

function fieldsOf(options: CopyOptions): Readonly<Record<string, unknown>> {
  const copyTo = copyToOf(options);
  return { ...givenFieldsOf(watchedFolderFields, options), ...(copyTo === undefined ? {} : { copyTo }) };
}

/** @throws UsageError */
function copyToOf({ copyTo, template, onConflict }: CopyOptions): NewWatchedFolder['copyTo'] | 'none' {
  if (copyTo === undefined) {
    if (template === undefined && onConflict === undefined) return undefined;
    throw new UsageError('--template and --on-conflict are for copies: say --copy-to too');
  }
  if (copyTo === 'none') return copyTo;
  const { connectionId, path } = parseLocation(copyTo);
  const renamed = template === undefined ? {} : { filename_template: template };
  const rule = onConflict === undefined ? {} : { onConflict };
  return { connectionId, path: path === '' ? '.' : path, ...renamed, ...rule };
}

export async function removeFolder({ gateway, out, signal }: Session, [id = '']: Arguments): Promise<void> {
  await gateway.files.deleteWatchedFolder(id, { signal });
  out.show({ success: true }, () => `${id} is no longer watched`);
}

export async function showFolder({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const folder = await gateway.manage.get<Folder>(at(id));
  out.show(folder, () => fields(folder));
}

export function switchFolder(verb: 'pause' | 'resume') {
  return async ({ gateway, out }: Session, [id = '']: Arguments): Promise<void> => {
    const folder = await gateway.manage.post<Folder>(`${at(id)}/${verb}`);
    out.show(folder, () => `${folder.name} is ${folder.isActive ? 'active' : 'paused'}`);
  };
}

export async function checkFolder({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.post<Schemas['QueuedAnswer']>(`${at(id)}/check`);
  out.show(answer, () => (answer.queued ? 'a check is due' : 'a check waits or runs already'));
}

export async function dryRun({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.post<Schemas['DryRunAnswer']>(`${at(id)}/dry-run`);
  out.show(answer, () => {
    const rows = answer.files.map(({ event, size, modifiedAt, path }) => [
      event,
      bytesText(size),
      timeText(modifiedAt),
      path,
    ]);
    return `${fields(answer.counts)}\n\n${table(['EVENT', 'SIZE', 'CHANGED', 'PATH'], rows, 'nothing would be reported')}`;
  });
}

export async function listChecks({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.get<Schemas['ChecksAnswer']>(`${at(id)}/checks`);
  out.show(answer, () => {
    const rows = answer.checks.map(({ id: checkId, kind, outcome, startedAt, durationMs, counts, errorMessage }) => [
      checkId,
      timeText(startedAt),
      kind,
      outcome,
      `${durationMs} ms`,
      errorMessage ?? countsText(counts),
    ]);
    return table(['ID', 'BEGAN', 'KIND', 'OUTCOME', 'TIME', 'ENTRIES'], rows, 'no checks yet');
  });
}

export async function showCheck({ gateway, out }: Session, [id = '', checkId = '']: Arguments): Promise<void> {
  const path = `${at(id)}/checks/${encodeURIComponent(checkId)}`;
  const answer = await gateway.manage.get<Schemas['CheckEntriesAnswer']>(path);
  out.show(answer, () =>
    table(
      ['REASON', 'SIZE', 'PATH'],
      answer.entries.map(({ reason, size, path: entry }) => [
        reason,
        size === undefined ? '-' : bytesText(size),
        entry,
      ]),
    ),
  );
}

export async function showSecret(
  { gateway, out }: Session,
  [id = '']: Arguments,
  { rotate = false }: { readonly rotate?: boolean },
): Promise<void> {
  const answer = rotate
    ? await gateway.manage.post<Schemas['SecretAnswer']>(`${at(id)}/secret/rotate`)
    : await gateway.manage.get<Schemas['SecretAnswer']>(`${at(id)}/secret`);
  out.show(answer, () => answer.secret);
}

export async function sendTestEvent({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.post<Schemas['EventAnswer']>(`${at(id)}/test-event`);
  out.show(answer, () => `event ${answer.eventId} is on its way`);
}

export async function listDeliveries(
  { gateway, out }: Session,
  _: Arguments,
  { folder, state, limit }: { readonly folder?: string; readonly state?: string; readonly limit?: number },
): Promise<void> {
  const query = { watchedFolderId: folder, state, limit };
  const answer = await gateway.manage.get<Schemas['DeliveriesAnswer']>('deliveries', query);
  out.show(answer, () => {
    const rows = answer.deliveries.map((one) => [
      one.id,
      timeText(one.createdAt),
      one.type,
      one.fileCount,
      one.state,
      one.attempts,
      timeText(one.nextAttemptAt),
    ]);
    return table(['ID', 'MADE', 'TYPE', 'FILES', 'STATE', 'TRIES', 'NEXT TRY'], rows, 'no deliveries');
  });
}

export async function listAttempts({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.get<Schemas['AttemptsAnswer']>(`deliveries/${encodeURIComponent(id)}/attempts`);
  out.show(answer, () => {
    const rows = answer.attempts.map(({ startedAt, durationMs, status, errorMessage }) => [
      timeText(startedAt),
      `${durationMs} ms`,
      status,
      errorMessage,
    ]);
    return table(['BEGAN', 'TIME', 'STATUS', 'ERROR'], rows, 'not tried yet');
  });
}

export async function listCopies({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.get<Schemas['CopiesAnswer']>(`deliveries/${encodeURIComponent(id)}/copies`);
  out.show(answer, () => {
    const rows = answer.copies.map(({ path, state, connectionId, target, errorMessage }) => [
      state,
      path,
      target === null ? '-' : `${connectionId}:${target}`,
      errorMessage,
    ]);
    return table(['STATE', 'FILE', 'COPY', 'ERROR'], rows, 'nothing is copied');
  });
}

export async function replay({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.post<Schemas['QueuedAnswer']>(`deliveries/${encodeURIComponent(id)}/replay`);
  out.show(answer, () => (answer.queued ? `${id} is on its way again` : `${id} is under way already`));
}

function at(id: string): string {
  return `watched-folders/${encodeURIComponent(id)}`;
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ');
}
