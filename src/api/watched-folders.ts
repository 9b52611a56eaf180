/** Watched folders (interface 4.17 to 4.19). */
import { GatewayError } from '../errors.js';
import { json } from '../http/answer.js';
import type { Caller, HttpAnswer, RequestContext } from '../http/types.js';
import type { WatchedFolder } from '../storage/watches.js';
import { referTo } from '../transfers/operation.js';
import type { NewWatchedFolder } from '../watch/service.js';
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
  const folder = await services.watching.create(connection, locate, input, {
    source: 'api',
    rights: context.caller.scopes.includes('write') ? 'move_and_delete' : 'look',
    signal: context.request.signal,
  });
  return json(201, watchedFolder(folder));
}

export async function deleteWatchedFolder(
  { watching }: ApiServices,
  { caller, params }: RequestContext,
): Promise<HttpAnswer> {
  const id = params['id'] ?? '';
  const folder = await watching.get(caller.accountId, id);
  if (!mayUse(caller, folder)) {
    throw new GatewayError('unknown_watched_folder', `there is no watched folder ${folder.id}`, { step: 'request' });
  }
  await watching.remove(caller.accountId, folder.id);
  return json(200, { success: true });
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
