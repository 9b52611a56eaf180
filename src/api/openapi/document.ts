/** The OpenAPI document of an API, made from the route table and the schemas that check requests. */
import type { Route } from '../../http/types.js';
import { errorCodeSchema, errorResponsesOf, headerReference, sharedErrorResponses } from './error-responses.js';
import { allErrorCodes, errorCodesOf, type ClientErrorCode } from './errors.js';
import { ANSWER_HEADERS, EVERY_ANSWER, KEYED_ANSWER, OPERATION_ANSWER, REQUEST_HEADERS } from './header-fields.js';
import type {
  Api,
  BodyForm,
  Description,
  Header,
  MediaType,
  OpenApiDocument,
  Operation,
  Parameter,
  PathItem,
  Reference,
  RequestBody,
  Response,
  Schema,
} from './types.js';

export interface DocumentOptions {
  /** Where clients reach the gateway; "" = where they got the document. */
  readonly publicUrl: string;
}

/** Rows of the other API have no description here and are left out. */
export function buildDocument(api: Api, routes: readonly Route[], options: DocumentOptions): OpenApiDocument {
  return new DocumentBuilder(api).build(routes, options);
}

class DocumentBuilder {
  private readonly names: ReadonlyMap<object, string>;
  /** Those of more than one operation. */
  private readonly parameters = new Map<string, Parameter>();

  constructor(private readonly api: Api) {
    this.names = new Map(Object.entries(api.components).map(([name, schema]) => [schema, name]));
  }

  build(routes: readonly Route[], { publicUrl }: DocumentOptions): OpenApiDocument {
    const { title, summary, introduction, tags, components, securitySchemes, webhooks } = this.api;
    const paths: Record<string, PathItem> = {};
    const given: ClientErrorCode[] = [];
    for (const route of routes) {
      const description = this.api.descriptions[`${route.method} ${route.path}`];
      if (description === undefined) continue;
      given.push(...errorCodesOf(route, description));
      const path = route.path.replace(/:(\w+)/g, '{$1}');
      const operation = this.operation(route, description);
      paths[path] = {
        ...paths[path],
        [route.method.toLowerCase()]: operation,
        ...(route.head === true ? { head: headOf(operation) } : {}),
      };
    }
    const codes = allErrorCodes(given);
    const named = Object.entries({ ...components, ErrorCode: errorCodeSchema(codes) });
    const schemas = Object.fromEntries(named.map(([name, schema]) => [name, this.shownWhole(schema, [name])] as const));
    const responses = sharedErrorResponses(
      codes.filter((code) => code !== 'method_not_allowed'),
      JSON.stringify(paths).includes('ConflictOrSkipped'),
      (schema) => this.shown(schema),
    );
    const used = JSON.stringify([paths, responses]);
    const isUsed = ([name]: readonly [string, unknown]): boolean => used.includes(`"#/components/headers/${name}"`);
    return {
      openapi: '3.1.1',
      info: {
        title,
        version: '1.0.0',
        summary,
        description: introduction,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: publicUrl === '' ? '/' : publicUrl.replace(/\/+$/, '') }],
      tags,
      paths,
      webhooks: webhooks((schema) => this.shown(schema)),
      components: {
        schemas,
        parameters: Object.fromEntries(this.parameters),
        responses,
        headers: Object.fromEntries(Object.entries(ANSWER_HEADERS).filter(isUsed)),
        securitySchemes,
      },
    };
  }

  private operation(route: Route, description: Description): Operation {
    const { operationId, tag, summary } = description;
    const body = this.requestBody(route, description);
    const codes = errorCodesOf(route, description);
    return {
      operationId,
      tags: [tag],
      summary,
      description: description.description,
      security: this.api.securityOf(route),
      parameters: [
        ...this.pathParameters(route).map((parameter) => this.shared(parameter)),
        ...this.queryParameters(route, description),
        ...headerParameters(route, description).map((parameter) => this.shared(parameter)),
      ],
      ...(body === undefined ? {} : { requestBody: body }),
      responses: {
        ...Object.fromEntries(
          Object.keys(description.success).map((status) => [status, this.success(route, description, status)]),
        ),
        ...errorResponsesOf(codes, route.skippable === true),
      },
      'x-error-codes': codes,
    };
  }

  /** Path and header parameters mean the same wherever they stand. */
  private shared(parameter: Parameter): Reference {
    this.parameters.set(parameter.name, parameter);
    return { $ref: `#/components/parameters/${parameter.name}` };
  }

  private pathParameters({ path }: Route): Parameter[] {
    return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
      name,
      in: 'path',
      required: true,
      description: this.api.notes[name] ?? '',
      schema: { type: 'string', minLength: 1 },
      example: this.api.examples[name],
    }));
  }

  private queryParameters({ query }: Route, { operationId, query: examples = {} }: Description): Parameter[] {
    const { properties = {}, required = [] } = (query ?? {}) as {
      readonly properties?: Readonly<Record<string, Schema>>;
      readonly required?: readonly string[];
    };
    return Object.entries(properties).map(([name, schema]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      description: this.api.notes[`${operationId}.${name}`] ?? this.api.notes[name] ?? '',
      schema,
      example: examples[name] ?? this.api.examples[name],
    }));
  }

  private requestBody(route: Route, { body, bodyExamples }: Description): RequestBody | undefined {
    if (route.json !== undefined) {
      return {
        required: true,
        content: { 'application/json': this.media({ schema: route.json, examples: bodyExamples }) },
      };
    }
    return body === undefined ? undefined : { required: true, content: this.content(body) };
  }

  private success(route: Route, { success: answers }: Description, status: string): Response {
    const { description, headers = [], content } = answers[status] ?? { description: '' };
    const replayed = route.idempotent === true ? ['Idempotency-Replayed'] : [];
    return {
      description,
      headers: headerReferences([...commonHeaders(route), ...replayed, ...headers]),
      ...(content === undefined ? {} : { content: this.content(content) }),
    };
  }

  private content(forms: Readonly<Record<string, BodyForm>>): Record<string, MediaType> {
    return Object.fromEntries(Object.entries(forms).map(([type, form]) => [type, this.media(form)]));
  }

  private media({
    schema,
    examples,
  }: {
    readonly schema: object;
    readonly examples?: BodyForm['examples'];
  }): MediaType {
    return { schema: this.shown(schema), ...(examples === undefined ? {} : { examples }) };
  }

  /** A schema with references in place of those that have a name. `place`: the component and the fields that lead here. */
  private shown(schema: object, place: readonly string[] = []): Schema {
    const name = this.names.get(schema);
    return name === undefined ? this.shownWhole(schema, place) : { $ref: `#/components/schemas/${name}` };
  }

  private shownWhole(schema: object, place: readonly string[] = []): Schema {
    const parts = Object.entries(schema as Schema).map(([keyword, value]): [string, unknown] => {
      if (keyword === 'properties') return [keyword, this.properties(value as Readonly<Record<string, object>>, place)];
      if (keyword === 'items' || keyword === 'then') return [keyword, this.shown(value as object, place)];
      if (keyword === 'oneOf' || keyword === 'allOf')
        return [keyword, (value as readonly object[]).map((one) => this.shown(one, place))];
      return [keyword, value];
    });
    return Object.fromEntries(parts);
  }

  private properties(fields: Readonly<Record<string, object>>, place: readonly string[]): Record<string, Schema> {
    return Object.fromEntries(
      Object.entries(fields).map(([name, schema]) => {
        const description = this.noteOf([...place, name]);
        return [
          name,
          { ...this.shown(schema, [...place, name]), ...(description === undefined ? {} : { description }) },
        ];
      }),
    );
  }

  /** A field of a field is no namesake of a component's own: it goes by the field that holds it. */
  private noteOf(place: readonly string[]): string | undefined {
    const { notes } = this.api;
    return notes[place.join('.')] ?? notes[place.slice(place.length > 2 ? -2 : -1).join('.')];
  }
}

