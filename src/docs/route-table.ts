/** The route table without a gateway, for reading only: only handlers use the services, and none is called. */
import { apiRoutes, systemRoutes } from '../api/endpoints.js';
import type { DescribedRoute } from '../api/endpoint.js';
import { withReference } from '../api/openapi/routes.js';
import type { Services } from '../api/services.js';

export function describedRoutes(): DescribedRoute[] {
  const system = systemRoutes({
    storage: { ready: async () => undefined },
    metrics: { contentType: 'text/plain', text: async () => '' },
    metricsToken: '',
    isDraining: () => false,
    onReadyAsked: () => undefined,
  });
  const routes = [...apiRoutes({} as Services), ...system];
  return withReference(routes, { publicUrl: '' }, () => () => ({ status: 404 }));
}
