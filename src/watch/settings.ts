/** What is said of a watched folder, and the settings that come of it. */
import { Type, type Static } from 'typebox';
import { NAME } from '../base/formats.js';
import { refusal } from '../base/errors.js';
import { flag, object, oneOf, orNull, text, textOrNull } from '../base/schema.js';
import type { Connection } from '../connections/connection.js';
import { baseName, parseRemotePath, type RemotePath } from '../remotes/path.js';
import {
  CONFLICT_RULES,
  type CopyTo,
  type WatchedFolder,
  type WatchSettings,
  withoutLogin,
} from '../storage/storage.js';

const DEFAULT_MINUTES = 5;
const DEFAULT_MOVE_TO = 'processed';

const COPY_TO =
  'Copies each file there, as it lies below the folder, before its event is sent; needs the scopes `read` and `write`. Null = nowhere.';

export const copyToSchema = object('CopyTo', {
  connectionId: text('Id of the connection that takes the copies.', { minLength: 1, maxLength: 64 }),
  path: text('Folder for the copies, absolute or from the default path of the connection; made where it is missing.', {
    minLength: 1,
    maxLength: 4096,
    pattern: NAME,
  }),
  filename_template: Type.Optional(
    text(
      'Renames the copies; tokens as for uploads. Times are those of the detection, and `{uuid}` stays the same for all tries of a copy.',
      { minLength: 1, maxLength: 1024 },
    ),
  ),
  onConflict: Type.Optional(
    oneOf(CONFLICT_RULES, 'What becomes of a file that stands where a copy is to go; `replace` when absent.'),
  ),
});

/** What its owner says of a watched folder, beside where it is. */
export const folderFields = {
  webhookUrl: textOrNull('URL that receives a POST when files are found.', {
    minLength: 1,
    maxLength: 2048,
    pattern: NAME,
  }),
  filePattern: glob('A glob on the file name, or on the path below the folder where it holds `/` or `**`.'),
  scheduleMinutes: Type.Integer({ minimum: 1, maximum: 1440, description: 'Minutes between two checks.' }),
  name: text("Shown in the dashboard; the folder's own name when absent.", {
    minLength: 1,
    maxLength: 200,
    pattern: NAME,
  }),
  detectModified: flag('Also report files whose size or date changed.'),
  excludePattern: glob('A glob of files that are not reported.'),
  doneFile: textOrNull('Name of a marker file: a file is reported only once its marker is there too.', {
    minLength: 1,
    maxLength: 255,
    pattern: NAME,
  }),
  initial: oneOf(['ignore', 'report'], 'Whether the files of the first check are reported, or are the baseline.'),
  recursive: flag('Whether sub-folders are watched too.'),
  minAgeSeconds: Type.Integer({
    minimum: 0,
    maximum: 604_800,
    description: 'Files younger than this are not reported yet.',
  }),
  afterDelivery: oneOf(
    ['keep', 'move', 'delete'],
    'What happens to a file once its event was delivered; `move` and `delete` need the scope `write`.',
  ),
  /** Relative to the folder or absolute. */
  moveTo: textOrNull('Folder for `afterDelivery: move`.', { minLength: 1, maxLength: 4096, pattern: NAME }),
  expectEveryMinutes: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 1,
    maximum: 525_600,
    description: 'Raise an alarm when no file came for this long.',
  }),
  copyTo: orNull(copyToSchema, COPY_TO),
};

function glob(description: string): ReturnType<typeof textOrNull> {
  return textOrNull(description, { minLength: 1, maxLength: 1024, pattern: NAME });
}

export const folderSettings = Type.Partial(Type.Object(folderFields));

/** Absent fields have their defaults, or stay as they are. */
export type FolderSettings = Readonly<Static<typeof folderSettings>>;

/** What a caller may have a folder do to files; it is asked when that is said, and the folder is the account's from then on. */
export type WatchRights = 'look' | 'move_and_delete' | 'copy_too';

/** A key that may not delete a file must not have it deleted either; nor may it have one copied that it may not read. */
export function checkRights(
  { afterDelivery, copyTo }: Pick<WatchSettings, 'afterDelivery'> & { readonly copyTo: object | null },
  rights: WatchRights,
): void {
  if (afterDelivery !== 'keep' && rights === 'look') {
    throw refusal('scope_missing', `afterDelivery "${afterDelivery}" needs an API key with the scope "write"`);
  }
  if (copyTo !== null && rights !== 'copy_too') {
    throw refusal('scope_missing', 'copyTo needs an API key with the scopes "read" and "write"');
  }
}

/** The same with `copyTo` as it is kept: its place is known. */
export type CheckedSettings = Omit<FolderSettings, 'copyTo'> & { readonly copyTo?: CopyTo | null };

export function settingsOf(
  connection: Connection,
  path: RemotePath,
  input: CheckedSettings,
  source: string,
): WatchSettings {
  const afterDelivery = input.afterDelivery ?? 'keep';
  const name = input.name?.trim() ?? '';
  const moveTo = afterDelivery === 'move' ? parseRemotePath(input.moveTo ?? DEFAULT_MOVE_TO, path, 'moveTo') : null;
  if (moveTo === path) {
    throw refusal('bad_request', 'moveTo must be another folder than the watched one');
  }
  return {
    connectionId: connection.id,
    name: name !== '' ? name : baseName(path) || connection.name,
    path,
    filePattern: input.filePattern ?? null,
    excludePattern: input.excludePattern ?? null,
    doneFile: input.doneFile ?? null,
    scheduleMinutes: input.scheduleMinutes ?? DEFAULT_MINUTES,
    webhookUrl: input.webhookUrl ?? null,
    source,
    detectModified: input.detectModified ?? false,
    recursive: input.recursive ?? false,
    initial: input.initial ?? 'ignore',
    minAgeSeconds: input.minAgeSeconds ?? 0,
    afterDelivery,
    moveTo,
    expectEveryMinutes: input.expectEveryMinutes ?? null,
    copyTo: input.copyTo ?? null,
  };
}

/** A login in the webhook's URL is a secret: it is kept as one, and shown to nobody. */
export function targetOf(webhookUrl: string | null | undefined): {
  readonly url: string | null | undefined;
  readonly login: string | undefined;
} {
  return typeof webhookUrl === 'string' ? withoutLogin(webhookUrl) : { url: webhookUrl, login: undefined };
}

/** As its owner would say it of another path: what lies below the folder goes with it. */
export function relativeMoveTo({ path, moveTo }: WatchedFolder): string | null {
  const below = path === '/' ? '/' : `${path}/`;
  return moveTo?.startsWith(below) === true ? moveTo.slice(below.length) : moveTo;
}
