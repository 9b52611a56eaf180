import { object, text, withDefault } from '../../base/schema.js';
import { referTo } from '../../operations/operation.js';
import { folderFields, folderSettings } from '../../watch/settings.js';
import { endpoint } from '../endpoint.js';
import { connectionId, remotePath } from '../fields.js';
import { connectionOf, type ApiServices } from '../services.js';
import { rightsOf, watchedFolderExample, watchedFolderFields, watchedFolderOf } from './watched-folder.js';

export const newWatchedFolder = object('NewWatchedFolder', {
  connectionId: connectionId(),
  path: remotePath('Folder to watch.'),
  ...folderSettings.properties,
  scheduleMinutes: withDefault(folderFields.scheduleMinutes, 5),
  detectModified: withDefault(folderFields.detectModified, false),
  initial: withDefault(folderFields.initial, 'ignore'),
  recursive: withDefault(folderFields.recursive, false),
  minAgeSeconds: withDefault(folderFields.minAgeSeconds, 0),
  afterDelivery: withDefault(folderFields.afterDelivery, 'keep'),
});

export const createWatchedFolder = endpoint({
  method: 'POST',
  path: '/api/watched-folders',
  access: 'watch',
  operationId: 'createWatchedFolder',
  tag: 'Watched folders',
  summary: 'Watch a folder',
  description:
    'Has a folder checked at an interval. What is there at the first check is the baseline; files that come later are sent to `webhookUrl`, signed with `webhookSecret`, which is shown this once. `afterDelivery` other than `keep` needs the scope `write`, too.',
  body: newWatchedFolder,
  bodyExamples: {
    csv: {
      connectionId: 'warehouse',
      path: '/incoming',
      webhookUrl: 'https://example.com/hooks/files',
      filePattern: '*.csv',
      scheduleMinutes: 5,
    },
  },
  answer: {
    status: 201,
    description: 'The folder is watched.',
    schema: object('CreatedWatchedFolder', {
      ...watchedFolderFields,
      webhookSecret: text('Signs its webhooks (Standard Webhooks); shown this once.'),
    }),
    example: { ...watchedFolderExample, webhookSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  },
  isRemote: true,
  errors: ['not_found'],
}).handle(async (input, services: ApiServices) => {
  const { connectionId, path, ...settings } = input.body;
  const connection = await connectionOf(services, input.caller, connectionId);
  const locate = referTo(connection, path, 'path');
  const { folder, webhookSecret } = await services.watching.create(connection, locate, settings, {
    source: 'api',
    rights: rightsOf(input.caller),
    signal: input.request.signal,
  });
  return { ...watchedFolderOf(folder), webhookSecret };
});
