/** Requests over HTTP whose answers are short: to services that issue keys and keep secrets. */
import http from 'node:http';
import https from 'node:https';
import { onAbort } from './deadline.js';
import type { EndSignal } from './ending.js';
import { limitOverhead } from './http-overhead.js';

/** Sent with webhooks, and with requests for the URL of an upload. */
export const USER_AGENT = 'file-transfer-gateway/1.0';

/** The sockets of requests, by protocol. */
export interface Agents {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

interface ShortRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: http.OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  readonly maxAnswerBytes: number;
  readonly limit: EndSignal;
  /** Absent: sockets of the operator, which no network rules hold back. */
  readonly agents?: Agents;
}

export interface ShortAnswer {
  readonly status: number;
  readonly text: string;
}

/** The answer is longer than it may be. */
export class TooLong extends Error {}

/**
 * Calls `fail` if the server changes the protocol, which nothing asked for. Without this, node:http would close the
 * request without an answer or an error, and no deadline could end the wait.
 */
export function refuseUpgrade(request: http.ClientRequest, fail: (error: Error) => void): void {
  request.once('upgrade', (_answer, socket) => {
    socket.destroy();
    fail(Object.assign(new Error('the server changes the protocol (101)'), { code: 'HPE_PAUSED_UPGRADE' }));
  });
}

/** Follows no redirect: that would send a token elsewhere. @throws TooLong, or the error of the socket */
export function shortRequest(url: URL, request: ShortRequest): Promise<ShortAnswer> {
  const { method, headers, body = '', maxAnswerBytes, limit, agents } = request;
  const isSecure = url.protocol === 'https:';
  const agent = agents === undefined ? {} : { agent: isSecure ? agents.https : agents.http };
  const length = method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) };
  return new Promise((done, fail) => {
    const sent = (isSecure ? https : http).request({
      method,
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port,
      path: url.pathname + url.search,
      // Rare requests: a kept socket would often be closed by the next one.
      headers: { ...headers, ...length, host: url.host, connection: 'close' },
      ...agent,
    });
    sent.once(
      'close',
      onAbort(limit, (reason) => sent.destroy(reason)),
    );
    sent.on('error', fail);
    refuseUpgrade(sent, fail);
    // The agents of the dialer do that themselves.
    if (agents === undefined) limitOverhead(sent);
    sent.once('response', (answer) => {
      textOf(answer, maxAnswerBytes).then((text) => done({ status: answer.statusCode ?? 0, text }), fail);
    });
    sent.end(body);
  });
}

/** @throws TooLong, or the error of the socket */
export async function textOf(answer: http.IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new TooLong(`the answer has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
