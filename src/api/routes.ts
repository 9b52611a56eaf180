/** The table of all endpoints. Start reading here: a row names its handler, and the handler its operation. */
import type { HttpAnswer, RequestContext, Route } from '../http/types.js';
import { listConnections, listTransfers } from './account.js';
import { download } from './download.js';
import { append, copy, exec, list, move, read, remove, write } from './files.js';
import { endpoints } from './endpoints.js';
import { repetitionOf } from './repetition.js';
import * as schemas from './schemas.js';
import type { ApiServices } from './services.js';
import { upload } from './upload.js';
import { createWatchedFolder, deleteWatchedFolder, editWatchedFolder, listWatchedFolders } from './watched-folders.js';

type Handler = (services: ApiServices, context: RequestContext) => Promise<HttpAnswer>;

export function apiRoutes(services: ApiServices): Route[] {
  const route = (row: Omit<Route, 'handle'>, handler: Handler): Route => ({
    ...row,
    ...(row.idempotent === true
      ? repetitionOf(services, ({ params, json }) => {
          const named = json as Readonly<Record<string, string>> | undefined;
          const ids = [params['connectionId'], named?.['source_connection_id'], named?.['dest_connection_id']];
          const from = named?.['from'];
          return { connections: ids.filter((id) => id !== undefined), ...(from === undefined ? {} : { from }) };
        })
      : {}),
    handle: (context) => handler(services, context),
  });
  return [
    ...endpoints.map((one) => ({
      ...one.route(services),
      ...(one.repeats === undefined ? {} : repetitionOf(services, one.repeats)),
    })),
    route(
      {
        method: 'POST',
        path: '/api/upload/:connectionId',
        access: 'write',
        body: 'stream',
        query: schemas.uploadQuery,
        idempotent: true,
        skippable: true,
      },
      upload,
    ),
    route(
      {
        method: 'GET',
        path: '/api/download/:connectionId',
        access: 'read',
        body: 'none',
        query: schemas.downloadQuery,
        head: true,
      },
      download,
    ),
    route(
      {
        method: 'POST',
        path: '/api/copy',
        access: 'write',
        body: 'json',
        json: schemas.copyBody,
        idempotent: true,
        skippable: true,
      },
      copy,
    ),
    route(
      { method: 'GET', path: '/api/read/:connectionId', access: 'read', body: 'none', query: schemas.readQuery },
      read,
    ),
    route(
      { method: 'POST', path: '/api/write/:connectionId', access: 'write', body: 'stream', idempotent: true },
      write,
    ),
    route(
      {
        method: 'POST',
        path: '/api/delete/:connectionId',
        access: 'write',
        body: 'json',
        json: schemas.deleteBody,
        idempotent: true,
      },
      remove,
    ),
    route(
      {
        method: 'POST',
        path: '/api/move/:connectionId',
        access: 'write',
        body: 'json',
        json: schemas.moveBody,
        idempotent: true,
      },
      move,
    ),
    route(
      { method: 'GET', path: '/api/list/:connectionId', access: 'read', body: 'none', query: schemas.listQuery },
      list,
    ),
    route(
      { method: 'POST', path: '/api/exec/:connectionId', access: 'exec', body: 'json', json: schemas.execBody },
      exec,
    ),
    route(
      { method: 'POST', path: '/api/append/:connectionId', access: 'write', body: 'stream', idempotent: true },
      append,
    ),
    route({ method: 'GET', path: '/api/connections', access: 'any', body: 'none', isEssential: true }, listConnections),
    route(
      {
        method: 'GET',
        path: '/api/transfers',
        access: 'any',
        body: 'none',
        query: schemas.transfersQuery,
        isEssential: true,
      },
      listTransfers,
    ),
    route({ method: 'GET', path: '/api/watched-folders', access: 'watch', body: 'none' }, listWatchedFolders),
    route(
      {
        method: 'POST',
        path: '/api/watched-folders',
        access: 'watch',
        body: 'json',
        json: schemas.watchedFolderBody,
      },
      createWatchedFolder,
    ),
    route(
      {
        method: 'PATCH',
        path: '/api/watched-folders/:id',
        access: 'watch',
        body: 'json',
        json: schemas.watchedFolderChanges,
      },
      editWatchedFolder,
    ),
    route({ method: 'DELETE', path: '/api/watched-folders/:id', access: 'watch', body: 'none' }, deleteWatchedFolder),
  ];
}
