/** The route table in the form of the document. */
import type { Route } from '../../../src/http/types.js';
import { buildDocument } from '../../../src/api/openapi/document.js';
import { FILE_API, MANAGEMENT_API } from '../../../src/api/openapi/apis.js';
import type { Api, OpenApiDocument } from '../../../src/api/openapi/types.js';
import { describedRoutes } from '../../../src/docs/route-table.js';

export interface DocumentedApi {
  /** The rows that its document must contain. */
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
  const routes = describedRoutes();
  // The document as the gateway sends it.
  const document = JSON.parse(JSON.stringify(buildDocument(api, routes, { publicUrl }))) as OpenApiDocument;
  return { table: routes.filter(isOwn), document };
}

/** Every code in the document, in its order. */
export function codesOf({ components }: OpenApiDocument): string[] {
  const { oneOf = [] } = components.schemas['ErrorCode'] ?? {};
  return (oneOf as readonly { readonly const: string }[]).map((one) => one.const);
}
