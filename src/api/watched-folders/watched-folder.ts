/** A watched folder as the API shows it, and who may use it. */
import { Type, type Static } from 'typebox';
import { GatewayError } from '../../base/errors.js';
import type { Caller } from '../../base/caller.js';
import { count, dateTime, flag, object, text, textOrNull } from '../../base/schema.js';
import type { WatchedFolder } from '../../storage/storage.js';
import { folderFields, type WatchRights } from '../../watch/settings.js';
import { answeredPath, CONNECTION_ID } from '../fields.js';
import type { ApiServices } from '../services.js';

const { scheduleMinutes, detectModified, initial, recursive, afterDelivery } = folderFields;

/** Options that a folder does not use are left out. */
export const watchedFolderFields = {
  id: text('Identifier.'),
  connectionId: text(CONNECTION_ID),
  name: text('Shown in the dashboard.'),
  path: answeredPath(),
  filePattern: textOrNull('A glob on the file name, or on the path below the folder where it holds `/` or `**`.'),
  scheduleMinutes,
  webhookUrl: textOrNull('URL that receives a POST when files are found.'),
  source: text('How it was created.'),
  detectModified,
  isActive: flag('Whether it is switched on.'),
  createdAt: dateTime('When it was created.'),
  excludePattern: Type.Optional(text('A glob of files that are not reported.')),
  doneFile: Type.Optional(text('Name of a marker file: a file is reported only once its marker is there too.')),
  initial: Type.Optional(initial),
  recursive: Type.Optional(recursive),
  minAgeSeconds: Type.Optional(count('Files younger than this are not reported yet.')),
  afterDelivery: Type.Optional(afterDelivery),
  moveTo: Type.Optional(textOrNull('Folder for `afterDelivery: move`.')),
  expectEveryMinutes: Type.Optional(count('Raise an alarm when no file came for this long.')),
};

export const watchedFolder = object('WatchedFolder', watchedFolderFields);

export const watchedFolderParameter = {
  id: text('Identifier.', { minLength: 1, examples: ['0199c2f4-6f5e-7c1a-9a51-0d2f64b1c001'] }),
};

export const watchedFolderExample: Static<typeof watchedFolder> = {
  id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1c001',
  connectionId: 'warehouse',
  name: 'incoming',
  path: '/incoming',
  filePattern: '*.csv',
  scheduleMinutes: 5,
  webhookUrl: 'https://example.com/hooks/files',
  source: 'api',
  detectModified: false,
  isActive: true,
  createdAt: '2026-01-31T12:00:00.000Z',
};

export function watchedFolderOf(folder: WatchedFolder): Static<typeof watchedFolder> {
  const { id, connectionId, name, path, filePattern, scheduleMinutes, webhookUrl, source, detectModified, isActive } =
    folder;
  const { excludePattern, doneFile, initial, recursive, minAgeSeconds, afterDelivery, moveTo, expectEveryMinutes } =
    folder;
  return {
    ...{ id, connectionId, name, path, filePattern, scheduleMinutes, webhookUrl, source, detectModified, isActive },
    createdAt: folder.createdAt.toISOString(),
    ...(excludePattern === null ? {} : { excludePattern }),
    ...(doneFile === null ? {} : { doneFile }),
    ...(initial === 'ignore' ? {} : { initial }),
    ...(recursive ? { recursive } : {}),
    ...(minAgeSeconds === 0 ? {} : { minAgeSeconds }),
    ...(afterDelivery === 'keep' ? {} : { afterDelivery, moveTo }),
    ...(expectEveryMinutes === null ? {} : { expectEveryMinutes }),
  };
}

/** @throws GatewayError unknown_watched_folder, also for one of a connection that the key is not for */
export async function folderOf({ watching }: ApiServices, caller: Caller, id: string): Promise<WatchedFolder> {
  const folder = await watching.get(caller.accountId, id);
  if (mayUse(caller, folder)) return folder;
  throw new GatewayError('unknown_watched_folder', `there is no watched folder ${folder.id}`, { step: 'request' });
}

export function rightsOf({ scopes }: Caller): WatchRights {
  return scopes.includes('write') ? 'move_and_delete' : 'look';
}

export function mayUse(caller: Caller, { connectionId }: WatchedFolder): boolean {
  return caller.connections.length === 0 || caller.connections.includes(connectionId);
}
