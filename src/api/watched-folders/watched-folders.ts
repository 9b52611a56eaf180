/** Watched folders as the API for programs shows and takes them, and who may use them. */
import { type Static, Type } from 'typebox';
import type { Caller } from '../../base/caller.js';
import { refusal } from '../../base/errors.js';
import { flag, listOf, object, text } from '../../contract/schema.js';
import { type copyToSchema, type WatchedFolder, watchedFolderFields } from '../../contract/watched-folder.js';
import { newFields, shownFields, viewOf } from '../../contract/thing.js';
import { referTo } from '../../operations/path-reference.js';
import { folderSettings, type WatchRights } from '../../watch/settings.js';
import { endpoint } from '../endpoint.js';
import { connectionId, remotePath, successAnswer } from '../fields.js';
import { type ApiServices, connectionOf } from '../services.js';

const watchedFolder = object('WatchedFolder', shownFields(watchedFolderFields, 'key'));

const watchedFolderParameter = {
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

const watchedFolderOf = (folder: WatchedFolder) => viewOf(watchedFolderFields, folder, 'key');

/**
 * A caller that may have files copied there, as far as only the account and its connections tell.
 * @throws GatewayError plan_required, unknown_connection, forbidden
 */
export async function checkCopyTo(
  services: Pick<ApiServices, 'storage'>,
  caller: Caller,
  plan: { readonly connections: number },
  copyTo: Static<typeof copyToSchema> | null | undefined,
): Promise<void> {
  if (copyTo === null || copyTo === undefined) return;
  if (plan.connections === 1) {
    const text = `copyTo needs a plan with more than one connection; this account has ${caller.plan}`;
    throw refusal('plan_required', text);
  }
  await connectionOf(services, caller, copyTo.connectionId);
}

/** @throws GatewayError unknown_watched_folder, also for one of a connection that the key is not for */
async function folderOf({ watching }: ApiServices, caller: Caller, id: string): Promise<WatchedFolder> {
  const folder = await watching.get(caller.accountId, id);
  if (mayUse(caller, folder)) return folder;
  throw refusal('unknown_watched_folder', `there is no watched folder ${folder.id}`);
}

function rightsOf({ scopes }: Caller): WatchRights {
  if (!scopes.includes('write')) return 'look';
  return scopes.includes('read') ? 'copy_too' : 'move_and_delete';
}

/** With what it copies to: who changes the one decides what comes to the other. */
function mayUse({ connections }: Caller, { connectionId, copyTo }: WatchedFolder): boolean {
  const named = [connectionId, ...(copyTo === null ? [] : [copyTo.connectionId])];
  return connections.length === 0 || named.every((id) => connections.includes(id));
}

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

export const getWatchedFolder = endpoint({
  method: 'GET',
  path: '/api/watched-folders/:id',
  access: 'watch',
  operationId: 'getWatchedFolder',
  tag: 'Watched folders',
  summary: 'Show a watched folder',
  description: 'One of the connections that this API key may use.',
  params: watchedFolderParameter,
  answer: { description: 'As it is now.', schema: watchedFolder, example: watchedFolderExample },
  errors: ['unknown_watched_folder'],
}).handle(async ({ caller, params }, services: ApiServices) =>
  watchedFolderOf(await folderOf(services, caller, params.id)),
);

export const newWatchedFolder = object('NewWatchedFolder', {
  connectionId: connectionId(),
  path: remotePath('Folder to watch.'),
  ...newFields(watchedFolderFields),
});

export const createWatchedFolder = endpoint({
  method: 'POST',
  path: '/api/watched-folders',
  access: 'watch',
  operationId: 'createWatchedFolder',
  tag: 'Watched folders',
  summary: 'Watch a folder',
  description:
    'Has a folder checked at an interval. What is there at the first check is the baseline; files that come later are sent to `webhookUrl`, signed with `webhookSecret`, which is shown this once. With `copyTo` each file is copied to another connection first, and the event tells where it is. `afterDelivery` other than `keep` needs the scope `write`, too, and `copyTo` the scopes `read` and `write`.',
  body: newWatchedFolder,
  bodyExamples: {
    csv: {
      connectionId: 'warehouse',
      path: '/incoming',
      webhookUrl: 'https://example.com/hooks/files',
      filePattern: '*.csv',
      scheduleMinutes: 5,
    },
    route: {
      connectionId: 'warehouse',
      path: '/outgoing',
      copyTo: {
        connectionId: 'lake',
        path: '/from-warehouse',
        filename_template: '{date}-{filename}',
        onConflict: 'rename',
      },
      afterDelivery: 'delete',
    },
  },
  answer: {
    status: 201,
    description: 'The folder is watched.',
    schema: object('CreatedWatchedFolder', {
      ...watchedFolder.properties,
      webhookSecret: text('Signs its webhooks (Standard Webhooks); shown this once.'),
    }),
    example: { ...watchedFolderExample, webhookSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  },
  isRemote: true,
  errors: ['not_found', 'plan_required'],
}).handle(async (input, services: ApiServices) => {
  const { connectionId, path, ...settings } = input.body;
  const connection = await connectionOf(services, input.caller, connectionId);
  await checkCopyTo(services, input.caller, services.operations.planOf(input.caller), settings.copyTo);
  const locate = referTo(connection, path, 'path');
  const { folder, webhookSecret } = await services.watching.create(connection, locate, settings, {
    source: 'api',
    rights: rightsOf(input.caller),
    signal: input.request.signal,
  });
  return { ...watchedFolderOf(folder), webhookSecret };
});

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
    'Fields that are absent stay; the connection cannot change. Another `path` is another folder: what was known is forgotten, and the next check takes the baseline. Other names (`filePattern`, `excludePattern`, `doneFile`, `recursive`) keep what is known; what only they let in, and is there at the next check, is baseline. A folder whose `afterDelivery` is not `keep` needs the scope `write`, too, and one with `copyTo` the scopes `read` and `write`.',
  params: watchedFolderParameter,
  body: watchedFolderChanges,
  bodyExamples: { pattern: { filePattern: '*.xml', scheduleMinutes: 15 } },
  answer: {
    description: 'The folder as it is from now on.',
    schema: watchedFolder,
    example: { ...watchedFolderExample, filePattern: '*.xml', scheduleMinutes: 15 },
  },
  isRemote: true,
  errors: ['unknown_watched_folder', 'not_found', 'plan_required'],
}).handle(async ({ caller, params, body, request }, services: ApiServices) => {
  const folder = await folderOf(services, caller, params.id);
  const { path, ...changes } = body;
  const connection = await connectionOf(services, caller, folder.connectionId);
  await checkCopyTo(services, caller, services.operations.planOf(caller), changes.copyTo);
  const edited = await services.watching.edit(
    folder.accountId,
    folder.id,
    path === undefined ? changes : { ...changes, locate: referTo(connection, path, 'path') },
    { rights: rightsOf(caller), signal: request.signal },
  );
  return watchedFolderOf(edited);
});

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
