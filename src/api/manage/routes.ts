/** The table of the management endpoints. */
import type { Route } from '../../http/types.js';
import { endpoints } from './endpoints.js';
import type { ManageServices } from './services.js';
import { watchRoutes } from './watch-routes.js';

export function manageRoutes(services: ManageServices): Route[] {
  return [...endpoints.map((one) => one.route(services)), ...watchRoutes(services)];
}
