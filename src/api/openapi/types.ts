/** The parts of OpenAPI 3.1 that the document uses, and the description of an API. */
import type { ErrorCode } from '../../base/errors.js';
import type { Route } from '../../http/types.js';
import type { Examples } from '../endpoint.js';

/** JSON Schema 2020-12. */
export type Schema = Readonly<Record<string, unknown>>;

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

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, Response | (Reference & { readonly description?: string })>>;
  /** Every value that `X-Error-Code` can have here. */
  readonly 'x-error-codes'?: readonly ErrorCode[];
}

export type PathItem = Readonly<Record<string, OperationObject>>;

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

/** The texts of one of the two APIs: the input of a document, in addition to the rows. */
export interface Api {
  readonly title: string;
  readonly summary: string;
  readonly introduction: string;
  /** In the order of the page. */
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** Whether the path belongs to this API. */
  readonly owns: (path: string) => boolean;
  readonly securitySchemes: OpenApiDocument['components']['securitySchemes'];
  readonly securityOf: (route: Route) => OperationObject['security'];
  /** The events that it sends; `shown` replaces named schemas by references. */
  readonly webhooks: (shown: (schema: object) => Schema) => Readonly<Record<string, PathItem>>;
}
