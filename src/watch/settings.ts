/** Settings of a watched folder: the input, its defaults, and the rights that they need. */
import { Type, type Static } from 'typebox';
import { refusal } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { changedFields, withDefaults } from '../contract/thing.js';
import {
  type CopyTo,
  type WatchedFolder,
  watchedFolderFields,
  type WatchSettings,
} from '../contract/watched-folder.js';
import { baseName, parseRemotePath, type RemotePath } from '../remotes/path.js';
import { withoutLogin } from '../storage/storage.js';

const DEFAULT_MOVE_TO = 'processed';

export const folderSettings = Type.Object(changedFields(watchedFolderFields));

/** Absent fields get their defaults or, in a change, keep their values. */
export type FolderSettings = Readonly<Static<typeof folderSettings>>;

/** What a caller may let a folder do to files. It is checked only when the settings are written. */
export type WatchRights = 'watch' | 'move_and_delete' | 'copy_too';

/** A folder must not delete files for a key that may not, nor copy files for a key that may not read them. */
export function checkRights(
  { afterDelivery, copyTo }: Pick<WatchSettings, 'afterDelivery'> & { readonly copyTo: object | null },
  rights: WatchRights,
): void {
  if (afterDelivery !== 'keep' && rights === 'watch') {
    throw refusal('scope_missing', `afterDelivery "${afterDelivery}" needs an API key with the scope "write"`);
  }
  if (copyTo !== null && rights !== 'copy_too') {
    throw refusal('scope_missing', 'copyTo needs an API key with the scopes "read" and "write"');
  }
}

/** With `copyTo` as it is stored: its path is resolved. */
export type CheckedSettings = Omit<FolderSettings, 'copyTo'> & { readonly copyTo?: CopyTo | null };

export function watchSettingsOf(
  connection: Connection,
  path: RemotePath,
  input: CheckedSettings,
  source: string,
): WatchSettings {
  const afterDelivery = input.afterDelivery ?? 'keep';
  const name = input.name?.trim() ?? '';
  const moveTo = afterDelivery === 'move' ? parseRemotePath(input.moveTo ?? DEFAULT_MOVE_TO, path, 'moveTo') : null;
  if (afterDelivery !== 'keep' && input.detectDeleted === true) {
    const text = `detectDeleted and afterDelivery "${afterDelivery}" exclude each other: files that the gateway itself takes away would be reported as deleted`;
    throw refusal('bad_request', text);
  }
  if (moveTo === path) {
    throw refusal('bad_request', 'moveTo must be another folder than the watched one');
  }
  return {
    ...withDefaults(watchedFolderFields, input),
    connectionId: connection.id,
    name: name !== '' ? name : baseName(path) || connection.name,
    path,
    source,
    afterDelivery,
    moveTo,
    copyTo: input.copyTo ?? null,
  };
}

/** Splits off a login in the webhook's URL: it is stored as a secret and never shown. */
export function webhookTargetOf(webhookUrl: string | null | undefined): {
  readonly url: string | null | undefined;
  readonly login: string | undefined;
} {
  return typeof webhookUrl === 'string' ? withoutLogin(webhookUrl) : { url: webhookUrl, login: undefined };
}

/** Relative to the folder if it is below it, so that it moves along with the folder's path. */
export function relativeMoveTo({ path, moveTo }: WatchedFolder): string | null {
  const below = path === '/' ? '/' : `${path}/`;
  return moveTo?.startsWith(below) === true ? moveTo.slice(below.length) : moveTo;
}