/** The answer to HEAD has the header fields of the one to GET and no body (RFC 9110, 9.3.2). */
function headOf(operation: Operation): Operation {
  const responses = Object.entries(operation.responses).filter(([status]) => status !== '206' && status !== '416');
  return {
    ...operation,
    operationId: `${operation.operationId}Head`,
    summary: `${operation.summary} (header fields alone)`,
    responses: Object.fromEntries(responses.map(([status, response]) => [status, withoutBody(response)])),
  };
}

function withoutBody(response: Response | Reference): Response | Reference {
  if ('$ref' in response) return response;
  const { content: _, ...head } = response;
  return head;
}

function headerParameters(route: Route, { headers = [] }: Description): Parameter[] {
  const trace = route.access === 'public' ? [] : ['traceparent', 'tracestate'];
  const names = [
    'X-Request-Id',
    'Prefer',
    ...trace,
    ...(route.idempotent === true ? ['Idempotency-Key'] : []),
    ...headers,
  ];
  return names.flatMap((name) => {
    const header = REQUEST_HEADERS[name];
    return header === undefined ? [] : [{ name, in: 'header' as const, required: false, ...header }];
  });
}

function commonHeaders({ access }: Route): string[] {
  if (access === 'public') return [...EVERY_ANSWER];
  const isOperation = access === 'read' || access === 'write' || access === 'exec';
  return [...EVERY_ANSWER, ...KEYED_ANSWER, ...(isOperation ? OPERATION_ANSWER : [])];
}

/** A "?" behind a name says that the field may be absent. */
function headerReferences(names: readonly string[]): Record<string, Header | Reference> {
  return Object.fromEntries(
    names.map((name): [string, Header | Reference] => {
      if (!name.endsWith('?')) return [name, headerReference(name)];
      const bare = name.slice(0, -1);
      return [bare, { description: '', schema: {}, ...ANSWER_HEADERS[bare], required: false }];
    }),
  );
}
