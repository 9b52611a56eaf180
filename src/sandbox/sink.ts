/**
 * Receives webhooks and answers according to the path: with a status, late, or never; keeps the last requests for
 * display. It listens on loopback only. Bodies, requests and connections are bounded; nothing is written to a disk.
 */
import { systemCodeOf } from '../base/errors.js';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const KEPT_REQUESTS = 50;
const KEPT_BODY_BYTES = 64 * 1024;
/** Longer bodies are cut. */
const MOST_BODY_BYTES = 1024 * 1024;
const MOST_CONNECTIONS = 64;
const MOST_LATE_SECONDS = 60;
/** A client of the path that never answers is cut after this time. */
const NEVER_MS = 120_000;
const RETRY_AFTER_SECONDS = '5';

interface ReceivedRequest {
  readonly receivedAt: string;
  /** Includes the slash before it. */
  readonly path: string;
  /** null = no answer was sent, or none yet. */
  readonly status: number | null;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body, as text. */
  readonly body: string;
  readonly bodyBytes: number;
}

/** The sandbox for the rest of the gateway, on any of its threads. */
export interface SandboxPart {
  /** The one account that may use it. */
  readonly accountId: string;
  readonly receiver: { readonly address: string; readonly port: number };
  /** Newest first. */
  received(): Promise<readonly ReceivedRequest[]>;
}

interface WebhookSink {
  readonly port: number;
  /** Newest first. */
  received(): readonly ReceivedRequest[];
  close(): Promise<void>;
}

/** The paths and their behaviour. */
export const SINK_PATHS: Readonly<Record<string, string>> = {
  '/200': 'takes the event; any status from 200 to 599 is possible',
  '/500': 'fails: the gateway tries again, after the waits of webhooks.retryMs',
  '/503': 'asks for a pause: the answer has Retry-After',
  '/410': 'wants no more: the gateway switches the webhook off',
  '/late-20s': `answers 200 after so many seconds, ${MOST_LATE_SECONDS} at most`,
  '/never': 'takes the request and never answers',
};

type Answer = { readonly status: number; readonly afterMs: number } | 'never' | undefined;

function answerOf(path: string): Answer {
  if (path === '/never') return 'never';
  const seconds = /^\/late-(\d{1,2})s$/.exec(path)?.[1];
  if (seconds !== undefined && Number(seconds) <= MOST_LATE_SECONDS)
    return { status: 200, afterMs: Number(seconds) * 1_000 };
  const status = /^\/([2-5]\d\d)$/.exec(path)?.[1];
  return status === undefined ? undefined : { status: Number(status), afterMs: 0 };
}

/** `port`: tried first; any other one if it is taken, or if it is 0. */
export async function startSink(host: string, port: number): Promise<WebhookSink> {
  const kept: { -readonly [Field in keyof ReceivedRequest]: ReceivedRequest[Field] }[] = [];

  async function receive(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const path = request.url ?? '/';
    const chunks: Buffer[] = [];
    let bodyBytes = 0;
    let keptBytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bodyBytes += chunk.length;
      if (bodyBytes > MOST_BODY_BYTES) return void request.destroy();
      if (keptBytes < KEPT_BODY_BYTES) chunks.push(chunk.subarray(0, KEPT_BODY_BYTES - keptBytes));
      keptBytes = Math.min(bodyBytes, KEPT_BODY_BYTES);
    }
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
    );
    const noted: (typeof kept)[number] = {
      receivedAt: new Date().toISOString(),
      path,
      status: null,
      headers,
      bodyBytes,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    kept.unshift(noted);
    kept.length = Math.min(kept.length, KEPT_REQUESTS);
    const answer = answerOf(path) ?? { status: 404, afterMs: 0 };
    const isSilent = answer === 'never';
    const timer = setTimeout(
      () => {
        if (isSilent) return void request.destroy();
        noted.status = answer.status;
        // Not kept alive: no other account's webhook may use a connection that was allowed to one account.
        const retry = answer.status === 429 || answer.status === 503 ? { 'Retry-After': RETRY_AFTER_SECONDS } : {};
        response.writeHead(answer.status, { Connection: 'close', ...retry }).end();
      },
      isSilent ? NEVER_MS : answer.afterMs,
    ).unref();
    response.once('close', () => clearTimeout(timer));
  }

  const server = http.createServer((request, response) => {
    // A client that leaves half way is not an error.
    receive(request, response).catch(() => request.destroy());
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.requestTimeout = NEVER_MS;
  await listenAt(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    received: () => kept,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listenAt(server: http.Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    if (port === 0 || systemCodeOf(error) !== 'EADDRINUSE') throw error;
    await listenAt(server, host, 0);
  }
}
