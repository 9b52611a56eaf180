/** The route table without a gateway behind it, to be looked at: handlers alone use the services, and nobody calls them. */
import { apiRoutes, systemRoutes } from '../api/endpoints.js';
import type { DescribedRoute } from '../api/endpoint.js';
import { manageRoutes } from '../api/manage/management.js';
import type { ManageServices } from '../api/manage/services.js';
import { withReference } from '../api/openapi/routes.js';
import type { ApiServices } from '../api/services.js';

export function describedRoutes(): DescribedRoute[] {
  const system = systemRoutes({
    storage: { ready: async () => undefined },
    metrics: { contentType: 'text/plain', text: async () => '' },
    metricsToken: '',
    isDraining: () => false,
    onReadyAsked: () => undefined,
  });
  const routes = [...apiRoutes({} as ApiServices), ...system, ...manageRoutes({} as ManageServices)];
  return withReference(routes, { publicUrl: '' }, () => () => ({ status: 404 }));
}
