/** The source of a url upload: an HTTP GET whose every hop is checked against the network rules. */
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import type net from 'node:net';
import type { Readable } from 'node:stream';
import { waitFor } from '../base/deadline.js';
import { GatewayError, type GatewayErrorDetails, hasCode, refusal } from '../base/errors.js';
import { limitOverhead } from '../base/http-overhead.js';
import { refuseUpgrade, USER_AGENT } from '../base/short-request.js';
import { proofOf } from '../remotes/certificate-proof.js';
import type { Dialer } from '../remotes/dial/dial.js';
import type { ServerProof } from '../remotes/remote.js';
import { nameFromDisposition, nameFromUrl } from './names.js';

interface FetchedUrl {
  /** Ends only when complete; destroyed with fetch_failed otherwise. */
  readonly body: Readable;
  readonly size: number | undefined;
  /** Bytes that have arrived so far. */
  readonly received: () => number;
  /** From Content-Disposition, or from the last URL's path; undefined if neither has one. */
  readonly filename: string | undefined;
  /** `host:port` of the sender, after redirects, and its proof of identity. */
  readonly host: string;
  readonly proof: ServerProof;
}

interface UrlFetcherOptions {
  readonly dialer: Dialer;
  readonly connectTimeoutMs: number;
  readonly stallTimeoutMs: number;
}

type Fields = Readonly<Record<string, string>>;

interface Asked {
  readonly owner: string;
  readonly signal: AbortSignal;
  /** Errors contain only its origin: people other than the caller will read them. */
  readonly isSecret?: boolean;
}

export interface UrlFetcher {
  /** `owner`: the account; `headers` go to every hop. Errors: bad_request, address_denied, fetch_failed, connect_timeout, stall_timeout, unreachable, dns_failed. */
  fetch(url: URL, asked: Asked, headers?: Fields): Promise<FetchedUrl>;
  /** Whether the rules allow to fetch it now, without asking its server. Errors: address_denied */
  check(url: URL, asked: Asked): Promise<void>;
  /** Cuts running requests. */
  close(): void;
}

const MAX_REDIRECTS = 5;
/** Informational answers before the answer's head. */
const MAX_INTERIM_ANSWERS = 32;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Statuses of temporary refusals: 408, 425 and 429. */
const PASSING_STATUS = new Set([408, 425, 429]);
const COMPRESSED_NAME = /\.(gz|tgz|svgz|z|br|bz2|tbz2?|xz|txz|zst|lz4?|zip)$/i;

/** @throws GatewayError bad_request */
export function parseHttpUrl(text: string, field: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    throw refusal('bad_request', `${field} must be an http or https URL`);
  }
  return url;
}

