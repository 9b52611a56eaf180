import { createHash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export interface StubRequest {
  readonly method: string;
  readonly host: string;
  /** Decoded, without the bucket. */
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: http.IncomingHttpHeaders;
  readonly incoming: http.IncomingMessage;
  /** Filled once the body has arrived. */
  body: Buffer;
}

export type Answer = { status?: number; headers?: Record<string, string>; body?: string | Buffer };
/**
 * Answers in place of the stub: an Answer, 'taken' when it has handled `response` itself, undefined for the stub's own
 * answer.
 */
export type Intercept = (
  request: StubRequest,
  response: http.ServerResponse,
) => Answer | 'taken' | undefined | Promise<Answer | 'taken' | undefined>;

/**
 * The minimal S3 store for cases that a real one cannot be made to show: it keeps objects in memory and lets a test
 * answer instead. `early` sees a request before its body, `late` after it.
 */
export class S3Stub {
  readonly objects = new Map<string, Buffer>();
  readonly uploads = new Map<string, Map<number, Buffer>>();
  readonly requests: StubRequest[] = [];
  early: Intercept = () => undefined;
  late: Intercept = () => undefined;
  readonly sockets = new Set<Socket>();
  mostSockets = 0;
  readonly #server: http.Server;
  #nextUpload = 1;

  private constructor(tls: { key: string; cert: string } | undefined) {
    const listener = (incoming: http.IncomingMessage, response: http.ServerResponse): void => {
      this.#serve(incoming, response).catch(() => response.destroy());
    };
    this.#server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener);
    this.#server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      this.mostSockets = Math.max(this.mostSockets, this.sockets.size);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  static async start(tls?: { key: string; cert: string }): Promise<S3Stub> {
    const stub = new S3Stub(tls);
    await new Promise<void>((done) => stub.#server.listen(0, '127.0.0.1', done));
    return stub;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get endpoint(): string {
    return `${this.#server instanceof https.Server ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  /** The requests, as "PUT key" with the sub-resource: "POST key ?uploads". */
  get asked(): string[] {
    return this.requests.map(({ method, key, query }) => {
      const sub = ['delete', 'uploads', 'uploadId', 'partNumber', 'list-type'].filter((name) => query.has(name));
      return [method, key, ...sub.map((name) => `?${name}`)].filter((word) => word !== '').join(' ');
    });
  }

  reset(): void {
    this.objects.clear();
    this.uploads.clear();
    this.requests.length = 0;
    this.early = this.late = (): undefined => undefined;
    this.mostSockets = this.sockets.size;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(incoming: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://stub');
    const [, , ...rest] = decodeURIComponent(url.pathname).split('/');
    const request: StubRequest = {
      method: incoming.method ?? '',
      host: incoming.headers.host ?? '',
      key: rest.join('/'),
      query: url.searchParams,
      headers: incoming.headers,
      incoming,
      body: Buffer.alloc(0),
    };
    this.requests.push(request);
    const early = await this.early(request, response);
    if (early === 'taken') return;
    if (early !== undefined) return this.#send(response, early);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    request.body = Buffer.concat(chunks);
    const late = await this.late(request, response);
    if (late === 'taken') return;
    this.#send(response, late ?? this.#answer(request));
  }

  #send(response: http.ServerResponse, { status = 200, headers = {}, body = '' }: Answer): void {
    const length = headers['content-length'] === undefined ? { 'content-length': Buffer.byteLength(body) } : {};
    response.writeHead(status, { ...length, ...headers });
    response.end(response.req.method === 'HEAD' ? undefined : body);
  }

  #answer({ method, key, query, headers, body }: StubRequest): Answer {
    const uploadId = query.get('uploadId');
    const parts = this.uploads.get(uploadId ?? '');
    if (method === 'POST' && query.has('uploads')) {
      const id = `upload-${this.#nextUpload}`;
      this.#nextUpload += 1;
      this.uploads.set(id, new Map());
      return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
    }
    if (uploadId !== null && parts === undefined) return s3Error(404, 'NoSuchUpload');
    if (uploadId !== null && parts !== undefined) {
      if (method === 'DELETE') {
        this.uploads.delete(uploadId);
        return { status: 204 };
      }
      if (method === 'PUT') {
        parts.set(Number(query.get('partNumber')), body);
        return { headers: { etag: etagOf(body) } };
      }
      this.objects.set(key, Buffer.concat([...parts].sort(([a], [b]) => a - b).map(([, part]) => part)));
      this.uploads.delete(uploadId);
      return xml('<CompleteMultipartUploadResult><ETag></ETag></CompleteMultipartUploadResult>');
    }
    if (method === 'PUT') {
      const source = headers['x-amz-copy-source'];
      if (typeof source === 'string') {
        const found = this.objects.get(decodeURIComponent(source).split('/').slice(1).join('/'));
        if (found === undefined) return s3Error(404, 'NoSuchKey');
        this.objects.set(key, found);
        return xml(`<CopyObjectResult><ETag>${etagOf(found)}</ETag></CopyObjectResult>`);
      }
      this.objects.set(key, body);
      return { headers: { etag: etagOf(body) } };
    }
    if (method === 'DELETE') {
      this.objects.delete(key);
      return { status: 204 };
    }
    if (method === 'POST' && query.has('delete')) {
      for (const [, name = ''] of body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)) this.objects.delete(name);
      return xml('<DeleteResult></DeleteResult>');
    }
    if (key === '')
      return listed([...this.objects.keys()].filter((name) => name.startsWith(query.get('prefix') ?? '')));
    const found = this.objects.get(key);
    if (found === undefined) return s3Error(404, 'NoSuchKey');
    return {
      headers: {
        etag: etagOf(found),
        'last-modified': new Date().toUTCString(),
        'content-length': String(found.length),
      },
      body: found,
    };
  }
}

export function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

export function xml(body: string, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/xml' }, body: `<?xml version="1.0"?>${body}` };
}

export function s3Error(status: number, code: string, message = ''): Answer {
  const words = message === '' ? '' : `<Message>${message}</Message>`;
  return xml(`<Error><Code>${code}</Code>${words}<RequestId>1</RequestId></Error>`, status);
}

/** A page of a listing; `extra` has its elements of truncation. */
export function listed(keys: readonly string[], extra = '<IsTruncated>false</IsTruncated>'): Answer {
  const contents = keys.map(
    (key) =>
      `<Contents><Key>${key}</Key><Size>1</Size><LastModified>2026-01-02T03:04:05.678Z</LastModified></Contents>`,
  );
  return xml(`<ListBucketResult>${extra}${contents.join('')}</ListBucketResult>`);
}
