/**
 * A program: an S3 store in memory that costs very little itself, so that the clients are measured. Real stores are
 * slower than any of them. It checks no signature; objects and parts are kept whole.
 *
 * Argument: port. Supports PUT, GET with Range, HEAD, DELETE, listing by pages, and multipart uploads, but no copies.
 */
import { createHash, randomUUID } from 'node:crypto';
import http from 'node:http';

interface Stored {
  readonly parts: readonly Buffer[];
  readonly size: number;
  readonly etag: string;
  readonly modifiedAt: Date;
}

const objects = new Map<string, Stored>();
const uploads = new Map<string, Map<number, Buffer>>();
/** Memory of a replaced object is reused for the next one of its size: fresh pages would cost more than the copy. */
const spare = new Map<number, Buffer[]>();
/** Per page, as with other stores. */
const MOST_KEYS = 1000;
const WRITE_STEP = 1024 * 1024;

const server = http.createServer({ highWaterMark: 256 * 1024 }, (request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1');

async function serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://store');
  const [, bucket = '', ...rest] = url.pathname.split('/').map(decodeURIComponent);
  const key = rest.join('/');
  const { method = '' } = request;
  if (method === 'PUT' && key !== '') return put(key, url.searchParams, request, response);
  const body = method === 'POST' ? await text(request) : '';
  if (key === '') return method === 'GET' ? list(bucket, url.searchParams, response) : answer(response, 200);
  if (method === 'GET' || method === 'HEAD') return get(key, request, response);
  if (method === 'DELETE') {
    keep(objects.get(key));
    objects.delete(key);
    return answer(response, 204);
  }
  return multipart(key, url.searchParams, body, response);
}

async function put(
  key: string,
  query: URLSearchParams,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const bytes = await content(request);
  const uploadId = query.get('uploadId');
  if (uploadId !== null) {
    uploads.get(uploadId)?.set(Number(query.get('partNumber')), bytes);
    return answer(response, 200, '', { etag: `"${randomUUID().replaceAll('-', '')}"` });
  }
  const stored = store(key, [bytes]);
  return answer(response, 200, '', { etag: stored.etag });
}

/** The body of a PUT, without the framing of aws-chunked (with its signatures and trailers). */
async function content(request: http.IncomingMessage): Promise<Buffer> {
  const decoded = request.headers['x-amz-decoded-content-length'];
  const length = Number(request.headers['content-length'] ?? NaN);
  if (decoded === undefined && Number.isInteger(length)) {
    const whole = spare.get(length)?.pop() ?? Buffer.allocUnsafeSlow(length);
    let at = 0;
    for await (const chunk of request) at += (chunk as Buffer).copy(whole, at);
    return whole;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  return decoded === undefined ? raw : unframed(raw);
}

function unframed(raw: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = raw.indexOf('\r\n', at);
    const size = parseInt(raw.toString('latin1', at, lineEnd), 16);
    if (lineEnd < 0 || !(size > 0)) return Buffer.concat(parts);
    parts.push(raw.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

function store(key: string, parts: readonly Buffer[]): Stored {
  let size = 0;
  for (const part of parts) size += part.length;
  // In the form of a multipart upload's tag, so that no client takes it for the MD5 of the content.
  const etag = `"${createHash('md5').update(randomUUID()).digest('hex')}-1"`;
  const stored = { parts, size, etag, modifiedAt: new Date() };
  keep(objects.get(key));
  objects.set(key, stored);
  return stored;
}

function keep(replaced: Stored | undefined): void {
  for (const part of replaced?.parts ?? []) {
    const same = spare.get(part.length) ?? [];
    if (same.length < 8) same.push(part);
    spare.set(part.length, same);
  }
}

async function get(key: string, request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const stored = objects.get(key);
  if (stored === undefined) return failure(response, 404, 'NoSuchKey');
  const wanted = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const start = wanted === null ? 0 : Number(wanted[1]);
  const end = wanted === null || wanted[2] === '' ? stored.size : Math.min(stored.size, Number(wanted[2]) + 1);
  response.writeHead(wanted === null ? 200 : 206, {
    etag: stored.etag,
    'last-modified': stored.modifiedAt.toUTCString(),
    'content-length': end - start,
    'accept-ranges': 'bytes',
    'content-type': 'application/octet-stream',
    ...(wanted === null ? {} : { 'content-range': `bytes ${start}-${end - 1}/${stored.size}` }),
  });
  if (request.method === 'GET') {
    let partStart = 0;
    for (const part of stored.parts) {
      const from = Math.max(start - partStart, 0);
      const to = Math.min(end - partStart, part.length);
      for (let at = from; at < to; at += WRITE_STEP) {
        if (response.write(part.subarray(at, Math.min(at + WRITE_STEP, to)))) continue;
        await new Promise((done) => {
          response.once('drain', done);
          response.once('close', done);
        });
        if (response.destroyed) return;
      }
      partStart += part.length;
    }
  }
  response.end();
}

function multipart(key: string, query: URLSearchParams, body: string, response: http.ServerResponse): void {
  const uploadId = query.get('uploadId');
  if (uploadId === null) {
    const id = randomUUID();
    uploads.set(id, new Map());
    const named = `<Bucket>b</Bucket><Key>${escaped(key)}</Key><UploadId>${id}</UploadId>`;
    return answer(response, 200, `<InitiateMultipartUploadResult>${named}</InitiateMultipartUploadResult>`);
  }
  const parts = uploads.get(uploadId);
  if (parts === undefined) return failure(response, 404, 'NoSuchUpload');
  uploads.delete(uploadId);
  const numbers = [...body.matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, number]) => Number(number));
  const stored = store(
    key,
    numbers.flatMap((number) => parts.get(number) ?? []),
  );
  const named = `<Bucket>b</Bucket><Key>${escaped(key)}</Key><ETag>${escaped(stored.etag)}</ETag>`;
  return answer(response, 200, `<CompleteMultipartUploadResult>${named}</CompleteMultipartUploadResult>`);
}

function list(bucket: string, query: URLSearchParams, response: http.ServerResponse): void {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const after = query.get('continuation-token') ?? '';
  const most = Math.min(Number(query.get('max-keys') ?? MOST_KEYS), MOST_KEYS);
  const entries = new Map<string, string>();
  for (const [key, { size, etag, modifiedAt }] of objects) {
    if (!key.startsWith(prefix)) continue;
    const cut = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    const name = cut >= 0 ? key.slice(0, cut + 1) : key;
    if (name <= after) continue;
    const facts = `<LastModified>${modifiedAt.toISOString()}</LastModified><ETag>${escaped(etag)}</ETag>`;
    const text =
      cut >= 0
        ? `<CommonPrefixes><Prefix>${escaped(name)}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${escaped(name)}</Key>${facts}<Size>${size}</Size></Contents>`;
    entries.set(name, text);
  }
  const names = [...entries.keys()].sort();
  const page = names.slice(0, most);
  const more = names.length > most;
  const next = more ? `<NextContinuationToken>${escaped(page.at(-1) ?? '')}</NextContinuationToken>` : '';
  const body = page.map((name) => entries.get(name)).join('');
  const head = `<Name>${bucket}</Name><IsTruncated>${more}</IsTruncated>${next}`;
  return answer(response, 200, `<ListBucketResult>${head}${body}</ListBucketResult>`);
}

function failure(response: http.ServerResponse, status: number, code: string): void {
  answer(response, status, `<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

function answer(
  response: http.ServerResponse,
  status: number,
  body = '',
  headers: http.OutgoingHttpHeaders = {},
): void {
  const whole = body === '' ? '' : `<?xml version="1.0"?>${body}`;
  const length = status === 204 ? {} : { 'content-length': Buffer.byteLength(whole) };
  response.writeHead(status, { 'content-type': 'application/xml', ...length, ...headers }).end(whole);
}

async function text(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function escaped(words: string): string {
  return words.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign] ?? '&quot;');
}
