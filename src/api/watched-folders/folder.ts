/** A watched folder for keys and for owners, and the first steps of the endpoints of its checks and deliveries. */
import { type Caller, mayUse } from '../../base/caller.js';
import { unknown } from '../../base/errors.js';
import type { AuditAction } from '../../contract/audit.js';
import { object } from '../../contract/schema.js';
import { exampleOf, type Reader, shownFields, viewOf } from '../../contract/thing.js';
import { type WatchedFolder, watchedFolderExample, watchedFolderFields } from '../../contract/watched-folder.js';
import { ID } from '../../contract/examples.js';
import { actorOf, type AtItem, type Services } from '../services.js';

export const watchedFolder = object('WatchedFolder', shownFields(watchedFolderFields, 'key'));
export const ownersFolder = object('ManagedWatchedFolder', shownFields(watchedFolderFields, 'owner'));

export const example = exampleOf(watchedFolderFields, watchedFolderExample, 'key');
export const ownersExample = exampleOf(
  watchedFolderFields,
  { ...watchedFolderExample, id: ID, source: 'manual' },
  'owner',
);

export const FOLDER_ERRORS = ['unknown_watched_folder'] as const;

/**
 * @throws GatewayError unknown_watched_folder, also for a folder of another account, or of a connection that the key
 * may not use
 */
export async function folderAt({ watching }: Services, { caller, params }: AtItem): Promise<WatchedFolder> {
  const folder = await watching.get(caller.accountId, params.id);
  if (maySee(caller, folder)) return folder;
  throw unknown('watched folder', folder.id);
}

/**
 * Whether the caller may use the connection of the folder and the one that it copies to, because a change of the folder
 * decides what is copied there.
 */
export function maySee(caller: Caller, { connectionId, copyTo }: WatchedFolder): boolean {
  return mayUse(caller, [connectionId, ...(copyTo === null ? [] : [copyTo.connectionId])]);
}

export const folderView = (folder: WatchedFolder, reader: Reader) => viewOf(watchedFolderFields, folder, reader);

/** Writes an owner's action to the audit log. */
export async function note(
  { storage }: Services,
  input: Parameters<typeof actorOf>[0],
  action: Extract<AuditAction, `watched_folder.${string}`>,
  { id, name }: WatchedFolder,
  details: Readonly<Record<string, string | number | null>> = {},
): Promise<void> {
  const target = { kind: 'watched_folder', id, name };
  await storage.management.audit.add(actorOf(input), { action, target, details });
}

export function withDate<T extends { readonly modifiedMs: number; readonly rawName: string | undefined }>({
  modifiedMs,
  rawName,
  ...file
}: T) {
  return { ...file, modifiedAt: new Date(modifiedMs), ...(rawName === undefined ? {} : { rawName }) };
}
