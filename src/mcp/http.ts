/**
 * The server over streamable HTTP, at /mcp. A caller's bearer token is its own API key for the gateway; or, with
 * `token`, it is that word, and the configured gateway is used. Host and Origin are checked first: a page in a browser
 * must not reach the server with a name that it has directed to this machine (DNS rebinding).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { FtgError } from '../client/index.js';
import { GatewayError } from '../base/errors.js';
import { boundSockets, CONNECTIONS_PER_ADDRESS, LOOPBACK, mostConnections } from '../http/connections.js';
import { GuessGuard } from '../http/guess-guard.js';
import { createLimiters } from '../http/rate-limits.js';
import { type McpGateway, scopesNow } from './gateway.js';
import { createServer } from './server.js';

const PATH = '/mcp';
const MOST_BODY_BYTES = 1024 * 1024;
/** For a head, and between two requests. */
const IDLE_MS = 10_000;
const CHECK_EVERY_MS = 1_000;
/** For a whole request: bodies are small. */
const REQUEST_MS = 30_000;

const SETTINGS: http.ServerOptions = {
  headersTimeout: IDLE_MS,
  keepAliveTimeout: IDLE_MS,
  connectionsCheckingInterval: CHECK_EVERY_MS,
  requestTimeout: REQUEST_MS,
};

interface HttpOptions {
  readonly host: string;
  /** 0 = any. */
  readonly port: number;
  /** Accepted host names besides those of this machine. */
  readonly allowedHosts: readonly string[];
  readonly version: string;
  /** Opens the gateway with this key; undefined: with the configured key, because callers send the token. */
  readonly open: (key: string | undefined) => McpGateway;
  /** Absent: each caller sends its own key. */
  readonly token?: string | undefined;
}

interface HttpService {
  readonly url: string;
  close(): Promise<void>;
}

export async function serveHttp(options: HttpOptions): Promise<HttpService> {
  const hosts = [...localhostAllowedHostnames(), ...options.allowedHosts];
  const origins = [...localhostAllowedOrigins(), ...options.allowedHosts];

  const guard = new GuessGuard(createLimiters(0).failures, 'bearer token');

  async function answer(request: Request, remoteAddress: string): Promise<Response> {
    const refused = hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, origins);
    if (refused !== undefined) return refused;
    if (new URL(request.url).pathname !== PATH) return failure(404, `the only path is ${PATH}`);
    const [, given] = /^Bearer ([\x21-\x7e]+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
    if (given === undefined) return unauthenticated();
    const gateway = options.open(options.token === undefined ? given : undefined);
    const isWrong = options.token !== undefined && !isSame(given, options.token);
    let scopes: ReadonlySet<string> | undefined;
    try {
      scopes = await guard.unlessGuessing({ remoteAddress }, given, async () =>
        isWrong ? undefined : scopesOfKey(gateway),
      );
    } catch (error) {
      return refusedWith(error);
    }
    if (scopes === undefined) return unauthenticated();
    const handler = createMcpHandler(() => createServer(gateway, scopes, options.version), {
      maxRequestBodySize: MOST_BODY_BYTES,
    });
    return handler.fetch(request);
  }

  const server = http.createServer(SETTINGS, (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const { remoteAddress = '' } = incoming.socket;
    serve(incoming, outgoing, gone.signal, (request) => answer(request, remoteAddress)).catch(() => outgoing.destroy());
  });
  boundSockets(server, {
    perAddress: CONNECTIONS_PER_ADDRESS,
    total: mostConnections(),
    // A proxy on this machine carries the connections of all clients.
    unbounded: LOOPBACK,
    loops: 1,
    log: () => undefined,
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}${PATH}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  signal: AbortSignal,
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  const { method = 'GET', url = '/', headers } = incoming;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  let request: Request;
  try {
    request = new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), {
      method,
      signal,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        [value ?? []].flat().map((one): [string, string] => [name, one]),
      ),
      ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' as const } : {}),
    });
  } catch {
    outgoing.writeHead(400).end();
    return;
  }
  const response = await answer(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body), outgoing);
}

function isSame(given: string, expected: string): boolean {
  const digest = (word: string): Buffer => createHash('sha256').update(word).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** undefined: the key is not valid. @throws FtgError */
async function scopesOfKey(gateway: McpGateway): Promise<ReadonlySet<string> | undefined> {
  try {
    return await scopesNow(gateway);
  } catch (error) {
    if (error instanceof FtgError && error.status === 401) return undefined;
    throw error;
  }
}

const PASSED_ON: readonly number[] = [429, 503];

function refusedWith(error: unknown): Response {
  if (error instanceof GatewayError) return failure(429, error.message, retryAfter((error.retryAfterMs ?? 0) / 1_000));
  if (!(error instanceof FtgError)) throw error;
  return failure(PASSED_ON.includes(error.status) ? error.status : 502, error.message, retryAfter(error.retryAfter));
}

const retryAfter = (seconds: number | undefined): Record<string, string> =>
  seconds === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) };

function failure(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ error }, { status, headers });
}

const unauthenticated = (): Response =>
  failure(401, 'a valid bearer token is needed', { 'WWW-Authenticate': 'Bearer' });
