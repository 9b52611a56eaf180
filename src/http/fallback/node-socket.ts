/**
 * One request of node:http, behind the seam of front-end.ts. Its parser is the strict one; what it accepts and
 * uWebSockets.js does not is refused here or in node-front-end.ts, so that both accept the same requests.
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ResponseSink, SinkEvents } from '../answer-writer.js';
import type { AnswerHead, ClientSocket, RequestHead } from '../front-end.js';
import { NodeSink } from './node-sink.js';

/** Milliseconds after which a client that continues to send after `Connection: close` is disconnected. */
const LINGER_MS = 5_000;
/** A client that reads nothing of a whole answer is cut after this, or after twice as long. */
const UNREAD_MS = 5_000;
/** Bytes that are dropped of an unwanted body; the rest waits, unread, for the client to close. */
const LINGER_BYTES = 1024 * 1024;
const NOTHING = Buffer.alloc(0);

export class NodeSocket implements ClientSocket {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  #awaitsContinue: boolean;
  readonly #keepAliveSeconds: number;
  readonly head: RequestHead;
  #isAnswered = false;

  /** `awaitsContinue`: the client sends its body after the answer 100 (Expect: 100-continue). */
  constructor(req: IncomingMessage, res: ServerResponse, awaitsContinue: boolean, keepAliveSeconds: number) {
    this.#req = req;
    this.#res = res;
    this.#awaitsContinue = awaitsContinue;
    this.#keepAliveSeconds = keepAliveSeconds;

    this.head = copyHead(req);
    for (const stream of [req, res]) stream.on('error', () => undefined);
  }

  get hasWholeRequest(): boolean {
    return this.#req.complete;
  }

  /** Whether another request on this connection may begin. */
  get mayBeFollowed(): boolean {
    return this.#isAnswered;
  }

  onAborted(aborted: () => void): void {
    this.#res.once('close', aborted);
  }

  onBody(accept: (chunk: Buffer, isLast: boolean, isLent: boolean) => void): void {
    this.#req.on('data', (chunk: Buffer) => accept(chunk, false, false));
    // Trailer fields have been read to their end, with the same bound as a head, and are dropped.
    this.#req.once('end', () => accept(NOTHING, true, false));
    this.#req.pause();
  }

  pause(): void {
    this.#req.pause();
  }

  resume(): void {
    if (this.#awaitsContinue && !this.#res.headersSent) this.#res.writeContinue();
    this.#awaitsContinue = false;
    this.#req.resume();
  }

  keepAlive(): void {
    // No timer of node:http runs during a request.
  }

  sendHead(head: AnswerHead, length: number | undefined): void {
    this.#writeHead(head, length);
    this.#res.end();
    this.#answered();
  }

  sendWhole(head: AnswerHead, bytes: string | Uint8Array): void {
    const length = Buffer.byteLength(bytes);
    this.#writeHead(head, length);
    // A string is written together with the head, in one encoding for both, and the head is Latin-1.
    if (typeof bytes === 'string' && length === bytes.length) this.#res.end(bytes, 'latin1');
    else this.#res.end(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
    this.#answered();
  }

  openSink(head: AnswerHead, length: number | undefined, events: SinkEvents): ResponseSink {
    return new NodeSink(this.#res, () => this.#writeHead(head, length), {
      drained: () => events.drained(),
      finished: () => {
        this.#answered();
        events.finished();
      },
    });
  }

  close(): void {
    this.#req.socket.destroy();
  }

  #answered(): void {
    this.#isAnswered = true;
    // A client that never reads would keep it for ever. Once the answer has been sent, the keep-alive time applies.
    this.#req.socket.setTimeout(UNREAD_MS);
  }

  #writeHead({ status, fields, persistence }: AnswerHead, length: number | undefined): void {
    const req = this.#req;
    const res = this.#res;
    const lines = [...fields];
    if (length !== undefined) lines.push('Content-Length', String(length));
    if (persistence === 'keep' && res.shouldKeepAlive) lines.push('Keep-Alive', `timeout=${this.#keepAliveSeconds}`);
    else lines.push('Connection', 'close');
    // Otherwise node:http adds its own value.
    res.removeHeader('Connection');
    res.writeHead(status, STATUS_CODES[status] ?? '', lines);
    if (persistence !== 'unread') return;
    let discarded = 0;
    req.socket.destroySoon = () => {
      linger(req.socket);
      req.on('data', (chunk: Buffer) => {
        discarded += chunk.length;
        if (discarded > LINGER_BYTES) req.pause();
      });
      req.resume();
    };
  }
}

/**
 * Ends a connection after what was written. Closing at once would reset it while its client still sends, and the reset
 * can overtake the answer.
 */
export function linger(socket: Socket): void {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

function copyHead(req: IncomingMessage): RequestHead {
  const target = text(req.url ?? '');
  const end = target.indexOf('?');
  const headers = new Map<string, string>();
  const repeated = new Set<string>();
  // Not req.headers, which drops repeated fields.
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const name = (req.rawHeaders[index] ?? '').toLowerCase();
    const value = text(req.rawHeaders[index + 1] ?? '');
    const former = headers.get(name);
    if (former !== undefined) repeated.add(name);
    headers.set(name, former === undefined ? value : `${former}, ${value}`);
  }
  return {
    method: (req.method ?? '').toUpperCase(),
    path: end < 0 ? target : target.slice(0, end),
    query: end < 0 ? '' : target.slice(end + 1),
    headers,
    repeated,
    peer: { address: addressText(req.socket.remoteAddress ?? ''), port: req.socket.remotePort ?? 0 },
  };
}

/** Bytes of a head are UTF-8; node:http takes them for Latin-1. */
function text(latin1: string): string {
  return /[\u0080-\u00ff]/.test(latin1) ? Buffer.from(latin1, 'latin1').toString() : latin1;
}

function addressText(address: string): string {
  return address.includes(':') && ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}
