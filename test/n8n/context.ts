/**
 * The package as n8n runs it, on a small scale: its modules are loaded by their manifest, with `n8n-workflow` beside
 * them, and get the contexts of n8n. The surprising behaviour of n8n is also imitated: an empty buffer is sent as no
 * body, binary data is base64 in the item or a stream with an id, and a credential's expressions are resolved for each
 * request.
 */
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type {
  FullResponse,
  IBinaryData,
  ICredentialType,
  IExecuteFunctions,
  IHookFunctions,
  IHttpRequestOptions,
  INode,
  INodeExecutionData,
  INodeType,
  IWebhookFunctions,
  IWebhookResponseData,
} from 'n8n-workflow';

/** The part of n8n's package that the nodes use. */
export const N8N_WORKFLOW = `
class NodeError extends Error {
  constructor(node, cause, { message, description, httpCode, itemIndex } = {}) {
    super(message ?? (typeof cause === 'string' ? cause : cause.message), { cause });
    Object.assign(this, { node, description, httpCode: httpCode ?? null, context: { itemIndex } });
  }
}
exports.NodeApiError = class NodeApiError extends NodeError {};
exports.NodeOperationError = class NodeOperationError extends NodeError {};
exports.NodeConnectionTypes = { Main: 'main' };
`;

export interface Manifest {
  readonly name: string;
  readonly keywords: readonly string[];
  readonly dependencies?: object;
  readonly n8n: { readonly credentials: readonly string[]; readonly nodes: readonly string[] };
}

export interface Loaded {
  readonly manifest: Manifest;
  readonly credential: ICredentialType;
  readonly node: INodeType;
  readonly trigger: INodeType;
}

