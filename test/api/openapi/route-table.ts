/** The route table without a gateway behind it: the rows alone are looked at. */
import { apiRoutes, systemRoutes } from '../../../src/api/endpoints.js';
import type { ApiServices } from '../../../src/api/services.js';
import type { DescribedRoute } from '../../../src/api/endpoint.js';
import type { Route } from '../../../src/http/types.js';
import { manageRoutes } from '../../../src/api/manage/management.js';
import type { ManageServices } from '../../../src/api/manage/services.js';
import { buildDocument } from '../../../src/api/openapi/document.js';
import { FILE_API, MANAGEMENT_API } from '../../../src/api/openapi/apis.js';
import { withReference } from '../../../src/api/openapi/routes.js';
import type { Api, OpenApiDocument } from '../../../src/api/openapi/types.js';

export interface DocumentedApi {
  /** The rows that its document must show. */
  readonly table: readonly Route[];
  readonly document: OpenApiDocument;
}

export function fileApi(publicUrl = ''): DocumentedApi {
  return documented(FILE_API, publicUrl, ({ path }) => !path.startsWith('/manage/'));
}

export function managementApi(): DocumentedApi {
  return documented(MANAGEMENT_API, '', ({ path }) => path.startsWith('/manage/'));
}

function documented(api: Api, publicUrl: string, isOwn: (route: Route) => boolean): DocumentedApi {
  const routes = routeTable();
  // As it leaves the gateway.
  const document = JSON.parse(JSON.stringify(buildDocument(api, routes, { publicUrl }))) as OpenApiDocument;
  return { table: routes.filter(isOwn), document };
}

function routeTable(): DescribedRoute[] {
  const system = systemRoutes({
    storage: { ready: async () => undefined },
    metrics: { contentType: 'text/plain', text: async () => '' },
    metricsToken: '',
    isDraining: () => false,
    onReadyAsked: () => undefined,
  });
  // Handlers alone use the services, and nobody calls them here.
  const routes = [...apiRoutes({} as ApiServices), ...system, ...manageRoutes({} as ManageServices)];
  return withReference(routes, { publicUrl: '' });
}

/** Every code that the document knows, in its order. */
export function codesOf({ components }: OpenApiDocument): string[] {
  const { oneOf = [] } = components.schemas['ErrorCode'] ?? {};
  return (oneOf as readonly { readonly const: string }[]).map((one) => one.const);
}
