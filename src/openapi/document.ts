/** The OpenAPI document of an API, made from the route table and the schemas that check requests. */
import { ERROR_RULES } from '../errors.js';
import type { Route } from '../http/types.js';
import { error as errorSchema, skipped as skippedSchema } from '../api/answer-schemas.js';
import { allErrorCodes, byStatus, ERROR_MEANINGS, errorCodesOf, type ClientErrorCode } from './errors.js';
import { ANSWER_HEADERS, EVERY_ANSWER, KEYED_ANSWER, OPERATION_ANSWER, REQUEST_HEADERS } from './header-fields.js';
import type {
  Api,
  BodyForm,
  Description,
  Example,
  Header,
  MediaType,
  OpenApiDocument,
  Operation,
  Parameter,
  PathItem,
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
    const named = Object.entries({ ...components, ErrorCode: { type: 'string', enum: codes } });
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
        schemas: Object.fromEntries(named.map(([name, schema]) => [name, this.shownWhole(schema, name)] as const)),
        examples: Object.fromEntries(codes.map((code) => [code, errorExample(code)])),
        headers: ANSWER_HEADERS,
        securitySchemes,
      },
    };
  }

  private operation(route: Route, description: Description): Operation {
    const { operationId, tag, summary } = description;
    const body = this.requestBody(route, description);
    return {
      operationId,
      tags: [tag],
      summary,
      description: description.description,
      security: this.api.securityOf(route),
      parameters: [
        ...this.pathParameters(route),
        ...this.queryParameters(route, description),
        ...headerParameters(route, description),
      ],
      ...(body === undefined ? {} : { requestBody: body }),
      responses: {
        ...Object.fromEntries(
          Object.keys(description.success).map((status) => [status, this.success(route, description, status)]),
        ),
        ...this.errorResponses(route, description),
      },
    };
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

  private errorResponses(route: Route, description: Description): Record<string, Response> {
    const responses: Record<string, Response> = {};
    for (const [status, codes] of byStatus(errorCodesOf(route, description))) {
      const mayBeSkipped = route.skippable === true && codes.includes('already_exists');
      const code: Header = {
        description: 'What went wrong, as a code that does not change.',
        required: true,
        schema: { type: 'string', enum: codes },
      };
      responses[status] = {
        description: codes.map((one) => `\`${one}\`: ${ERROR_MEANINGS[one].meaning}`).join('\n\n'),
        headers: { 'X-Error-Code': code, ...headerReferences([...commonHeaders(route), ...errorHeaders(status)]) },
        content: {
          'application/json': {
            schema: this.shown(mayBeSkipped ? skippedSchema : errorSchema),
            examples: Object.fromEntries(
              codes.map((one) => [
                one,
                mayBeSkipped && one === 'already_exists'
                  ? { value: { error: ERROR_MEANINGS[one].example, skipped: true } }
                  : { $ref: `#/components/examples/${one}` },
              ]),
            ),
          },
        },
      };
    }
    return responses;
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

  /** A schema with references in place of those that have a name. */
  private shown(schema: object): Schema {
    const name = this.names.get(schema);
    return name === undefined ? this.shownWhole(schema) : { $ref: `#/components/schemas/${name}` };
  }

  /** `owner` is the component's name, under which the notes may know its fields. */
  private shownWhole(schema: object, owner?: string): Schema {
    const parts = Object.entries(schema as Schema).map(([keyword, value]): [string, unknown] => {
      if (keyword === 'properties') return [keyword, this.properties(value as Readonly<Record<string, object>>, owner)];
      if (keyword === 'items' || keyword === 'then') return [keyword, this.shown(value as object)];
      if (keyword === 'oneOf' || keyword === 'allOf')
        return [keyword, (value as readonly object[]).map((one) => this.shown(one))];
      return [keyword, value];
    });
    return Object.fromEntries(parts);
  }

  private properties(fields: Readonly<Record<string, object>>, owner = ''): Record<string, Schema> {
    return Object.fromEntries(
      Object.entries(fields).map(([name, schema]) => {
        const description = this.api.notes[`${owner}.${name}`] ?? this.api.notes[name];
        return [name, { ...this.shown(schema), ...(description === undefined ? {} : { description }) }];
      }),
    );
  }
}

/** The answer to HEAD has the header fields of the one to GET and no body (RFC 9110, 9.3.2). */
function headOf(operation: Operation): Operation {
  const responses = Object.entries(operation.responses).filter(([status]) => status !== '206' && status !== '416');
  return {
    ...operation,
    operationId: `${operation.operationId}Head`,
    summary: `${operation.summary} (header fields alone)`,
    responses: Object.fromEntries(responses.map(([status, { content: _, ...response }]) => [status, response])),
  };
}

function headerParameters(route: Route, { headers = [] }: Description): Parameter[] {
  const trace = route.access === 'public' ? [] : ['traceparent', 'tracestate'];
  const names = ['X-Request-Id', ...trace, ...(route.idempotent === true ? ['Idempotency-Key'] : []), ...headers];
  return names.flatMap((name) => {
    const header = REQUEST_HEADERS[name];
    return header === undefined ? [] : [{ name, in: 'header' as const, required: false, ...header }];
  });
}

function errorHeaders(status: number): string[] {
  if (status === 401) return ['WWW-Authenticate'];
  return status === 429 || status === 503 ? ['Retry-After'] : [];
}

function commonHeaders({ access }: Route): string[] {
  if (access === 'public') return [...EVERY_ANSWER];
  const isOperation = access === 'read' || access === 'write' || access === 'exec';
  return [...EVERY_ANSWER, ...KEYED_ANSWER, ...(isOperation ? OPERATION_ANSWER : [])];
}

/** A "?" behind a name says that the field may be absent. */
function headerReferences(names: readonly string[]): Record<string, Header | { readonly $ref: string }> {
  return Object.fromEntries(
    names.map((name): [string, Header | { readonly $ref: string }] => {
      if (!name.endsWith('?')) return [name, { $ref: `#/components/headers/${name}` }];
      const bare = name.slice(0, -1);
      return [bare, { description: '', schema: {}, ...ANSWER_HEADERS[bare], required: false }];
    }),
  );
}

function errorExample(code: ClientErrorCode): Example {
  return { summary: `${ERROR_RULES[code].status} ${code}`, value: { error: ERROR_MEANINGS[code].example } };
}
