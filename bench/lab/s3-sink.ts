/**
 * A program: takes what clients of S3 send in parts, and throws the bytes away. It checks and keeps nothing, so that the
 * clients are measured alone.
 *
 * Argument: port.
 */
import { randomUUID } from 'node:crypto';
import http from 'node:http';

const TAG = '"00000000000000000000000000000000-1"';

const server = http.createServer({ highWaterMark: 1024 * 1024 }, (request, response) => {
  const { searchParams: query } = new URL(request.url ?? '/', 'http://sink');
  request.once('end', () => {
    const body = request.method === 'POST' ? `<?xml version="1.0"?>${answerTo(query)}` : '';
    response.writeHead(200, { etag: TAG, 'content-length': Buffer.byteLength(body) }).end(body);
  });
  request.resume();
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1');

function answerTo(query: URLSearchParams): string {
  const named = '<Bucket>b</Bucket><Key>k</Key>';
  return query.has('uploads')
    ? `<InitiateMultipartUploadResult>${named}<UploadId>${randomUUID()}</UploadId></InitiateMultipartUploadResult>`
    : `<CompleteMultipartUploadResult>${named}<ETag>${TAG.replaceAll('"', '&quot;')}</ETag></CompleteMultipartUploadResult>`;
}
