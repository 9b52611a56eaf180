import { listOf, object } from '../../base/schema.js';
import { endpoint } from '../endpoint.js';
import type { ApiServices } from '../services.js';
import { mayUse, watchedFolder, watchedFolderExample, watchedFolderOf } from './watched-folder.js';

export const listWatchedFolders = endpoint({
  method: 'GET',
  path: '/api/watched-folders',
  access: 'watch',
  operationId: 'listWatchedFolders',
  tag: 'Watched folders',
  summary: 'List watched folders',
  description: 'The watched folders of the connections that this API key may use.',
  answer: {
    description: 'The watched folders.',
    schema: object('WatchedFoldersAnswer', {
      watchedFolders: listOf(watchedFolder, 'The watched folders of the account.'),
    }),
    example: { watchedFolders: [watchedFolderExample] },
  },
}).handle(async ({ caller }, { watching }: ApiServices) => {
  const folders = await watching.list(caller.accountId);
  return { watchedFolders: folders.filter((folder) => mayUse(caller, folder)).map(watchedFolderOf) };
});
