import { Type } from 'typebox';
import { flag, object } from '../../base/schema.js';
import { referTo } from '../../operations/operation.js';
import { folderSettings } from '../../watch/settings.js';
import { endpoint } from '../endpoint.js';
import { remotePath } from '../fields.js';
import { connectionOf, type ApiServices } from '../services.js';
import {
  folderOf,
  rightsOf,
  watchedFolder,
  watchedFolderExample,
  watchedFolderOf,
  watchedFolderParameter,
} from './watched-folder.js';

export const watchedFolderChanges = object('WatchedFolderChanges', {
  path: Type.Optional(remotePath('Folder to watch.')),
  ...folderSettings.properties,
  isActive: Type.Optional(flag('Whether it is switched on.')),
});

export const changeWatchedFolder = endpoint({
  method: 'PATCH',
  path: '/api/watched-folders/:id',
  access: 'watch',
  operationId: 'changeWatchedFolder',
  tag: 'Watched folders',
  summary: 'Change a watched folder',
  description:
    'Fields that are absent stay; the connection cannot change. Another `path` is another folder: what was known is forgotten, and the next check takes the baseline. Other names (`filePattern`, `excludePattern`, `doneFile`, `recursive`) keep what is known; what only they let in, and is there at the next check, is baseline. A folder whose `afterDelivery` is not `keep` needs the scope `write`, too.',
  params: watchedFolderParameter,
  body: watchedFolderChanges,
  bodyExamples: { pattern: { filePattern: '*.xml', scheduleMinutes: 15 } },
  answer: {
    description: 'The folder as it is from now on.',
    schema: watchedFolder,
    example: { ...watchedFolderExample, filePattern: '*.xml', scheduleMinutes: 15 },
  },
  isRemote: true,
  errors: ['unknown_watched_folder', 'not_found'],
}).handle(async ({ caller, params, body, request }, services: ApiServices) => {
  const folder = await folderOf(services, caller, params.id);
  const { path, ...changes } = body;
  const connection = await connectionOf(services, caller, folder.connectionId);
  const edited = await services.watching.edit(
    folder.accountId,
    folder.id,
    path === undefined ? changes : { ...changes, locate: referTo(connection, path, 'path') },
    { rights: rightsOf(caller), signal: request.signal },
  );
  return watchedFolderOf(edited);
});
