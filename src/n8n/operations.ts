/** Executes the node for one item, by resource and operation. */
import { type IExecuteFunctions, type INodeExecutionData, type JsonObject, NodeOperationError } from 'n8n-workflow';
import type { ListAnswer } from '../client/types.js';
import { fromBinary, toBinary } from './binary.js';
import { idempotencyKey } from './idempotency.js';
import { call, type Call, open } from './request.js';
import { HOUR_MS } from '../contract/units.js';

type Output = Pick<INodeExecutionData, 'json' | 'binary'>;
type Work = (item: Item) => Promise<readonly Output[]>;

const PAGE = 1_000;

export async function perform(context: IExecuteFunctions, index: number): Promise<readonly Output[]> {
  const item = new Item(context, index);
  const work = WORK[item.operation];
  if (work === undefined) throw new NodeOperationError(context.getNode(), `there is no operation ${item.operation}`);
  return work(item);
}

/** One item with its parameters. */
class Item {
  readonly operation: string;
  readonly connectionId: string;

  constructor(
    readonly context: IExecuteFunctions,
    readonly index: number,
  ) {
    this.operation = `${this.text('resource')}.${this.text('operation')}`;
    this.connectionId = this.text('connectionId');
  }

  get(name: string, fallback?: unknown): unknown {
    return this.context.getNodeParameter(name, this.index, fallback);
  }

  /** Expressions may return numbers where a text is expected. */
  text(name: string, fallback?: string): string {
    return String(this.get(name, fallback));
  }

  /** The options that the user has added; empty ones are left out. */
  get options(): Readonly<Record<string, string | number | boolean>> {
    const all = this.get('options', {}) as Record<string, string | number | boolean>;
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
  }

  /** A request that changes something; however often n8n repeats it, it has one effect. */
  change<T = JsonObject>(request: Omit<Call, 'method'>): Promise<T> {
    const headers = {
      ...request.headers,
      'Idempotency-Key': idempotencyKey(this.context, this.index, this.operation),
    };
    return call<T>(this.context, { ...request, method: 'POST', headers });
  }

  query<T = JsonObject>(endpoint: string, query: Call['query'] = {}): Promise<T> {
    return call<T>(this.context, { method: 'GET', path: [endpoint, this.connectionId], query });
  }
}

/** A change of one path, whose body has the connection in its URL. */
const changeOf =
  (endpoint: string, bodyOf: (item: Item) => JsonObject): Work =>
  async (item) => {
    const json = await item.change({ path: [endpoint, item.connectionId], body: bodyOf(item) });
    return [{ json }];
  };

const pathOf = (item: Item): { readonly path: string } => ({ path: item.text('path') });
const contentOf = (item: Item): JsonObject => ({ ...pathOf(item), content: item.text('content') });

const WORK: Readonly<Record<string, Work>> = {
  'file.append': changeOf('append', contentOf),
  'file.copy': copy,
  'file.delete': changeOf('delete', pathOf),
  'file.download': download,
  'file.exists': async (item) => [{ json: await item.query('exists', pathOf(item)) }],
  'file.move': changeOf('move', (item) => ({ from: item.text('path'), to: item.text('destination'), ...item.options })),
  'file.read': async (item) => [{ json: await item.query('read', pathOf(item)) }],
  'file.upload': upload,
  'file.write': changeOf('write', (item) => ({ ...contentOf(item), ...item.options })),
  'folder.create': changeOf('mkdir', pathOf),
  'folder.delete': changeOf('delete', (item) => ({ ...pathOf(item), ...item.options })),
  'folder.list': list,
  'link.create': createLink,
};

async function upload(item: Item): Promise<Output[]> {
  const { body, size, fileName } = await fromBinary(item.context, item.index, item.text('binaryPropertyName'));
  const filename = item.text('fileName', '') || fileName;
  if (filename === undefined) {
    const text = 'the binary data has no file name: set File Name';
    throw new NodeOperationError(item.context.getNode(), text);
  }
  const { transfer } = await item.change<{ readonly transfer: JsonObject }>({
    path: ['upload', item.connectionId],
    query: { path: item.text('folder', '') || undefined, filename, ...item.options },
    headers: { 'Content-Type': 'application/octet-stream', 'Content-Length': String(size) },
    body,
  });
  return [{ json: transfer }];
}

async function download(item: Item): Promise<Output[]> {
  const { path } = pathOf(item);
  const answer = await open(item.context, { method: 'GET', path: ['download', item.connectionId], query: { path } });
  const name = path.slice(path.lastIndexOf('/') + 1);
  const { file, size } = await toBinary(item.context, answer, name);
  const binary = { ...item.context.getInputData()[item.index]?.binary, [item.text('binaryPropertyName')]: file };
  return [{ json: { connectionId: item.connectionId, path, name, size, mimeType: file.mimeType }, binary }];
}

async function copy(item: Item): Promise<Output[]> {
  const json = await item.change({
    path: ['copy'],
    body: {
      source_connection_id: item.connectionId,
      source_path: item.text('path'),
      dest_connection_id: item.text('destinationConnectionId'),
      dest_path: item.text('destination', '') || undefined,
      ...item.options,
    },
  });
  return [{ json }];
}

/** Page by page, so that a large folder never arrives in one answer. */
async function list(item: Item): Promise<Output[]> {
  const wanted = item.get('returnAll') === true ? Infinity : Number(item.get('limit'));
  const path = item.text('path', '') || undefined;
  const found: Output[] = [];
  for (let cursor: string | undefined; ;) {
    const limit = Math.min(PAGE, wanted - found.length);
    const { files, nextCursor } = await item.query<ListAnswer>('list', { path, ...item.options, limit, cursor });
    for (const file of files) found.push({ json: { ...file } });
    if (typeof nextCursor !== 'string' || found.length >= wanted) return found;
    cursor = nextCursor;
  }
}

/** Without an idempotency key, which links do not support: a retry makes another link. */
async function createLink(item: Item): Promise<Output[]> {
  const { link } = await call<{ readonly link: JsonObject }>(item.context, {
    method: 'POST',
    path: ['links'],
    body: {
      operation: item.text('linkOperation'),
      connectionId: item.connectionId,
      ...pathOf(item),
      expiresAt: new Date(Date.now() + Number(item.get('validHours')) * HOUR_MS).toISOString(),
      ...item.options,
    },
  });
  return [{ json: link }];
}
