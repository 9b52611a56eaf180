/** The OpenAPI document of an API, made from the route table and the schemas that check requests. */
import { type Component, componentOf } from '../../contract/schema.js';
import type { Route } from '../../http/types.js';
import type { BodyForm, DescribedRoute, Success } from '../endpoint.js';
import type { AnsweredErrorCode } from '../../contract/errors.js';
import {
  allErrorCodes,
  errorCodeSchema,
  errorCodesOf,
  errorResponsesOf,
  headerReference,
  sharedErrorResponses,
} from './errors.js';
import { ANSWER_HEADERS, EVERY_ANSWER, KEYED_ANSWER, OPERATION_ANSWER, REQUEST_HEADERS } from './header-fields.js';
import type {
  Api,
  Header,
  MediaType,
  OpenApiDocument,
  OperationObject,
  Parameter,
  PathItem,
  Reference,
  RequestBody,
  Response,
  Schema,
} from './types.js';

export interface DocumentOptions {
  /** The address of the gateway for clients; "" = the address of the document. */
  readonly publicUrl: string;
}

/** Rows of the other API are left out. */
export function buildDocument(api: Api, routes: readonly DescribedRoute[], options: DocumentOptions): OpenApiDocument {
  return new DocumentBuilder(api).build(
    routes.filter(({ path }) => api.owns(path)),
    options,
  );
}

class DocumentBuilder {
  readonly #api: Api;
  /** Components that the operations refer to, directly or through other components. */
  readonly #components = new Map<string, object>();
  readonly #schemas = new Map<string, Schema>();
  /** Parameters of more than one operation. */
  readonly #parameters = new Map<string, Parameter>();

  constructor(api: Api) {
    this.#api = api;
  }

