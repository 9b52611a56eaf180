/** `ftg watch`: watched folders, their checks and deliveries. */
import type { NewWatchedFolder } from '../../client/index.js';
import { deliveryListFilters } from '../../contract/filters.js';
import { watchedFolderFields } from '../../contract/watched-folder.js';
import { type Arguments, type Session, shows } from '../command.js';
import { UsageError } from '../exit-codes.js';
import { givenFieldsOf } from '../field-options.js';
import type { Schemas } from '../gateway.js';
import { parseLocation } from '../location.js';
import { bytesText, fields, listed, placeText } from '../output.js';

type Folder = Schemas['ManagedWatchedFolder'];

/** Uses the file API, so that a key with the scope watch may list them. */
export const listFolders = shows(
  async ({ gateway, signal }) => ({ watchedFolders: await gateway.files.watchedFolders({ signal }) }),
  ({ watchedFolders }) =>
    listed(
      watchedFolders,
      {
        ID: 'id',
        NAME: 'name',
        FOLDER: placeText,
        PATTERN: 'filePattern',
        EVERY: ({ scheduleMinutes }) => `${scheduleMinutes} min`,
        STATE: ({ isActive }) => (isActive ? 'active' : 'paused'),
        WEBHOOK: 'webhookUrl',
      },
      'no watched folders',
    ),
);

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

/** Omitted options change nothing; "none" removes an optional value. */
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

export const removeFolder = shows(
  async ({ gateway, signal }, [id = '']) => {
    await gateway.files.deleteWatchedFolder(id, { signal });
    return { success: true };
  },
  (_, id) => `${id} is no longer watched`,
);

export const showFolder = shows(({ gateway }, [id = '']) => gateway.manage.get<Folder>(at(id)), fields);

export const switchFolder = (verb: 'pause' | 'resume') =>
  shows(
    ({ gateway }, [id = '']) => gateway.manage.post<Folder>(`${at(id)}/${verb}`),
    ({ name, isActive }) => `${name} is ${isActive ? 'active' : 'paused'}`,
  );

export const checkFolder = shows(
  ({ gateway }, [id = '']) => gateway.manage.post<Schemas['QueuedAnswer']>(`${at(id)}/check`),
  ({ queued }) => (queued ? 'a check is due' : 'a check waits already'),
);

export const dryRun = shows(
  ({ gateway }, [id = '']) => gateway.manage.post<Schemas['DryRunAnswer']>(`${at(id)}/dry-run`),
  ({ counts, files }) => {
    const columns = { EVENT: 'event', SIZE: sizeText, CHANGED: 'modifiedAt', PATH: 'path' } as const;
    return `${fields(counts)}\n\n${listed(files, columns, 'nothing would be reported')}`;
  },
);

export const listChecks = shows(
  ({ gateway }, [id = '']) => gateway.manage.get<Schemas['ChecksAnswer']>(`${at(id)}/checks`),
  ({ checks }) =>
    listed(
      checks,
      {
        ID: 'id',
        BEGAN: 'startedAt',
        KIND: 'kind',
        OUTCOME: 'outcome',
        TIME: durationText,
        ENTRIES: ({ errorMessage, counts }) => errorMessage ?? countsText(counts),
      },
      'no checks yet',
    ),
);

export const showCheck = shows(
  ({ gateway }, [id = '', checkId = '']) =>
    gateway.manage.get<Schemas['CheckEntriesAnswer']>(`${at(id)}/checks/${encodeURIComponent(checkId)}`),
  ({ entries }) => listed(entries, { REASON: 'reason', SIZE: sizeText, PATH: 'path' }),
);

export const showSecret = shows(
  ({ gateway }, [id = ''], { rotate = false }: { readonly rotate?: boolean }) =>
    rotate
      ? gateway.manage.post<Schemas['SecretAnswer']>(`${at(id)}/secret/rotate`)
      : gateway.manage.get<Schemas['SecretAnswer']>(`${at(id)}/secret`),
  ({ secret }) => secret,
);

export const sendTestEvent = shows(
  ({ gateway }, [id = '']) => gateway.manage.post<Schemas['EventAnswer']>(`${at(id)}/test-event`),
  ({ eventId }) => `event ${eventId} is on its way`,
);

export const listDeliveries = shows(
  ({ gateway }, _, options: object) =>
    gateway.manage.get<Schemas['DeliveriesAnswer']>('deliveries', givenFieldsOf(deliveryListFilters, options)),
  ({ deliveries }) =>
    listed(
      deliveries,
      {
        ID: 'id',
        MADE: 'createdAt',
        TYPE: 'type',
        FILES: 'fileCount',
        STATE: 'state',
        TRIES: 'attempts',
        'NEXT TRY': 'nextAttemptAt',
      },
      'no deliveries',
    ),
);

export const listAttempts = shows(
  ({ gateway }, [id = '']) => gateway.manage.get<Schemas['AttemptsAnswer']>(`${delivery(id)}/attempts`),
  ({ attempts }) =>
    listed(
      attempts,
      { BEGAN: 'startedAt', TIME: durationText, STATUS: 'status', ERROR: 'errorMessage' },
      'not tried yet',
    ),
);

export const listCopies = shows(
  ({ gateway }, [id = '']) => gateway.manage.get<Schemas['CopiesAnswer']>(`${delivery(id)}/copies`),
  ({ copies }) =>
    listed(
      copies,
      {
        STATE: 'state',
        FILE: 'path',
        COPY: ({ connectionId, target }) => (target === null ? null : `${connectionId}:${target}`),
        ERROR: 'errorMessage',
      },
      'nothing is copied',
    ),
);

export const replay = shows(
  ({ gateway }, [id = '']) => gateway.manage.post<Schemas['QueuedAnswer']>(`${delivery(id)}/replay`),
  ({ queued }, id) => (queued ? `${id} is on its way again` : `${id} is under way already`),
);

const delivery = (id: string): string => `deliveries/${encodeURIComponent(id)}`;
const durationText = ({ durationMs }: { readonly durationMs: number }): string => `${durationMs} ms`;
const sizeText = ({ size }: { readonly size?: number | undefined }): string | undefined =>
  size === undefined ? undefined : bytesText(size);

function at(id: string): string {
  return `watched-folders/${encodeURIComponent(id)}`;
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ');
}
