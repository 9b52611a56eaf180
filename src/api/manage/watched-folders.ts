/** Watched folders and what is delivered from them, by the same service that the public API and the scheduler use. */
import { json } from '../../http/answer.js';
import type { HttpAnswer, RequestContext } from '../../http/types.js';
import type { CheckRow, EventState, WatchedFolder, WebhookEvent } from '../../storage/storage.js';
import { referTo } from '../../operations/operation.js';
import type { FolderChanges } from '../../watch/service.js';
import type { FolderSettings } from '../../watch/settings.js';
import { actorOf, type ManageServices, openedConnection } from './services.js';

export async function listFolders({ watching }: ManageServices, { caller }: RequestContext): Promise<HttpAnswer> {
  return json(200, { watchedFolders: (await watching.list(caller.accountId)).map(folderView) });
}

export async function createFolder(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { connectionId, path, ...input } = context.json as FolderSettings & {
    readonly connectionId: string;
    readonly path: string;
  };
  const connection = await openedConnection(services, context.caller, connectionId);
  const locate = referTo(connection, path, 'path');
  const { folder, webhookSecret } = await services.watching.create(connection, locate, input, {
    source: 'manual',
    rights: 'move_and_delete',
    signal: context.request.signal,
  });
  await note(services, context, 'create', folder);
  return json(201, { ...folderView(folder), webhookSecret });
}

export async function editFolder(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const folder = await folderOf(services, context);
  const { path, ...changes } = context.json as FolderChanges & { readonly path?: string };
  const locate = async () =>
    path === undefined
      ? {}
      : { locate: referTo(await openedConnection(services, context.caller, folder.connectionId), path, 'path') };
  const edited = await services.watching.edit(
    folder.accountId,
    folder.id,
    { ...changes, ...(await locate()) },
    { rights: 'move_and_delete', signal: context.request.signal },
  );
  await note(services, context, 'edit', edited, { fields: Object.keys(context.json as object).join(', ') });
  return json(200, folderView(edited));
}

export async function showFolder(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  return json(200, folderView(await folderOf(services, context)));
}

export async function deleteFolder(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const folder = await folderOf(services, context);
  await services.watching.remove(folder.accountId, folder.id);
  await note(services, context, 'delete', folder);
  return json(200, { success: true });
}

export function switchFolder(verb: 'pause' | 'resume') {
  return async (services: ManageServices, context: RequestContext): Promise<HttpAnswer> => {
    const folder = await folderOf(services, context);
    await services.watching[verb](folder.accountId, folder.id);
    await note(services, context, verb, folder);
    return json(200, folderView(await folderOf(services, context)));
  };
}

export async function checkFolder(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { accountId, id } = await folderOf(services, context);
  return json(202, await services.watching.checkNow(accountId, id));
}

export async function dryRunFolder(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { accountId, id } = await folderOf(services, context);
  const { counts, files } = await services.watching.dryRun(accountId, id, context.request.signal);
  return json(200, { counts, files: files.map(withDate) });
}

export async function listFiles(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { accountId, id } = await folderOf(services, context);
  const { after, limit } = context.query as { readonly after?: string; readonly limit: number };
  const wanted = { limit, ...(after === undefined ? {} : { after }) };
  const { files, total } = await services.watching.knownFiles(accountId, id, wanted);
  return json(200, { files: files.map(withDate), total });
}

export async function forgetFiles(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const folder = await folderOf(services, context);
  const { path } = context.json as { readonly path?: string };
  const result = await services.watching.forget(folder.accountId, folder.id, path);
  await note(services, context, 'forget', folder, { path: path ?? null, ...result });
  return json(200, result);
}

export async function listChecks(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { accountId, id } = await folderOf(services, context);
  const checks: readonly CheckRow[] = await services.watching.checks(accountId, id);
  return json(200, { checks });
}

export async function showCheck(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { accountId, id } = await folderOf(services, context);
  return json(200, { entries: await services.watching.reasons(accountId, id, context.params['checkId'] ?? '') });
}

export async function showSecret(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const folder = await folderOf(services, context);
  const secret = await services.watching.secret(folder.accountId, folder.id);
  await note(services, context, 'show_secret', folder);
  return json(200, { secret });
}

export async function rotateSecret(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const folder = await folderOf(services, context);
  const secret = await services.watching.rotateSecret(folder.accountId, folder.id);
  await note(services, context, 'rotate_secret', folder);
  return json(200, { secret });
}

export async function sendTestEvent(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { accountId, id } = await folderOf(services, context);
  return json(202, await services.watching.sendTest(accountId, id));
}

export async function listDeliveries({ watching }: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { watchedFolderId, state, limit, offset } = context.query as {
    readonly watchedFolderId?: string;
    readonly state?: EventState;
    readonly limit: number;
    readonly offset: number;
  };
  // An id that is not this account's must look like one that never was.
  const folder =
    watchedFolderId === undefined ? undefined : await watching.get(context.caller.accountId, watchedFolderId);
  const events = await watching.deliveries(context.caller.accountId, {
    limit,
    offset,
    ...(folder === undefined ? {} : { folderId: folder.id }),
    ...(state === undefined ? {} : { state }),
  });
  return json(200, { deliveries: events.map(deliveryView), limit, offset });
}

export async function listAttempts({ watching }: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  return json(200, { attempts: await watching.attempts(context.caller.accountId, context.params['id'] ?? '') });
}

export async function replayDelivery(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const id = context.params['id'] ?? '';
  const result = await services.watching.replay(context.caller.accountId, id);
  const target = { kind: 'delivery', id, name: '' };
  await services.storage.management.audit.add(actorOf(context), { action: 'delivery.replay', target });
  return json(202, result);
}

/** @throws GatewayError unknown_watched_folder, also for another account's */
function folderOf({ watching }: ManageServices, { caller, params }: RequestContext): Promise<WatchedFolder> {
  return watching.get(caller.accountId, params['id'] ?? '');
}

async function note(
  { storage }: ManageServices,
  context: RequestContext,
  verb: string,
  { id, name }: WatchedFolder,
  details: Readonly<Record<string, string | number | null>> = {},
): Promise<void> {
  const target = { kind: 'watched_folder', id, name };
  await storage.management.audit.add(actorOf(context), { action: `watched_folder.${verb}`, target, details });
}

/** Everything but what is the gateway's own business. */
function folderView(folder: WatchedFolder): object {
  const { accountId: _account, timeResolutionMs: _resolution, formerNames: _names, ...view } = folder;
  return view;
}

/** The body is what the receiver was sent; it may be long and is not asked for in a list. */
function deliveryView(event: WebhookEvent): object {
  const { accountId: _account, body: _body, files: _files, readAt: _readAt, folderId, ...view } = event;
  return { ...view, watchedFolderId: folderId };
}

function withDate<T extends { readonly modifiedMs: number }>({ modifiedMs, ...file }: T): object {
  return { ...file, modifiedAt: new Date(modifiedMs) };
}