  build(routes: readonly DescribedRoute[], { publicUrl }: DocumentOptions): OpenApiDocument {
    const { title, summary, introduction, tags, securitySchemes, webhooks } = this.#api;
    const paths: Record<string, PathItem> = {};
    const given: AnsweredErrorCode[] = [];
    for (const route of routes) {
      given.push(...errorCodesOf(route));
      const path = route.path.replace(/:(\w+)/g, '{$1}');
      const operation = this.#operation(route);
      paths[path] = {
        ...paths[path],
        [route.method.toLowerCase()]: operation,
        ...(route.head === true ? { head: headOf(operation) } : {}),
      };
    }
    const codes = allErrorCodes(given);
    const responses = sharedErrorResponses(
      codes.filter((code) => code !== 'method_not_allowed'),
      JSON.stringify(paths).includes('ConflictOrSkipped'),
      (schema) => this.#shown(schema),
    );
    const events = webhooks((schema) => this.#shown(schema));
    this.#schemas.set('ErrorCode', errorCodeSchema(codes));
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
      webhooks: events,
      components: {
        schemas: Object.fromEntries([...this.#schemas].sort(([one], [other]) => (one < other ? -1 : 1))),
        parameters: Object.fromEntries(this.#parameters),
        responses,
        headers: Object.fromEntries(Object.entries(ANSWER_HEADERS).filter(isUsed)),
        securitySchemes,
      },
    };
  }

  #operation(route: DescribedRoute): OperationObject {
    const { operationId, tag, summary, description, success } = route.description;
    const body = this.#requestBody(route);
    const codes = errorCodesOf(route);
    return {
      operationId,
      tags: [tag],
      summary,
      description,
      security: this.#api.securityOf(route),
      parameters: [
        ...pathParameters(route).map((parameter) => this.#shared(parameter)),
        ...queryParameters(route),
        ...headerParameters(route).map((parameter) => this.#shared(parameter)),
      ],
      ...(body === undefined ? {} : { requestBody: body }),
      responses: {
        ...Object.fromEntries(
          Object.entries(success).map(([status, answer]) => [status, this.#success(route, answer)]),
        ),
        ...errorResponsesOf(codes, route.skippable === true),
      },
      'x-error-codes': codes,
    };
  }

  /** Path and header parameters are documented once for all operations that describe them equally. */
  #shared(parameter: Parameter): Parameter | Reference {
    const { name } = parameter;
    const known = this.#parameters.get(name) ?? parameter;
    if (JSON.stringify(known) !== JSON.stringify(parameter)) return parameter;
    this.#parameters.set(name, parameter);
    return { $ref: `#/components/parameters/${name}` };
  }

  #requestBody({ json, description: { body, bodyExamples } }: DescribedRoute): RequestBody | undefined {
    const forms = json === undefined ? body : { 'application/json': { schema: json, examples: bodyExamples } };
    return forms === undefined ? undefined : { required: true, content: this.#content(forms) };
  }

  #success(route: Route, { description, headers = [], content }: Success): Response {
    const replayed = route.idempotent === true ? ['Idempotency-Replayed'] : [];
    return {
      description,
      headers: headerReferences([...commonHeaders(route), ...replayed, ...headers]),
      ...(content === undefined ? {} : { content: this.#content(content) }),
    };
  }

  #content(forms: Readonly<Record<string, BodyForm>>): Record<string, MediaType> {
    return Object.fromEntries(
      Object.entries(forms).map(([type, { schema, examples }]) => [
        type,
        { schema: this.#shown(schema), ...(examples === undefined ? {} : { examples }) },
      ]),
    );
  }

  /** A schema with references in place of named schemas; its own description is beside the reference. */
  #shown(schema: object): Schema {
    const named = componentOf(schema);
    if (named === undefined) return this.#shownWhole(schema);
    this.#refer(named);
    const { description } = schema as Schema;
    return { $ref: `#/components/schemas/${named.name}`, ...(description === undefined ? {} : { description }) };
  }

  /** Adds this component to the document. */
  #refer({ name, schema }: Component): void {
    const known = this.#components.get(name);
    if (known !== undefined && known !== schema) throw new Error(`two schemas have the name ${name}`);
    if (known !== undefined) return;
    this.#components.set(name, schema);
    this.#schemas.set(name, this.#shownWhole(schema));
  }

  #shownWhole(schema: object): Schema {
    const parts = Object.entries(schema as Schema).map(([keyword, value]): [string, unknown] => {
      if (keyword === 'properties') return [keyword, this.#fields(value as Readonly<Record<string, object>>)];
      if (keyword === 'items' || keyword === 'then') return [keyword, this.#shown(value as object)];
      if (keyword === 'oneOf' || keyword === 'anyOf' || keyword === 'allOf')
        return [keyword, (value as readonly object[]).map((one) => this.#shown(one))];
      return [keyword, value];
    });
    return Object.fromEntries(parts);
  }

  #fields(schemas: Readonly<Record<string, object>>): Record<string, Schema> {
    return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, this.#shown(schema)]));
  }
}

function pathParameters({ description: { params = {} } }: DescribedRoute): Parameter[] {
  return Object.entries(params).map(([name, schema]) => ({ ...parameter(name, schema), in: 'path', required: true }));
}

function queryParameters(route: Route): Parameter[] {
  const { properties = {}, required = [] }: Fields = route.query ?? {};
  return Object.entries(properties).map(([name, schema]) => ({
    ...parameter(name, schema),
    in: 'query',
    required: required.includes(name),
  }));
}

interface Fields {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

/** The description is beside the schema. */
function parameter(name: string, whole: object): Pick<Parameter, 'name' | 'description' | 'schema' | 'example'> {
  const { description, examples, ...schema } = whole as Words;
  return { name, description: description ?? '', schema, example: examples?.[0] };
}

interface Words extends Schema {
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

/** The answer to HEAD has the header fields of the answer to GET and no body (RFC 9110, 9.3.2). */
function headOf(operation: OperationObject): OperationObject {
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

function headerParameters({ description: { headers = [] }, ...route }: DescribedRoute): Parameter[] {
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

/** A "?" after a name means that the field may be absent. */
function headerReferences(names: readonly string[]): Record<string, Header | Reference> {
  return Object.fromEntries(
    names.map((name): [string, Header | Reference] => {
      if (!name.endsWith('?')) return [name, headerReference(name)];
      const bare = name.slice(0, -1);
      return [bare, { description: '', schema: {}, ...ANSWER_HEADERS[bare], required: false }];
    }),
  );
}

export function parametersOf(
  { components }: OpenApiDocument,
  { parameters = [] }: OperationObject,
): readonly Parameter[] {
  return parameters.map((parameter) =>
    '$ref' in parameter ? found(components.parameters, parameter.$ref) : parameter,
  );
}

/** A description beside a reference replaces that of its target (OpenAPI 3.1, 4.8.23). */
export function responsesOf(
  { components }: OpenApiDocument,
  { responses }: OperationObject,
): readonly (readonly [status: string, response: Response])[] {
  return Object.entries(responses).map(([status, response]) => {
    if (!('$ref' in response)) return [status, response];
    const shared = found(components.responses, response.$ref);
    return [status, { ...shared, description: response.description ?? shared.description }];
  });
}

export function componentNameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function found<T>(parts: Readonly<Record<string, T>>, reference: string): T {
  const part = parts[componentNameIn(reference)];
  if (part === undefined) throw new Error(`there is nothing at ${reference}`);
  return part;
}