export function createUrlFetcher({ dialer, connectTimeoutMs, stallTimeoutMs }: UrlFetcherOptions): UrlFetcher {
  const sockets = new Set<net.Socket>();

  const optionsOf = ({ owner, signal }: Asked) =>
    ({ purpose: 'url', owner, signal, timeoutMs: connectTimeoutMs }) as const;

  // A separate socket for each request: no kept-alive socket can turn out dead, no request waits in an agent's queue
  // without a deadline, and dialling ends with the upload. The uploads themselves bound the number.
  async function dial(url: URL, asked: Asked): Promise<net.Socket> {
    const { isSecure, host, port } = placeOf(url);
    const options = optionsOf(asked);
    const socket = await (isSecure ? dialer.connectTls(host, port, options) : dialer.connect(host, port, options));
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  }

  async function get(url: URL, asked: Asked, more: Fields): Promise<IncomingMessage> {
    const { signal } = asked;
    const failures = failuresOf(url, asked);
    const headers = {
      'user-agent': USER_AGENT,
      accept: '*/*',
      'accept-encoding': 'identity',
      ...basicAuth(url),
      ...more,
    };
    const socket = await dial(url, asked);
    // A limit for the whole head: informational answers and bytes that arrive one by one do not extend it.
    const late = (): GatewayError => failures.stalled(stallTimeoutMs);
    return waitFor({ ms: stallTimeoutMs, late }, (resolve, reject) => {
      const request = http.request({
        createConnection: () => socket,
        method: 'GET',
        host: url.hostname,
        path: `${url.pathname}${url.search}`,
        signal,
        headers: { host: url.host, connection: 'close', ...headers },
      });
      let response: IncomingMessage | undefined;
      limitOverhead(request, failures.failed);
      let interim = 0;
      request.on('information', () => {
        if (++interim > MAX_INTERIM_ANSWERS) request.destroy(failures.failed('it answers 1xx without end'));
      });
      // Not by the request, which hears its socket's time-out only once.
      const silent = (): void => {
        // There are unread bytes: the reader is slow, not the server.
        if (response !== undefined && response.readableLength > 0) socket.setTimeout(stallTimeoutMs);
        else (response ?? request).destroy(failures.stalled(stallTimeoutMs));
      };
      socket.setTimeout(stallTimeoutMs).on('timeout', silent);
      request.once('close', () => socket.off('timeout', silent));
      request.once('response', (message) => resolve((response = wholeOnly(message, failures, signal))));
      request.on('error', (error) => reject(fetchError(failures, error, signal)));
      refuseUpgrade(request, (error) => reject(fetchError(failures, error, signal)));
      request.end();
      return (error) => {
        if (error !== undefined) request.destroy();
      };
    });
  }

  async function follow(start: URL, asked: Asked, headers: Fields): Promise<{ url: URL; response: IncomingMessage }> {
    let url = start;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const response = await get(url, asked, headers);
      const status = response.statusCode ?? 0;
      const { location } = response.headers;
      if (!REDIRECTS.has(status) || location === undefined) return { url, response };
      response.destroy();
      if (!URL.canParse(location, url.href)) {
        throw failuresOf(url, asked).failed('it redirects to something that is no URL');
      }
      url = parseHttpUrl(new URL(location, url.href).href, 'the redirect target of url');
    }
    throw failuresOf(start, asked).failed(`it redirects more than ${MAX_REDIRECTS} times`);
  }

  return {
    async fetch(start, asked, headers = {}) {
      const { url, response } = await follow(start, asked, headers);
      const status = response.statusCode ?? 0;
      const refuse = (text: string, passes = false): GatewayError => {
        response.destroy();
        return failuresOf(start, asked).failed(text, { passes });
      };
      if (status < 200 || status > 299) {
        const passes = status >= 500 || PASSING_STATUS.has(status);
        throw refuse(`the server answered ${status} ${response.statusMessage ?? ''}`.trim(), passes);
      }
      if (status === 206) throw refuse('the server answered 206, a part of the file only');
      const filename = nameFromDisposition(response.headers['content-disposition']) ?? nameFromUrl(url);
      const encoding = response.headers['content-encoding'];
      // Stored as sent, like curl without --compressed. Compressed bytes are accepted only under a name that says so:
      // some servers label every .gz file this way.
      if (encoding !== undefined && encoding !== 'identity' && !COMPRESSED_NAME.test(filename ?? '')) {
        throw refuse(`the server sent it encoded (${encoding.slice(0, 40)}) although identity was asked for`);
      }
      const length = response.headers['content-length'];
      return {
        body: response,
        received: () => response.socket.bytesRead,
        size: length === undefined ? undefined : Number(length),
        filename,
        host: `${url.hostname}:${placeOf(url).port}`,
        proof: proofOf(response.socket),
      };
    },
    async check(url, asked) {
      const { host, port } = placeOf(url);
      try {
        await dialer.check(host, port, optionsOf(asked));
      } catch (error) {
        // A name that cannot be resolved now may be later; the fetch checks the result again.
        if (!hasCode(error, 'dns_failed', 'connect_timeout')) throw error;
      }
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** node:http destroys a short body with ECONNRESET; this translates it to an error of the catalogue. */
function wholeOnly(response: IncomingMessage, failures: Failures, signal: AbortSignal): IncomingMessage {
  const destroy = response.destroy.bind(response);
  response.destroy = (error) =>
    destroy(error === undefined || error instanceof GatewayError ? error : cut(failures, error, signal));
  // Between the head and the pump nothing else listens.
  response.on('error', () => undefined);
  return response;
}

function cut({ failed }: Failures, cause: Error, signal: AbortSignal): Error {
  return signal.aborted ? (signal.reason as Error) : failed('the server cut the transfer', { cause, passes: true });
}

function basicAuth(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const login = `${decoded(url.username)}:${decoded(url.password)}`;
  return { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function fetchError({ failed }: Failures, error: Error, signal: AbortSignal): GatewayError {
  if (signal.aborted && signal.reason instanceof GatewayError) return signal.reason;
  if (error instanceof GatewayError) return error;
  return failed('the server cannot be spoken to', { cause: error, passes: true });
}

function placeOf(url: URL): { readonly isSecure: boolean; readonly host: string; readonly port: number } {
  const isSecure = url.protocol === 'https:';
  const port = Number(url.port === '' ? (isSecure ? 443 : 80) : url.port);
  return { isSecure, host: url.hostname.replace(/^\[|\]$/g, ''), port };
}

type Failures = ReturnType<typeof failuresOf>;

/** Query and user info may contain secrets; an error contains only origin and path. */
function failuresOf({ origin, pathname }: URL, { isSecret = false }: Pick<Asked, 'isSecret'>) {
  const name = `url ${origin}${isSecret ? '' : pathname}`;
  return {
    failed: (text: string, more: Pick<GatewayErrorDetails, 'cause' | 'passes'> = {}) =>
      new GatewayError('fetch_failed', `${name}: ${text}`, { step: 'fetch', ...more }),
    stalled: (ms: number) => new GatewayError('stall_timeout', `${name}: no byte came for ${ms} ms`, { step: 'fetch' }),
  };
}
