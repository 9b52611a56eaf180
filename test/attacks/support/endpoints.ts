/**
 * Every endpoint of the program with the schemas of its input: from the OpenAPI document, and from the management API.
 */
import { apiRoutes } from '../../../src/api/endpoints.js';
import type { Services } from '../../../src/api/services.js';
import { parametersOf } from '../../../src/api/openapi/document.js';
import type { OpenApiDocument, Schema } from '../../../src/api/openapi/types.js';

export interface Endpoint {
  readonly method: string;
  /** With `{name}` for each path parameter. */
  readonly path: string;
  /** Whether the OpenAPI document describes its answers. */
  readonly isDocumented: boolean;
  readonly query: Readonly<Record<string, Schema>>;
  readonly requiredQuery: readonly string[];
  readonly headers: readonly string[];
  /** By media type. */
  readonly bodies: Readonly<Record<string, Schema>>;
}

/** The schemas contain no references any more. */
export function documentedEndpoints(document: OpenApiDocument): Endpoint[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): Endpoint => {
      const { requestBody } = operation;
      const parameters = parametersOf(document, operation);
      const queries = parameters.filter((parameter) => parameter.in === 'query');
      return {
        method: method.toUpperCase(),
        path,
        isDocumented: true,
        query: Object.fromEntries(queries.map(({ name, schema }) => [name, resolved(schema, document)])),
        requiredQuery: queries.filter(({ required }) => required === true).map(({ name }) => name),
        headers: parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name),
        bodies: Object.fromEntries(
          Object.entries(requestBody?.content ?? {}).map(([type, { schema = {} }]) => [
            type,
            resolved(schema, document),
          ]),
        ),
      };
    }),
  );
}

export function managementEndpoints(): Endpoint[] {
  const none: Endpoint['bodies'] = {};
  // Only handlers use the services, and they are not called here.
  const rows = apiRoutes({} as Services).filter(({ path }) => path.startsWith('/manage/'));
  return rows.map(({ method, path, query, json }): Endpoint => {
    const { properties = {}, required = [] } = (query ?? {}) as {
      readonly properties?: Readonly<Record<string, Schema>>;
      readonly required?: readonly string[];
    };
    return {
      method,
      path: path.replace(/:(\w+)/g, '{$1}'),
      isDocumented: false,
      query: properties,
      requiredQuery: required,
      headers: [],
      bodies: json === undefined ? none : { 'application/json': json as Schema },
    };
  });
}

function resolved(schema: Schema, document: OpenApiDocument): Schema {
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const found = document.components.schemas[reference.slice('#/components/schemas/'.length)];
    if (found === undefined) throw new Error(`the document lacks ${reference}`);
    return resolved(found, document);
  }
  return mapped(schema, document) as Schema;
}

function mapped(value: unknown, document: OpenApiDocument): unknown {
  if (Array.isArray(value)) return value.map((item) => mapped(item, document));
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) return resolved(value, document);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapped(inner, document)]));
}
