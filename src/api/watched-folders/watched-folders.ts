/** Watched folders: for keys within their connections, for owners with the state of their checks. */
import { type Static, Type } from 'typebox';
import type { Caller } from '../../base/caller.js';
import { refusal } from '../../base/errors.js';
import { flag, listOf, object, text } from '../../contract/schema.js';
import { connectionId, remotePath } from '../../contract/file-request.js';
import { type copyToSchema, watchedFolderFields } from '../../contract/watched-folder.js';
import { newFields, type Reader } from '../../contract/thing.js';
import { referTo } from '../../operations/path-reference.js';
import { folderSettings, type WatchRights } from '../../watch/settings.js';
import { endpoints } from '../endpoint.js';
import { successAnswer } from '../fields.js';
import { connectionOf, type Services } from '../services.js';
import {
  example,
  FOLDER_ERRORS,
  folderAt,
  folderView,
  maySee,
  note,
  ownersExample,
  ownersFolder,
  watchedFolder,
} from './folder.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/**
 * Checks whether the account and its connections allow a copy to there. Scopes are checked elsewhere. @throws
 * GatewayError plan_required, unknown_connection, forbidden
 */
async function checkCopyTo(
  services: Services,
  caller: Caller,
  copyTo: Static<typeof copyToSchema> | null | undefined,
): Promise<void> {
  if (copyTo === null || copyTo === undefined) return;
  if (services.operations.planOf(caller).connections === 1) {
    const text = `copyTo needs a plan with more than one connection; this account has ${caller.plan}`;
    throw refusal('plan_required', text);
  }
  await connectionOf(services, caller, copyTo.connectionId);
}

function rightsOf({ scopes }: Caller, reader: Reader): WatchRights {
  if (reader === 'owner') return 'copy_too';
  if (!scopes.includes('write')) return 'watch';
  return scopes.includes('read') ? 'copy_too' : 'move_and_delete';
}

const created = (name: string, { properties }: typeof watchedFolder) =>
  object(name, { ...properties, webhookSecret: text('Signs its webhooks (Standard Webhooks); shown only once.') });

const endpoint = endpoints('Watched folders', { id: text('Identifier.', { minLength: 1, examples: [example.id] }) });
export const watchedFolderEndpoints = endpoint.all;

endpoint('GET /api/watched-folders', {
  access: 'watch',
  operationId: 'listWatchedFolders',
  summary: 'List watched folders',
  description: 'The watched folders of the connections that this API key may use.',
  answer: {
    description: 'The watched folders.',
    schema: object('WatchedFoldersAnswer', {
      watchedFolders: listOf(watchedFolder, 'The watched folders of the account.'),
    }),
    example: { watchedFolders: [example] },
  },
  owner: {
    operationId: 'listManagedFolders',
    description: 'With the state of their checks.',
    answer: {
      schema: object('ManagedWatchedFoldersAnswer', { watchedFolders: listOf(ownersFolder, 'The watched folders.') }),
      example: { watchedFolders: [ownersExample] },
    },
  },
}).handle(async ({ caller }, { watching }, reader) => {
  const folders = await watching.list(caller.accountId);
  const usable = folders.filter((folder) => maySee(caller, folder));
  return { watchedFolders: usable.map((folder) => folderView(folder, reader)) };
});

endpoint('POST /api/watched-folders', {
  access: 'watch',
  operationId: 'createWatchedFolder',
  summary: 'Watch a folder',
  description:
    'Has a folder checked at an interval. The files of the first check are the baseline; later ones are reported to `webhookUrl`, signed with `webhookSecret`, which is shown only once. With `copyTo` each file is first copied to another connection, and the event says where the copy is. `afterDelivery` other than `keep` needs the scope `write`, too, and `copyTo` the scopes `read` and `write`.',
  body: object('NewWatchedFolder', {
    connectionId: connectionId(),
    path: remotePath('Folder to watch.'),
    ...newFields(watchedFolderFields),
  }),
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
    schema: created('CreatedWatchedFolder', watchedFolder),
    example: { ...example, webhookSecret: SECRET },
  },
  isRemote: true,
  errors: ['not_found', 'plan_required'],
  owner: {
    operationId: 'watchFolder',
    description: 'As `POST /api/watched-folders`, with `source` manual.',
    bodyExamples: { body: { connectionId: 'warehouse', path: '/incoming', filePattern: '*.csv' } },
    answer: {
      status: 201,
      description: 'The folder is watched.',
      schema: created('CreatedManagedWatchedFolder', ownersFolder),
      example: { ...ownersExample, webhookSecret: SECRET },
    },
  },
}).handle(async (input, services, reader) => {
  const { connectionId, path, ...settings } = input.body;
  const connection = await connectionOf(services, input.caller, connectionId);
  await checkCopyTo(services, input.caller, settings.copyTo);
  const locate = referTo(connection, path, 'path');
  const { folder, webhookSecret } = await services.watching.create(connection, locate, settings, {
    source: reader === 'owner' ? 'manual' : 'api',
    rights: rightsOf(input.caller, reader),
    signal: input.request.signal,
  });
  if (reader === 'owner') await note(services, input, 'watched_folder.create', folder);
  return { ...folderView(folder, reader), webhookSecret };
});

