/** The parts of OpenAPI 3.1 that the document uses, and what a row of the route table is described with. */
import type { ErrorCode } from '../../base/errors.js';
import type { Route } from '../../http/types.js';

/** JSON Schema 2020-12. */
export type Schema = Readonly<Record<string, unknown>>;

export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

export type Examples = Readonly<Record<string, Example>>;

export interface MediaType {
  readonly schema?: Schema;
  readonly examples?: Examples;
}

export interface Reference {
  readonly $ref: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface RequestBody {
  readonly description?: string;
  readonly required: boolean;
  readonly content: Readonly<Record<string, MediaType>>;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, Response | (Reference & { readonly description?: string })>>;
  /** Every code that `X-Error-Code` can carry here. */
  readonly 'x-error-codes'?: readonly ErrorCode[];
}

export type PathItem = Readonly<Record<string, Operation>>;

export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: Readonly<Record<string, unknown>> & {
    readonly title: string;
    readonly version: string;
    readonly description: string;
  };
  readonly servers: readonly { readonly url: string; readonly description?: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly webhooks: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
}

/** What only words can say of an endpoint; the rest stands in its row of the route table. */
export interface Description {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Examples of query parameters by name, beside those that every endpoint shares. */
  readonly query?: Readonly<Record<string, unknown>>;
  /** Request header fields (`REQUEST_HEADERS`) beside those that the row implies. */
  readonly headers?: readonly string[];
  /** Of the JSON body that the row's schema checks. */
  readonly bodyExamples?: Examples;
  /** The body of a row that streams it, by media type. */
  readonly body?: Readonly<Record<string, BodyForm>>;
  readonly success: Readonly<Record<string, Success>>;
  /** Reaches the remote server: with everything that can go wrong there. */
  readonly isRemote?: boolean;
  /** Codes beside those that the row and `isRemote` imply. */
  readonly errors?: readonly ErrorCode[];
}

export interface BodyForm {
  readonly schema: object;
  readonly examples?: Examples;
}

export interface Success {
  readonly description: string;
  /** Answer header fields (`ANSWER_HEADERS`) beside those of every answer. */
  readonly headers?: readonly string[];
  /** By media type; absent = no body. */
  readonly content?: Readonly<Record<string, BodyForm>>;
}

/** One of the two APIs, as far as only words can say it: what a document is made from beside the rows. */
export interface Api {
  readonly title: string;
  readonly summary: string;
  readonly introduction: string;
  /** In the order of the page. */
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** By method and path of the row; rows without one are no part of this API. */
  readonly descriptions: Readonly<Record<string, Description>>;
  /** Schemas with a name: wherever one of them is met, it is shown as a reference. */
  readonly components: Readonly<Record<string, object>>;
  /** What each field is: by `Component.field` or `operationId.field` where a name has several meanings, else by name. */
  readonly notes: Readonly<Record<string, string>>;
  /** Examples of parameters, by name. */
  readonly examples: Readonly<Record<string, unknown>>;
  readonly securitySchemes: OpenApiDocument['components']['securitySchemes'];
  readonly securityOf: (route: Route) => Operation['security'];
  /** What it sends by itself; `shown` puts references in place of named schemas. */
  readonly webhooks: (shown: (schema: object) => Schema) => Readonly<Record<string, PathItem>>;
}
