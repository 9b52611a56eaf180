/** The watched folders of an account, by the same service that the API for programs uses, and their secrets. */
import type { Static } from 'typebox';
import { listOf, object, text } from '../../../contract/schema.js';
import { referTo } from '../../../operations/path-reference.js';
import { successAnswer } from '../../fields.js';
import { checkCopyTo, newWatchedFolder, watchedFolderChanges } from '../../watched-folders/watched-folders.js';
import { type AtItem, type ManageServices, openedConnection, ownerEndpoints } from '../services.js';
import {
  FOLDER_ERRORS,
  folderAt,
  folderView,
  managedFolder,
  managedFolderFields,
  note,
  sample,
  shownAnswer,
} from './folder.js';

const endpoint = ownerEndpoints('Watched folders');
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export const listFolders = endpoint('GET /manage/watched-folders', {
  operationId: 'listManagedFolders',
  summary: 'List watched folders',
  description: 'With the state of their checks.',
  answer: {
    schema: object('ManagedWatchedFoldersAnswer', {
      watchedFolders: listOf(managedFolder, 'The watched folders.'),
    }),
    example: { watchedFolders: [sample] },
  },
}).handle(async ({ caller }, { watching }) => {
  return { watchedFolders: (await watching.list(caller.accountId)).map(folderView) };
});

export const createFolder = endpoint('POST /manage/watched-folders', {
  operationId: 'watchFolder',
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
  errors: ['not_found', 'plan_required'],
}).handle(async (input, services) => {
  const { connectionId, path, ...settings } = input.body;
  const connection = await openedConnection(services, input.caller, connectionId);
  await checkCopyTo(services, input.caller, services.planOf(input.caller.plan), settings.copyTo);
  const locate = referTo(connection, path, 'path');
  const { folder, webhookSecret } = await services.watching.create(connection, locate, settings, {
    source: 'manual',
    rights: 'copy_too',
    signal: input.request.signal,
  });
  await note(services, input, 'create', folder);
  return { ...folderView(folder), webhookSecret };
});

export const showFolder = endpoint('GET /manage/watched-folders/:id', {
  operationId: 'showFolder',
  summary: 'Show a watched folder',
  description: 'With the state of its checks.',
  answer: shownAnswer,
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  return folderView(await folderAt(services, input));
});

export const editFolder = endpoint('PATCH /manage/watched-folders/:id', {
  operationId: 'changeFolder',
  summary: 'Change a watched folder',
  description: 'As `PATCH /api/watched-folders/{id}`.',
  body: watchedFolderChanges,
  bodyExamples: { body: { filePattern: '*.xml', scheduleMinutes: 15 } },
  answer: { schema: managedFolder, example: { ...sample, filePattern: '*.xml', scheduleMinutes: 15 } },
  isRemote: true,
  errors: [...FOLDER_ERRORS, 'not_found', 'plan_required'],
}).handle(async (input, services) => {
  const folder = await folderAt(services, input);
  const { path, ...changes } = input.body;
  await checkCopyTo(services, input.caller, services.planOf(input.caller.plan), changes.copyTo);
  const locate = async () =>
    path === undefined
      ? {}
      : { locate: referTo(await openedConnection(services, input.caller, folder.connectionId), path, 'path') };
  const edited = await services.watching.edit(
    folder.accountId,
    folder.id,
    { ...changes, ...(await locate()) },
    { rights: 'copy_too', signal: input.request.signal },
  );
  await note(services, input, 'edit', edited, { fields: Object.keys(input.body).join(', ') });
  return folderView(edited);
});

export const deleteFolder = endpoint('DELETE /manage/watched-folders/:id', {
  operationId: 'unwatchFolder',
  summary: 'Delete a watched folder',
  description: 'Ends its checks and its undelivered events.',
  answer: { schema: successAnswer, example: { success: true } },
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  const folder = await folderAt(services, input);
  await services.watching.remove(folder.accountId, folder.id);
  await note(services, input, 'delete', folder);
  return { success: true };
});

export const pauseFolder = endpoint('POST /manage/watched-folders/:id/pause', {
  operationId: 'pauseFolder',
  summary: 'Pause the checks',
  description: 'What comes meanwhile is reported after `resume`.',
  answer: { ...shownAnswer, example: { ...sample, isActive: false } },
  errors: FOLDER_ERRORS,
}).handle((input, services) => switched(services, input, 'pause'));

export const resumeFolder = endpoint('POST /manage/watched-folders/:id/resume', {
  operationId: 'resumeFolder',
  summary: 'Resume the checks',
  description: 'The next one is due at once.',
  answer: shownAnswer,
  errors: FOLDER_ERRORS,
}).handle((input, services) => switched(services, input, 'resume'));

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

const answer = { schema: object('SecretAnswer', { secret: text('The secret.') }), example: { secret: SECRET } };

export const showSecret = endpoint('GET /manage/watched-folders/:id/secret', {
  operationId: 'showSecret',
  summary: 'Show the webhook secret',
  description: 'What the receiver verifies signatures with. It stands in the audit log.',
  answer,
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  const folder = await folderAt(services, input);
  const secret = await services.watching.secret(folder.accountId, folder.id);
  await note(services, input, 'show_secret', folder);
  return { secret };
});

export const rotateSecret = endpoint('POST /manage/watched-folders/:id/secret/rotate', {
  operationId: 'rotateSecret',
  summary: 'Replace the webhook secret',
  description: 'The former one signs along for 24 hours.',
  answer,
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  const folder = await folderAt(services, input);
  const secret = await services.watching.rotateSecret(folder.accountId, folder.id);
  await note(services, input, 'rotate_secret', folder);
  return { secret };
});
