/** The watched folders of an account, by the same service that the API for programs uses. */
import type { Static } from 'typebox';
import { listOf, object, text } from '../../../base/schema.js';
import { referTo } from '../../../operations/operation.js';
import { endpoint } from '../../endpoint.js';
import { successAnswer } from '../../fields.js';
import { newWatchedFolder } from '../../watched-folders/create.js';
import { watchedFolderChanges } from '../../watched-folders/edit.js';
import { itemParameter } from '../fields.js';
import { type AtItem, type ManageServices, openedConnection } from '../services.js';
import {
  folderAt,
  folderView,
  FOLDER_ERRORS,
  managedFolder,
  managedFolderFields,
  note,
  sample,
  shownAnswer,
} from './folder.js';
import { SECRET } from './secret.js';

export const listFolders = endpoint({
  method: 'GET',
  path: '/manage/watched-folders',
  access: 'owner',
  operationId: 'listManagedFolders',
  tag: 'Watched folders',
  summary: 'List watched folders',
  description: 'With the state of their checks.',
  answer: {
    schema: object('ManagedWatchedFoldersAnswer', {
      watchedFolders: listOf(managedFolder, 'The watched folders.'),
    }),
    example: { watchedFolders: [sample] },
  },
}).handle(async ({ caller }, { watching }: ManageServices) => {
  return { watchedFolders: (await watching.list(caller.accountId)).map(folderView) };
});

export const createFolder = endpoint({
  method: 'POST',
  path: '/manage/watched-folders',
  access: 'owner',
  operationId: 'watchFolder',
  tag: 'Watched folders',
  summary: 'Watch a folder',
  description: 'As `POST /api/watched-folders`, with `source` manual.',
  body: newWatchedFolder,
  bodyExamples: { body: { connectionId: 'warehouse', path: '/incoming', filePattern: '*.csv' } },
  answer: {
    status: 201,
    description: 'The folder is watched.',
    schema: object('CreatedManagedWatchedFolder', {
      ...managedFolderFields,
      webhookSecret: text('Signs its webhooks (Standard Webhooks); shown this once.'),
    }),
    example: { ...sample, webhookSecret: SECRET },
  },
  isRemote: true,
  errors: ['not_found'],
}).handle(async (input, services: ManageServices) => {
  const { connectionId, path, ...settings } = input.body;
  const connection = await openedConnection(services, input.caller, connectionId);
  const locate = referTo(connection, path, 'path');
  const { folder, webhookSecret } = await services.watching.create(connection, locate, settings, {
    source: 'manual',
    rights: 'move_and_delete',
    signal: input.request.signal,
  });
  await note(services, input, 'create', folder);
  return { ...folderView(folder), webhookSecret };
});

export const showFolder = endpoint({
  method: 'GET',
  path: '/manage/watched-folders/:id',
  access: 'owner',
  operationId: 'showFolder',
  tag: 'Watched folders',
  summary: 'Show a watched folder',
  description: 'With the state of its checks.',
  params: itemParameter,
  answer: shownAnswer,
  errors: FOLDER_ERRORS,
}).handle(async (input, services: ManageServices) => {
  return folderView(await folderAt(services, input));
});

export const editFolder = endpoint({
  method: 'PATCH',
  path: '/manage/watched-folders/:id',
  access: 'owner',
  operationId: 'changeFolder',
  tag: 'Watched folders',
  summary: 'Change a watched folder',
  description: 'As `PATCH /api/watched-folders/{id}`.',
  params: itemParameter,
  body: watchedFolderChanges,
  bodyExamples: { body: { filePattern: '*.xml', scheduleMinutes: 15 } },
  answer: { schema: managedFolder, example: { ...sample, filePattern: '*.xml', scheduleMinutes: 15 } },
  isRemote: true,
  errors: [...FOLDER_ERRORS, 'not_found'],
}).handle(async (input, services: ManageServices) => {
  const folder = await folderAt(services, input);
  const { path, ...changes } = input.body;
  const locate = async () =>
    path === undefined
      ? {}
      : { locate: referTo(await openedConnection(services, input.caller, folder.connectionId), path, 'path') };
  const edited = await services.watching.edit(
    folder.accountId,
    folder.id,
    { ...changes, ...(await locate()) },
    { rights: 'move_and_delete', signal: input.request.signal },
  );
  await note(services, input, 'edit', edited, { fields: Object.keys(input.body).join(', ') });
  return folderView(edited);
});

export const deleteFolder = endpoint({
  method: 'DELETE',
  path: '/manage/watched-folders/:id',
  access: 'owner',
  operationId: 'unwatchFolder',
  tag: 'Watched folders',
  summary: 'Delete a watched folder',
  description: 'Ends its checks and its undelivered events.',
  params: itemParameter,
  answer: { schema: successAnswer, example: { success: true } },
  errors: FOLDER_ERRORS,
}).handle(async (input, services: ManageServices) => {
  const folder = await folderAt(services, input);
  await services.watching.remove(folder.accountId, folder.id);
  await note(services, input, 'delete', folder);
  return { success: true };
});

export const pauseFolder = endpoint({
  method: 'POST',
  path: '/manage/watched-folders/:id/pause',
  access: 'owner',
  operationId: 'pauseFolder',
  tag: 'Watched folders',
  summary: 'Pause the checks',
  description: 'What comes meanwhile is reported after `resume`.',
  params: itemParameter,
  answer: { ...shownAnswer, example: { ...sample, isActive: false } },
  errors: FOLDER_ERRORS,
}).handle((input, services: ManageServices) => switched(services, input, 'pause'));

export const resumeFolder = endpoint({
  method: 'POST',
  path: '/manage/watched-folders/:id/resume',
  access: 'owner',
  operationId: 'resumeFolder',
  tag: 'Watched folders',
  summary: 'Resume the checks',
  description: 'The next one is due at once.',
  params: itemParameter,
  answer: shownAnswer,
  errors: FOLDER_ERRORS,
}).handle((input, services: ManageServices) => switched(services, input, 'resume'));

async function switched(
  services: ManageServices,
  input: AtItem,
  verb: 'pause' | 'resume',
): Promise<Static<typeof managedFolder>> {
  const folder = await folderAt(services, input);
  await services.watching[verb](folder.accountId, folder.id);
  await note(services, input, verb, folder);
  return folderView(await folderAt(services, input));
}
