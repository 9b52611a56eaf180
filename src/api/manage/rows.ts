/** What all rows of the management tables have in common. */
import type { HttpAnswer, RequestContext, Route } from '../../http/types.js';
import type { ManageServices } from './services.js';

export type Handler = (services: ManageServices, context: RequestContext) => Promise<HttpAnswer>;

interface Rows {
  /** Without a login session. `get` is for one's own state, told quickly. */
  readonly open: (path: string, handler: Handler, json: object) => Route;
  readonly get: (path: string, handler: Handler, query?: object) => Route;
  readonly post: (path: string, handler: Handler, json?: object) => Route;
  readonly patch: (path: string, handler: Handler, json: object) => Route;
  readonly remove: (path: string, handler: Handler, query?: object) => Route;
}

/** Makers of rows below `/manage/`; the owner's but for `open`. */
export function rowsOf(services: ManageServices): Rows {
  const row = (
    method: Route['method'],
    path: string,
    handler: Handler,
    checked: Partial<Pick<Route, 'json' | 'query'>>,
  ): Route => ({
    method,
    path: `/manage/${path}`,
    access: 'owner',
    body: checked.json === undefined ? 'none' : 'json',
    ...checked,
    handle: (context) => handler(services, context),
  });
  return {
    open: (path, handler, json) => ({ ...row('POST', path, handler, { json }), access: 'public' }),
    get: (path, handler, query) => ({
      ...row('GET', path, handler, query === undefined ? {} : { query }),
      isEssential: true,
    }),
    post: (path, handler, json) => row('POST', path, handler, json === undefined ? {} : { json }),
    patch: (path, handler, json) => row('PATCH', path, handler, { json }),
    remove: (path, handler, query) => row('DELETE', path, handler, query === undefined ? {} : { query }),
  };
}
