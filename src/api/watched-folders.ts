/** Watched folders (interface 4.17 to 4.19). */
import { GatewayError } from '../base/errors.js';
import { json } from '../http/answer.js';
import type { Caller, HttpAnswer, RequestContext } from '../http/types.js';
import type { WatchedFolder } from '../storage/tables/watches.js';
import { referTo } from '../operations/operation.js';
import type { FolderChanges, NewWatchedFolder, WatchRights } from '../watch/service.js';
import { connectionOf, type ApiServices } from './services.js';

export async function listWatchedFolders({ watching }: ApiServices, { caller }: RequestContext): Promise<HttpAnswer> {
  const folders = await watching.list(caller.accountId);
  return json(200, { watchedFolders: folders.filter((folder) => mayUse(caller, folder)).map(watchedFolder) });
}

export async function createWatchedFolder(services: ApiServices, context: RequestContext): Promise<HttpAnswer> {
  const { connectionId, path, ...input } = context.json as NewWatchedFolder & {
    readonly connectionId: string;
    readonly path: string;
  };
  const connection = await connectionOf(services, context.caller, connectionId);
  const locate = referTo(connection, path, 'path');
  const { folder, webhookSecret } = await services.watching.create(connection, locate, input, {
    source: 'api',
    rights: rightsOf(context.caller),
    signal: context.request.signal,
  });
  return json(201, { ...watchedFolder(folder), webhookSecret });
}

export async function editWatchedFolder(services: ApiServices, context: RequestContext): Promise<HttpAnswer> {
  const folder = await folderOf(services, context);
  const { path, ...changes } = context.json as FolderChanges & { readonly path?: string };
  const connection = await connectionOf(services, context.caller, folder.connectionId);
  const edited = await services.watching.edit(
    folder.accountId,
    folder.id,
    path === undefined ? changes : { ...changes, locate: referTo(connection, path, 'path') },
    { rights: rightsOf(context.caller), signal: context.request.signal },
  );
  return json(200, watchedFolder(edited));
}

export async function deleteWatchedFolder(services: ApiServices, context: RequestContext): Promise<HttpAnswer> {
  const folder = await folderOf(services, context);
  await services.watching.remove(folder.accountId, folder.id);
  return json(200, { success: true });
}

/** @throws GatewayError unknown_watched_folder, also for one of a connection that the key is not for */
async function folderOf({ watching }: ApiServices, { caller, params }: RequestContext): Promise<WatchedFolder> {
  const folder = await watching.get(caller.accountId, params['id'] ?? '');
  if (mayUse(caller, folder)) return folder;
  throw new GatewayError('unknown_watched_folder', `there is no watched folder ${folder.id}`, { step: 'request' });
}

function rightsOf({ scopes }: Caller): WatchRights {
  return scopes.includes('write') ? 'move_and_delete' : 'look';
}

function mayUse(caller: Caller, { connectionId }: WatchedFolder): boolean {
  return caller.connections.length === 0 || caller.connections.includes(connectionId);
}

/** WatchedFolder as the API shows it (interface 2.5); options beyond it show where they are used. */
function watchedFolder(folder: WatchedFolder): Record<string, unknown> {
  const { excludePattern, doneFile, initial, recursive, minAgeSeconds, afterDelivery, moveTo, expectEveryMinutes } =
    folder;
  return {
    id: folder.id,
    connectionId: folder.connectionId,
    name: folder.name,
    path: folder.path,
    filePattern: folder.filePattern,
    scheduleMinutes: folder.scheduleMinutes,
    webhookUrl: folder.webhookUrl,
    source: folder.source,
    detectModified: folder.detectModified,
    isActive: folder.isActive,
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