endpoint('GET /api/watched-folders/:id', {
  access: 'watch',
  operationId: 'getWatchedFolder',
  summary: 'Show a watched folder',
  description: 'One of the connections that this API key may use.',
  answer: { description: 'As it is now.', schema: watchedFolder, example },
  errors: FOLDER_ERRORS,
  owner: {
    operationId: 'showFolder',
    description: 'With the state of its checks.',
    answer: { schema: ownersFolder, example: ownersExample },
  },
}).handle(async (input, services, reader) => folderView(await folderAt(services, input), reader));

const changes = { filePattern: '*.xml', scheduleMinutes: 15 };

endpoint('PATCH /api/watched-folders/:id', {
  access: 'watch',
  operationId: 'changeWatchedFolder',
  summary: 'Change a watched folder',
  description:
    'Fields that are absent stay; the connection cannot change. Another `path` is another folder: what was known is forgotten, and the next check takes the baseline. Other names (`filePattern`, `excludePattern`, `doneFile`, `recursive`) keep what is known; what only they let in, and is there at the next check, is baseline. A folder whose `afterDelivery` is not `keep` needs the scope `write`, too, and one with `copyTo` the scopes `read` and `write`.',
  body: object('WatchedFolderChanges', {
    path: Type.Optional(remotePath('Folder to watch.')),
    ...folderSettings.properties,
    isActive: Type.Optional(flag('Whether it is switched on.')),
  }),
  bodyExamples: { pattern: changes },
  answer: {
    description: 'The folder as it is from now on.',
    schema: watchedFolder,
    example: { ...example, ...changes },
  },
  isRemote: true,
  errors: [...FOLDER_ERRORS, 'not_found', 'plan_required'],
  owner: {
    operationId: 'changeFolder',
    description: 'As `PATCH /api/watched-folders/{id}`.',
    bodyExamples: { body: changes },
    answer: { schema: ownersFolder, example: { ...ownersExample, ...changes } },
  },
}).handle(async (input, services, reader) => {
  const { caller, body, request } = input;
  const folder = await folderAt(services, input);
  const { path, ...settings } = body;
  const connection = path === undefined ? undefined : await connectionOf(services, caller, folder.connectionId);
  await checkCopyTo(services, caller, settings.copyTo);
  const located = path === undefined || connection === undefined ? {} : { locate: referTo(connection, path, 'path') };
  const edited = await services.watching.edit(
    folder.accountId,
    folder.id,
    { ...settings, ...located },
    { rights: rightsOf(caller, reader), signal: request.signal },
  );
  if (reader === 'owner')
    await note(services, input, 'watched_folder.edit', edited, { fields: Object.keys(body).join(', ') });
  return folderView(edited, reader);
});

endpoint('DELETE /api/watched-folders/:id', {
  access: 'watch',
  operationId: 'deleteWatchedFolder',
  summary: 'Delete a watched folder',
  description: 'Ends the checks of a folder and its undelivered events.',
  answer: { description: 'The folder is no longer watched.', schema: successAnswer, example: { success: true } },
  errors: FOLDER_ERRORS,
  owner: {
    operationId: 'unwatchFolder',
    description: 'Ends its checks and its undelivered events.',
    answer: { schema: successAnswer, example: { success: true } },
  },
}).handle(async (input, services, reader) => {
  const folder = await folderAt(services, input);
  await services.watching.remove(folder.accountId, folder.id);
  if (reader === 'owner') await note(services, input, 'watched_folder.delete', folder);
  return { success: true as const };
});

const SWITCHES = {
  pause: ['Pause the checks', 'What comes meanwhile is reported after `resume`.', false],
  resume: ['Resume the checks', 'The next one is due at once.', true],
} as const;

for (const verb of ['pause', 'resume'] as const) {
  const [summary, description, isActive] = SWITCHES[verb];
  endpoint(`POST /manage/watched-folders/:id/${verb}`, {
    operationId: `${verb}Folder`,
    summary,
    description,
    answer: { schema: ownersFolder, example: { ...ownersExample, isActive } },
    errors: FOLDER_ERRORS,
  }).handle(async (input, services, reader) => {
    const folder = await folderAt(services, input);
    await services.watching[verb](folder.accountId, folder.id);
    await note(services, input, `watched_folder.${verb}`, folder);
    return folderView(await folderAt(services, input), reader);
  });
}

const secret = { schema: object('SecretAnswer', { secret: text('The secret.') }), example: { secret: SECRET } };

endpoint('GET /manage/watched-folders/:id/secret', {
  operationId: 'showSecret',
  summary: 'Show the webhook secret',
  description: 'What the receiver verifies signatures with. The audit log notes each look at it.',
  answer: secret,
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  const folder = await folderAt(services, input);
  const secret = await services.watching.secret(folder.accountId, folder.id);
  await note(services, input, 'watched_folder.show_secret', folder);
  return { secret };
});

endpoint('POST /manage/watched-folders/:id/secret/rotate', {
  operationId: 'rotateSecret',
  summary: 'Replace the webhook secret',
  description: 'The former one signs along for 24 hours.',
  answer: secret,
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  const folder = await folderAt(services, input);
  const secret = await services.watching.rotateSecret(folder.accountId, folder.id);
  await note(services, input, 'watched_folder.rotate_secret', folder);
  return { secret };
});
