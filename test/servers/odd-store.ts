import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { s3Error } from './scripted-s3.js';

/** A proxy for a real store, with the deviations of other stores, each at its extreme. */
export interface OddStore {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Longer than the gateway keeps an idle socket: one that closes under a request looks like a cut connection. */
const KEPT_MS = 600_000;

const WORDS = 'Content-MD5 OR x-amz-checksum- header is required for Put Object requests with Object Lock parameters';

/**
 * Refuses bodies without a checksum, as a bucket with Object Lock does; omits the lengths of objects; and begins a page
 * with the last folder of the page before.
 */
export async function startOddStore(store: { readonly endpoint: string }): Promise<OddStore> {
  const upstream = new URL(store.endpoint);
  // A kept connection may be closed by the store just as a request that cannot be repeated is sent over it.
  const agent = new http.Agent({ keepAlive: false });
  let lastFolder = '';
  const server = http.createServer((incoming, outgoing) => {
    const { method, url = '/', headers } = incoming;
    const { pathname, searchParams: query } = new URL(url, 'http://store');
    const isBody = method === 'PUT' && headers['x-amz-copy-source'] === undefined && pathname.split('/').length > 2;
    const isSummed = Object.keys(headers).some((name) => name === 'content-md5' || name.startsWith('x-amz-checksum-'));
    if ((isBody || query.has('delete')) && !isSummed) {
      const { status = 400, headers: more = {}, body = '' } = s3Error(400, 'InvalidRequest', WORDS);
      outgoing.writeHead(status, { ...more, 'content-length': Buffer.byteLength(body) });
      outgoing.end(body);
      incoming.resume();
      return;
    }
    const request = http.request({ host: upstream.hostname, port: upstream.port, agent, method, path: url, headers });
    request.once('response', (answer) => {
      const { 'content-length': length, ...others } = answer.headers;
      const isList = method === 'GET' && query.has('delimiter');
      if (isList) {
        void answer.toArray().then((chunks: Buffer[]) => {
          const isNext = query.has('continuation-token') || query.has('marker');
          const page = Buffer.concat(chunks).toString();
          const body = isNext ? page.replace('</ListBucketResult>', `${lastFolder}</ListBucketResult>`) : page;
          lastFolder = page.match(/<CommonPrefixes>.*?<\/CommonPrefixes>/gs)?.at(-1) ?? '';
          outgoing.writeHead(answer.statusCode ?? 502, { ...others, 'content-length': Buffer.byteLength(body) });
          outgoing.end(body);
        });
        return;
      }
      const isObject = (method === 'HEAD' || method === 'GET') && (answer.statusCode ?? 500) < 300;
      outgoing.writeHead(answer.statusCode ?? 502, isObject ? others : answer.headers);
      if (!isObject && length === undefined) outgoing.flushHeaders();
      pipeline(answer, outgoing, () => undefined);
    });
    request.on('error', () => {
      // After an early answer this only means that the rest of the body is not read.
      if (!outgoing.headersSent) outgoing.destroy();
      incoming.unpipe(request).resume();
    });
    incoming.pipe(request);
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) request.destroy();
    });
  });
  server.keepAliveTimeout = KEPT_MS;
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      agent.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
