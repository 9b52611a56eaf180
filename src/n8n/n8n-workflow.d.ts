/**
 * The parts of n8n-workflow that the nodes use; n8n itself provides the package. The real package is large, and would
 * be installed with the gateway only for its types.
 */
declare module 'n8n-workflow' {
  export type JsonObject = { readonly [name: string]: unknown };

  /** Streamed bytes; n8n's own are Node streams. */
  export type ByteStream = AsyncIterable<Uint8Array>;

  export interface INode {
    readonly id: string;
    readonly name: string;
    readonly type: string;
    readonly typeVersion: number;
  }

  export interface IBinaryData {
    /** Base64 if n8n keeps binary data in memory; otherwise `id` identifies it. */
    readonly data: string;
    readonly id?: string;
    readonly mimeType: string;
    readonly fileName?: string;
  }

  export interface INodeExecutionData {
    json: JsonObject;
    binary?: Readonly<Record<string, IBinaryData>>;
    pairedItem?: { readonly item: number };
    /** Sends the item to the error output, if the node has one. */
    error?: NodeApiError | NodeOperationError;
  }

  export interface IHttpRequestOptions {
    url: string;
    method: 'GET' | 'POST' | 'DELETE';
    headers?: Record<string, string>;
    body?: ByteStream | Uint8Array | JsonObject;
    encoding?: 'stream';
    json?: boolean;
    returnFullResponse?: boolean;
    ignoreHttpStatusErrors?: boolean;
    disableFollowRedirect?: boolean;
  }

  export interface FullResponse {
    readonly statusCode: number;
    readonly headers: Readonly<Record<string, unknown>>;
    readonly body: unknown;
  }

  interface RequestHelpers {
    httpRequestWithAuthentication(credentials: string, options: IHttpRequestOptions): Promise<unknown>;
  }

  interface BinaryHelpers {
    assertBinaryData(itemIndex: number, property: string): IBinaryData;
    getBinaryStream(id: string, chunkBytes?: number): Promise<ByteStream>;
    getBinaryMetadata(id: string): Promise<{ readonly fileSize: number }>;
    prepareBinaryData(content: ByteStream | Uint8Array, fileName?: string, mimeType?: string): Promise<IBinaryData>;
  }

  /** The common part of all calls by n8n. */
  export interface FunctionsBase {
    getNode(): INode;
    getCredentials(type: string): Promise<JsonObject>;
    readonly helpers: RequestHelpers;
  }

  export interface IExecuteFunctions extends FunctionsBase {
    readonly helpers: RequestHelpers & BinaryHelpers;
    getInputData(): INodeExecutionData[];
    getNodeParameter(name: string, itemIndex: number, fallback?: unknown): unknown;
    continueOnFail(): boolean;
    getExecutionId(): string;
    getInstanceId(): string;
    getWorkflow(): { readonly id?: string };
    getWorkflowDataProxy(itemIndex: number): { readonly $runIndex: number };
  }

  export type ILoadOptionsFunctions = FunctionsBase;

  export interface IHookFunctions extends FunctionsBase {
    getNodeParameter(name: string, fallback?: unknown): unknown;
    getNodeWebhookUrl(name: 'default'): string | undefined;
    /** An object in the workflow's row of n8n's database; changes to it are saved. */
    getWorkflowStaticData(type: 'node'): Record<string, unknown>;
  }

  export interface IWebhookFunctions {
    getNode(): INode;
    getNodeParameter(name: string, fallback?: unknown): unknown;
    getWorkflowStaticData(type: 'node'): Record<string, unknown>;
    getRequestObject(): {
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
      readonly rawBody?: Uint8Array;
    };
    getResponseObject(): { status(code: number): { json(body: JsonObject): unknown } };
  }

  export interface IWebhookResponseData {
    /** If absent, the workflow does not start. */
    workflowData?: INodeExecutionData[][];
    /** The answer that has already been sent. */
    noWebhookResponse?: boolean;
  }

  export interface INodePropertyOptions {
    name: string;
    value: string;
    description?: string;
    action?: string;
  }

  export interface INodeProperties {
    displayName: string;
    name: string;
    type: 'boolean' | 'collection' | 'multiOptions' | 'number' | 'options' | 'string';
    default: unknown;
    description?: string;
    hint?: string;
    placeholder?: string;
    required?: boolean;
    noDataExpression?: boolean;
    displayOptions?: { show: Readonly<Record<string, readonly unknown[]>> };
    typeOptions?: {
      loadOptionsMethod?: string;
      maxValue?: number;
      minValue?: number;
      password?: boolean;
      rows?: number;
    };
    options?: readonly (INodePropertyOptions | INodeProperties)[];
  }

  export interface INodeTypeDescription {
    displayName: string;
    name: string;
    icon: Icon;
    group: readonly ('output' | 'trigger')[];
    version: number;
    subtitle: string;
    description: string;
    defaults: { name: string };
    inputs: readonly string[];
    outputs: readonly string[];
    usableAsTool?: true;
    credentials: readonly { name: string; required: boolean }[];
    webhooks?: readonly { name: 'default'; httpMethod: 'POST'; responseMode: 'onReceived'; path: string }[];
    properties: INodeProperties[];
  }

  export interface INodeType {
    description: INodeTypeDescription;
    methods?: {
      loadOptions: Record<string, (this: ILoadOptionsFunctions) => Promise<INodePropertyOptions[]>>;
    };
    webhookMethods?: {
      default: Record<'checkExists' | 'create' | 'delete', (this: IHookFunctions) => Promise<boolean>>;
    };
    execute?(this: IExecuteFunctions): Promise<INodeExecutionData[][]>;
    webhook?(this: IWebhookFunctions): Promise<IWebhookResponseData>;
  }

  export type Icon = `file:${string}`;

  export interface ICredentialType {
    name: string;
    displayName: string;
    icon: Icon;
    properties: INodeProperties[];
    authenticate: { type: 'generic'; properties: { headers: Record<string, string> } };
    test: { request: { baseURL: string; url: string } };
  }

  interface ErrorOptions {
    message?: string;
    description?: string;
    httpCode?: string;
    itemIndex?: number;
  }

  export class NodeApiError extends Error {
    constructor(node: INode, errorResponse: JsonObject, options?: ErrorOptions);
    description: string | null | undefined;
    httpCode: string | null;
    context: Record<string, unknown>;
  }

  export class NodeOperationError extends Error {
    constructor(node: INode, error: Error | string, options?: ErrorOptions);
    description: string | null | undefined;
    context: Record<string, unknown>;
  }

  export const NodeConnectionTypes: { readonly Main: 'main' };
}
