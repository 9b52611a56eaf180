/** What is said of a watched folder, and the settings that come of it. */
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

/** Absent fields have their defaults, or stay as they are. */
export type FolderSettings = Readonly<Static<typeof folderSettings>>;

/** What a caller may have a folder do to files; it is asked when that is said, and the folder is the account's from then on. */
export type WatchRights = 'watch' | 'move_and_delete' | 'copy_too';

/** A key that may not delete a file must not have it deleted either; nor may it have one copied that it may not read. */
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
