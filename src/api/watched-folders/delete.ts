import { endpoint } from '../endpoint.js';
import { successAnswer } from '../fields.js';
import type { ApiServices } from '../services.js';
import { folderOf, watchedFolderParameter } from './watched-folder.js';

export const deleteWatchedFolder = endpoint({
  method: 'DELETE',
  path: '/api/watched-folders/:id',
  access: 'watch',
  operationId: 'deleteWatchedFolder',
  tag: 'Watched folders',
  summary: 'Delete a watched folder',
  description: 'Ends the checks of a folder and its undelivered events.',
  params: watchedFolderParameter,
  answer: { description: 'The folder is no longer watched.', schema: successAnswer, example: { success: true } },
  errors: ['unknown_watched_folder'],
}).handle(async ({ caller, params }, services: ApiServices) => {
  const folder = await folderOf(services, caller, params.id);
  await services.watching.remove(folder.accountId, folder.id);
  return { success: true };
});
