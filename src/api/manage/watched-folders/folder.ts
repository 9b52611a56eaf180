/** A watched folder as its owner sees it, with the state of its checks. */
import { type Static, Type } from 'typebox';
import { object } from '../../../contract/schema.js';
import { shownFields, viewOf } from '../../../contract/thing.js';
import { type WatchedFolder, watchedFolderFields } from '../../../contract/watched-folder.js';
import { watchedFolderExample } from '../../watched-folders/watched-folders.js';
import { ID, LATER, TIME } from '../fields.js';
import { actorOf, type AtItem, type ManageServices } from '../services.js';

export const COUNTS = Type.Unsafe<Readonly<Record<string, number>>>({
  type: 'object',
  additionalProperties: Type.Integer({ minimum: 0 }),
  description: 'Entries of the folder, by reason.',
});

export const managedFolderFields = shownFields(watchedFolderFields, 'owner');
export const managedFolder = object('ManagedWatchedFolder', managedFolderFields);

export const sample: Static<typeof managedFolder> = {
  ...watchedFolderExample,
  id: ID,
  source: 'manual',
  excludePattern: null,
  doneFile: null,
  initial: 'ignore',
  recursive: false,
  minAgeSeconds: 0,
  afterDelivery: 'keep',
  moveTo: null,
  expectEveryMinutes: null,
  copyTo: null,
  nextCheckAt: LATER,
  baselineAt: TIME,
  lastSuccessAt: TIME,
  lastDetectionAt: null,
  alarmedAt: null,
  failingSince: null,
  failures: 0,
  errorCode: null,
  errorMessage: null,
  deliveriesEndedAt: null,
};
export const shownAnswer = { schema: managedFolder, example: sample };
export const FOLDER_ERRORS = ['unknown_watched_folder'] as const;

/** @throws GatewayError unknown_watched_folder, also for another account's */
export function folderAt({ watching }: ManageServices, { caller, params }: AtItem): Promise<WatchedFolder> {
  return watching.get(caller.accountId, params.id);
}

export const folderView = (folder: WatchedFolder) => viewOf(watchedFolderFields, folder, 'owner');

export async function note(
  { storage }: ManageServices,
  input: Parameters<typeof actorOf>[0],
  verb: string,
  { id, name }: WatchedFolder,
  details: Readonly<Record<string, string | number | null>> = {},
): Promise<void> {
  const target = { kind: 'watched_folder', id, name };
  await storage.management.audit.add(actorOf(input), { action: `watched_folder.${verb}`, target, details });
}

export function withDate<T extends { readonly modifiedMs: number; readonly rawName: string | undefined }>({
  modifiedMs,
  rawName,
  ...file
}: T) {
  return { ...file, modifiedAt: new Date(modifiedMs), ...(rawName === undefined ? {} : { rawName }) };
}