/** Like n8n: the class has the name of its file. */
export function load(folder: string): Loaded {
  mkdirSync(join(folder, 'node_modules/n8n-workflow'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/n8n-workflow/index.js'), N8N_WORKFLOW);
  const require = createRequire(join(folder, 'package.json'));
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const made = <T>(file: string | undefined): T => {
    const name = /([^/]+)\.(?:node|credentials)\.js$/.exec(file ?? '')?.[1] ?? '';
    const Class = (require(`./${file}`) as Record<string, new () => T>)[name];
    if (Class === undefined) throw new Error(`${file} has no class ${name}`);
    return new Class();
  };
  const [node, trigger] = manifest.n8n.nodes;
  return { manifest, credential: made(manifest.n8n.credentials[0]), node: made(node), trigger: made(trigger) };
}

export type Parameters = Readonly<Record<string, unknown>>;

export interface Execution {
  /** One set for each item. */
  readonly parameters: readonly Parameters[];
  readonly items?: readonly INodeExecutionData[];
  /** Absent = a new one. */
  readonly executionId?: string;
  readonly runIndex?: number;
  readonly continueOnFail?: boolean;
}

export interface Answered extends IWebhookResponseData {
  readonly status: number | undefined;
}

export class N8n {
  /** The static data of a workflow, as n8n's database stores it. */
  readonly staticData: Record<string, unknown> = {};
  #executions = 230;
  /** Binary data outside the items. */
  readonly #stored = new Map<string, Buffer>();

  constructor(
    readonly loaded: Loaded,
    readonly credentials: { baseUrl: string; apiKey: string },
  ) {}

  /** The first output of the node. */
  async execute(execution: Execution): Promise<INodeExecutionData[]> {
    const { parameters, executionId = String(++this.#executions), runIndex = 0, continueOnFail = false } = execution;
    const items: readonly INodeExecutionData[] = execution.items ?? parameters.map(() => ({ json: {} }));
    const context: IExecuteFunctions = {
      ...this.#base(this.loaded.node),
      getInputData: () => [...items],
      getNodeParameter: (name, index, fallback) => this.#parameter(this.loaded.node, parameters[index], name, fallback),
      continueOnFail: () => continueOnFail,
      getExecutionId: () => executionId,
      getInstanceId: () => 'instance',
      getWorkflow: () => ({ id: 'workflow' }),
      getWorkflowDataProxy: () => ({ $runIndex: runIndex }),
      helpers: {
        httpRequestWithAuthentication: (_, options) => this.#request(options),
        assertBinaryData: (index, property) => {
          const binary = items[index]?.binary?.[property];
          if (binary === undefined) throw new Error(`the item has no binary field ${property}`);
          return binary;
        },
        getBinaryStream: async (id) => Readable.from(chunksOf(this.bytes(id))),
        getBinaryMetadata: async (id) => ({ fileSize: this.bytes(id).length }),
        prepareBinaryData: async (content, fileName, mimeType = 'text/plain') =>
          this.keep(content instanceof Uint8Array ? Buffer.from(content) : await buffer(content), fileName, mimeType),
      },
    };
    const [output = []] = (await this.loaded.node.execute?.call(context)) ?? [];
    return output;
  }

  /** As in `filesystem` mode; with `data`, as in memory mode. */
  keep(bytes: Buffer, fileName?: string, mimeType = 'application/octet-stream'): IBinaryData {
    const id = `filesystem-v2:${this.#stored.size}`;
    this.#stored.set(id, bytes);
    return { id, data: 'filesystem-v2', mimeType, ...(fileName === undefined ? {} : { fileName }) };
  }

  bytes(id: string | undefined): Buffer {
    return this.#stored.get(id ?? '') ?? Buffer.alloc(0);
  }

  hook(method: 'checkExists' | 'create' | 'delete', url: string, parameters: Parameters): Promise<boolean> | undefined {
    const context: IHookFunctions = {
      ...this.#base(this.loaded.trigger),
      getNodeParameter: (name, fallback) => this.#parameter(this.loaded.trigger, parameters, name, fallback),
      getNodeWebhookUrl: () => url,
      getWorkflowStaticData: () => this.staticData,
    };
    return this.loaded.trigger.webhookMethods?.default[method].call(context);
  }

  async webhook(
    request: ReturnType<IWebhookFunctions['getRequestObject']>,
    parameters: Parameters = {},
  ): Promise<Answered> {
    let status: number | undefined;
    const context: IWebhookFunctions = {
      getNode: () => nodeOf(this.loaded.trigger),
      getNodeParameter: (name, fallback) => this.#parameter(this.loaded.trigger, parameters, name, fallback),
      getWorkflowStaticData: () => this.staticData,
      getRequestObject: () => request,
      getResponseObject: () => ({
        status: (code) => {
          status = code;
          return { json: () => undefined };
        },
      }),
    };
    return { ...(await this.loaded.trigger.webhook?.call(context)), status };
  }

  connections(): Promise<readonly { readonly value: string }[]> | undefined {
    return this.loaded.trigger.methods?.loadOptions['getConnections']?.call(this.#base(this.loaded.trigger));
  }

  /** The button "Test" of a credential. */
  testCredential(): Promise<FullResponse> {
    const { baseURL, url } = this.loaded.credential.test.request;
    return this.#request({ method: 'GET', url: this.#filled(baseURL) + url, json: true });
  }

  #base(type: INodeType): Pick<IHookFunctions, 'getNode' | 'getCredentials' | 'helpers'> {
    return {
      getNode: () => nodeOf(type),
      getCredentials: async () => this.credentials,
      helpers: { httpRequestWithAuthentication: (_, options) => this.#request(options) },
    };
  }

  /** n8n adds the defaults of the form, and refuses unknown names. */
  #parameter(type: INodeType, given: Parameters | undefined, name: string, fallback: unknown): unknown {
    const property = type.description.properties.find((one) => one.name === name);
    if (property === undefined) throw new Error(`the form has no ${name}`);
    return given?.[name] ?? property.default ?? fallback;
  }

  #filled(text: string): string {
    if (!text.startsWith('=')) return text;
    return text.slice(1).replace(/\{\{(.*?)\}\}/g, (_, code: string) => {
      // eslint-disable-next-line @typescript-eslint/no-implied-eval -- an expression of the package under test
      return String((new Function('$credentials', `return ${code}`) as (value: object) => unknown)(this.credentials));
    });
  }

  async #request({ url, method, headers = {}, body, encoding }: IHttpRequestOptions): Promise<FullResponse> {
    const own = this.loaded.credential.authenticate.properties.headers;
    const added = Object.entries(own).map(([name, value]) => [name, this.#filled(value)] as const);
    const isBytes = body instanceof Uint8Array || body === undefined;
    const isJson = !isBytes && !(Symbol.asyncIterator in body);
    const outgoing = http.request(url, {
      // A kept connection may be closed by a busy gateway just before the next request.
      agent: false,
      method,
      headers: { ...(isJson ? { 'Content-Type': 'application/json' } : {}), ...headers, ...Object.fromEntries(added) },
    });
    const response = once(outgoing, 'response') as Promise<[http.IncomingMessage]>;
    if (isBytes) outgoing.end(body?.byteLength === 0 ? undefined : body);
    else if (isJson) outgoing.end(JSON.stringify(body));
    else pipeline(body as AsyncIterable<Uint8Array>, outgoing).catch(() => undefined);
    const [answer] = await response;
    const head = { statusCode: answer.statusCode ?? 0, headers: answer.headers };
    if (encoding === 'stream') return { ...head, body: answer };
    const text = (await buffer(answer)).toString();
    // Like n8n: text that is not JSON stays as it came.
    return { ...head, body: /^[[{]/.test(text) ? (JSON.parse(text) as unknown) : text };
  }
}

function nodeOf({ description: { name, displayName } }: INodeType): INode {
  return { id: `id-of-${name}`, name: displayName, type: name, typeVersion: 1 };
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += 65_536) yield bytes.subarray(from, from + 65_536);
}
