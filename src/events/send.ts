/** One POST to one receiver, over a socket that went through the network rules. */
import { createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { withDeadline } from '../base/deadline.js';
import { GatewayError, refusal, toGatewayError } from '../base/errors.js';
import { hasReadableLogin } from '../base/formats.js';
import { refuseUpgrade, USER_AGENT } from '../base/short-request.js';
import type { Dialer, OwnedRequest } from '../remotes/dial/dial.js';

const SECRET_PREFIX = 'whsec_';

/** The value of `webhook-signature`: one signature for each secret, so that receivers can change their secret at any time. */
export function signatures(secrets: readonly string[], id: string, timestamp: number, body: string): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}

interface SenderOptions {
  readonly dialer: Pick<Dialer, 'agents'>;
  /** For the whole attempt: connecting, sending, receiving the head of the answer. */
  readonly timeoutMs: number;
  readonly requireHttps: boolean;
}

/** A receiver's answer. */
export interface ReceiverAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The header fields in their order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The first 4 KiB of the answer as text. */
  readonly answer: string;
}

interface Asked {
  /** The account. */
  readonly owner: string;
  readonly signal: AbortSignal;
}

export interface Sender {
  /** Errors: address_denied, dns_failed, unreachable, connect_timeout, stall_timeout, certificate_rejected. */
  send(url: string, headers: Readonly<Record<string, string>>, body: string, asked: Asked): Promise<ReceiverAnswer>;
  close(): void;
}

/** The receiver closed a kept connection in the moment in which it was used again: the message was not refused. */
class ClosedAtRest extends Error {}

const ANSWER_BYTES = 4096;
const MAX_SOCKETS = 64;
const IDLE_MS = 15_000;

export function createSender({ dialer, timeoutMs, requireHttps }: SenderOptions): Sender {
  const agents = dialer.agents({
    purpose: 'webhook',
    owner: '',
    maxSockets: MAX_SOCKETS,
    connectTimeoutMs: timeoutMs,
    idleTimeoutMs: IDLE_MS,
  });

  async function send(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    { owner, signal }: Asked,
  ): Promise<ReceiverAnswer> {
    const target = parseWebhookUrl(url, requireHttps);
    const late = (): GatewayError => tooSlow(target, timeoutMs);
    try {
      return await withDeadline({ signal, ms: timeoutMs, late }, (limited) =>
        postOnLive(target, headers, body, { owner, signal: limited.signal }),
      );
    } catch (error) {
      if (signal.aborted || error instanceof GatewayError) throw error;
      throw new GatewayError('unreachable', `${target.origin} cannot be spoken to: ${toGatewayError(error).message}`, {
        step: 'transfer',
        cause: error,
      });
    }
  }

  /** Each connection that was closed while it rested leaves the agent: a new one follows the last of them. */
  async function postOnLive(...call: Parameters<typeof post>): Promise<ReceiverAnswer> {
    for (;;) {
      try {
        return await post(...call);
      } catch (error) {
        if (!(error instanceof ClosedAtRest)) throw error;
      }
    }
  }

  function post(target: URL, headers: Readonly<Record<string, string>>, body: string, { owner, signal }: Asked) {
    const owned: OwnedRequest = { owner };
    return new Promise<ReceiverAnswer>((resolve, reject) => {
      const secure = target.protocol === 'https:';
      const request = (secure ? https : http).request(target, {
        method: 'POST',
        agent: secure ? agents.https : agents.http,
        signal,
        ...owned,
        headers: requestHeaders(target, headers, body),
      });
      request.once('error', (error: NodeJS.ErrnoException) => {
        const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE';
        reject(request.reusedSocket && isClosed ? new ClosedAtRest() : error);
      });
      refuseUpgrade(request, reject);
      request.once('response', (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        const done = (): void => {
          const answer = Buffer.concat(chunks).subarray(0, ANSWER_BYTES).toString('utf8');
          const { statusCode: status = 0, rawHeaders } = response;
          resolve({ status, retryAfter: response.headers['retry-after'], headers: pairsOf(rawHeaders), answer });
        };
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes < ANSWER_BYTES) return;
          // The rest of a long answer is not read.
          done();
          response.destroy();
        });
        response.once('end', done);
        // The status has arrived: an answer that breaks off later counts as well.
        response.once('error', done);
        response.once('close', done);
      });
      request.end(body);
    });
  }

  return {
    send,
    close: () => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** All header fields of a request except those of the connection. */
export function requestHeaders(
  target: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
): Record<string, string> {
  return {
    host: target.host,
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': USER_AGENT,
    ...basicAuth(target),
    ...headers,
  };
}

/** Pairs of the alternating names and values of Node.js. */
function pairsOf(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length >> 1 }, (_, index) => [raw[2 * index] ?? '', raw[2 * index + 1] ?? '']);
}

/** @throws GatewayError bad_request */
export function parseWebhookUrl(text: string, requireHttps: boolean, field = 'webhookUrl'): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const allowed = requireHttps ? ['https:'] : ['https:', 'http:'];
  if (url !== undefined && !hasReadableLogin(url)) throw unreadableLogin(field);
  if (url !== undefined && allowed.includes(url.protocol) && url.hostname !== '') return url;
  throw refusal('bad_request', `${field} must be an ${requireHttps ? 'https' : 'http or https'} URL`);
}

function unreadableLogin(field: string): GatewayError {
  return refusal('bad_request', `${field}: the login before the @ holds a malformed percent-encoding`);
}

function basicAuth(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
}

function tooSlow(url: URL, ms: number): GatewayError {
  return new GatewayError('stall_timeout', `${url.origin} did not answer within ${ms} ms`, { step: 'transfer' });
}
