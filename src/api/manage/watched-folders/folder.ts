/** A watched folder as its owner sees it, with the state of its checks. */
import { type Static, Type } from 'typebox';
import { count, countOrNull, dateTime, dateTimeOrNull, object, orNull, textOrNull } from '../../../base/schema.js';
import type { WatchedFolder } from '../../../storage/storage.js';
import { copyToSchema, folderFields } from '../../../watch/settings.js';
import { watchedFolder, watchedFolderExample } from '../../watched-folders/watched-folders.js';
import { ID, LATER, TIME } from '../fields.js';
import { actorOf, type AtItem, type ManageServices } from '../services.js';

export const COUNTS = Type.Unsafe<Readonly<Record<string, number>>>({
  type: 'object',
  additionalProperties: Type.Integer({ minimum: 0 }),
  description: 'Entries of the folder, by reason.',
});
export const ERROR_CODE = 'The code of the error, as `X-Error-Code` carries it.';

/** With every option, also those that it does not use. */
export const managedFolderFields = {
  ...watchedFolder.properties,
  excludePattern: textOrNull('A glob of files that are not reported.'),
  doneFile: textOrNull('Name of a marker file: a file is reported only once its marker is there too.'),
  initial: folderFields.initial,
  recursive: folderFields.recursive,
  minAgeSeconds: count('Files younger than this are not reported yet.'),
  afterDelivery: folderFields.afterDelivery,
  moveTo: textOrNull('Folder for `afterDelivery: move`.'),
  expectEveryMinutes: countOrNull('Raise an alarm when no file came for this long.', { minimum: 1 }),
  copyTo: orNull(copyToSchema, 'Where its files are copied before their event is sent.'),
  nextCheckAt: dateTime('When it is checked next.'),
  baselineAt: dateTimeOrNull('When the first check went through.'),
  lastSuccessAt: dateTimeOrNull('When a check last went through.'),
  lastDetectionAt: dateTimeOrNull('When a file was last reported.'),
  alarmedAt: dateTimeOrNull('When it was last told that no file came.'),
  failingSince: dateTimeOrNull('Since when every check has failed.'),
  failures: count('Checks that have failed in a row.'),
  errorCode: textOrNull(ERROR_CODE),
  errorMessage: textOrNull('What went wrong.'),
  deliveriesEndedAt: dateTimeOrNull('When the receiver answered 410: nothing is sent any more.'),
};
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

/** Everything but what is the gateway's own business. */
export function folderView(folder: WatchedFolder): Static<typeof managedFolder> {
  const { accountId: _account, timeResolutionMs: _resolution, formerNames: _names, ...view } = folder;
  return view;
}

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
