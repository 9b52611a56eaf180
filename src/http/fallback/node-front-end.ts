/** The listener of node:http, used if no build of uWebSockets.js runs. */
import { readFileSync } from 'node:fs';
import http, { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { GatewayError } from '../../base/errors.js';
import { unrouted } from '../answer.js';
import { boundSockets, type ConnectionsOptions } from '../connections.js';
import {
  type ClientSocket,
  type FrontEnd,
  KEEP_ALIVE_GRACE_SECONDS,
  noListener,
  type SocketOptions,
} from '../front-end.js';
import { linger, NodeSocket } from './node-socket.js';

/** The same as the limit of the other front end. */
const MAX_HEADER_BYTES = 32_768;
const MAX_HEADER_FIELDS = 96;
/** Time limit for a handshake and a head. */
const IDLE_MS = 10_000;
const CHECK_EVERY_MS = 1_000;

const SETTINGS: http.ServerOptions = {
  maxHeaderSize: MAX_HEADER_BYTES,
  // Overrides NODE_OPTIONS: requests that the lenient parser accepts are ambiguous.
  insecureHTTPParser: false,
  highWaterMark: 64 * 1024,
  headersTimeout: IDLE_MS,
  connectionsCheckingInterval: CHECK_EVERY_MS,
  // Our own limits decide how long a body may take.
  requestTimeout: 0,
};

/** The status for each refusal of the parser; otherwise 400. */
const STATUS_OF_MISTAKE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_INVALID_VERSION: 505,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** @throws Error of one line if certificate and key cannot be used */
export function openNodeFrontEnd(
  options: SocketOptions,
  bounds: ConnectionsOptions,
  begin: (socket: ClientSocket) => void,
): FrontEnd {
  const isSecure = options.tls.certFile !== '';
  const server = isSecure
    ? https.createServer({ ...SETTINGS, ...readPair(options), handshakeTimeout: IDLE_MS })
    : http.createServer(SETTINGS);
  server.keepAliveTimeout = (options.keepAliveSeconds + KEEP_ALIVE_GRACE_SECONDS) * 1_000;
  // The default drops fields beyond a limit, and so possibly the fields that define where a request ends.
  server.maxHeadersCount = 0;
  const { sockets, connections } = boundSockets(server, bounds);
  /** The latest request of each connection. */
  const latest = new WeakMap<net.Socket, NodeSocket>();

  function serve(req: IncomingMessage, res: ServerResponse, awaitsContinue: boolean): void {
    const { socket } = req;
    const former = latest.get(socket);
    // Nothing is served after an answer that ends the connection,
    if (socket.writableEnded) return;
    // and no request before the previous one is answered.
    if (former?.mayBeFollowed === false) return void socket.destroy();
    if (former !== undefined) socket.setTimeout(0);
    const refusal = refusalOf(req);
    if (refusal !== undefined) return refuse(socket, refusal);
    const request = new NodeSocket(req, res, awaitsContinue, options.keepAliveSeconds);
    latest.set(socket, request);
    begin(request);
  }

  server.on('request', (req, res) => serve(req, res, false));
  server.on('checkContinue', (req, res) => serve(req, res, true));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: net.Socket) => {
    const { code = '' } = error;
    const status = STATUS_OF_MISTAKE[code] ?? (code.startsWith('HPE_') ? 400 : undefined);
    if (socket.writableEnded) return;
    if (status === undefined || !socket.writable || latest.get(socket)?.mayBeFollowed === false) socket.destroy();
    else refuse(socket, status);
  });

  return {
    build: `node:http ${process.version}`,
    refusedConnections: connections.refused,

    listen: (port) =>
      new Promise((resolve, reject) => {
        const refused = (cause: Error): void => {
          reject(new Error(noListener(port, options), { cause }));
        };
        server.once('error', refused);
        server.listen({ host: options.host, port }, () => {
          server.off('error', refused);
          server.on('error', (error) => options.log('warn', `the listener failed: ${error.message}`));
          resolve((server.address() as net.AddressInfo).port);
        });
      }),

    reloadTls: () => {
      if (server instanceof tls.Server) server.setSecureContext(readPair(options));
    },

    // Not http's own close(), which ends idle connections: their next request is still served.
    stopListening: () => void net.Server.prototype.close.call(server),

    closeSockets: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function readPair({ tls: { certFile, keyFile } }: SocketOptions): { readonly cert: Buffer; readonly key: Buffer } {
  try {
    const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
    tls.createSecureContext(pair);
    return pair;
  } catch (error) {
    throw new Error('server.tls: the certificate or its key cannot be used; both must be PEM and belong together', {
      cause: error,
    });
  }
}

/** Refuses what the parser accepts and uWebSockets.js does not. */
function refusalOf({ httpVersion, rawHeaders, url = '' }: IncomingMessage): number | undefined {
  if (httpVersion !== '1.1') return 505;
  if (rawHeaders.length / 2 > MAX_HEADER_FIELDS) return 431;
  return url.startsWith('/') ? undefined : 400;
}

/** Refuses and ends the connection: the meaning of later bytes is unknown. */
function refuse(socket: net.Socket, status: number): void {
  const { headers = {}, body = '' } =
    status === 400 ? unrouted(new GatewayError('bad_request', 'this is not a request in HTTP/1.1 (RFC 9112)')) : {};
  const fields = { ...headers, Connection: 'close', 'Content-Length': Buffer.byteLength(body as string) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body as string}`);
  socket.pause();
  linger(socket);
}
