/**
 * One request of uWebSockets.js, behind the seam of front-end.ts; this folder is the only place that knows it.
 *
 * | native value            | lives                          | what we do                                              |
 * | ----------------------- | ------------------------------ | ------------------------------------------------------- |
 * | HttpRequest             | the synchronous handler        | copied before anything else                             |
 * | chunk of onData         | the callback                   | lent: code that keeps it copies it                      |
 * | HttpResponse            | until answered or onAborted    | the exchange guards every use; a use after it throws    |
 * | pause()                 | does not stop a running read   | the receive buffer bounds it (receive-buffer.ts)        |
 * | its own 10 s timers     | cut slow uploads, slow readers | pause + resume re-arms them; our own limits decide      |
 * | an exception in a callback | no answer is sent           | the exchange wraps every callback                       |
 * | an argument that is undefined | counts as given          | endWithoutBody() is called without any                  |
 */
import { STATUS_CODES } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { ResponseSink, SinkEvents } from '../answer-writer.js';
import { type AnswerHead, type ClientSocket, type Persistence, type RequestHead } from '../front-end.js';
import type { Peer } from '../peers.js';
import { UwsSink } from './uws-sink.js';

export class UwsSocket implements ClientSocket {
  readonly #res: HttpResponse;
  readonly #keepAliveSeconds: number;
  readonly head: RequestHead;
  /** Arrived bytes are passed on at once. */
  readonly hasWholeRequest = false;

  constructor(res: HttpResponse, req: HttpRequest, keepAliveSeconds: number) {
    this.#res = res;
    this.#keepAliveSeconds = keepAliveSeconds;

    this.head = {
      method: req.getCaseSensitiveMethod(),
      path: req.getUrl(),
      // Undefined if there is none, although the type does not say so.
      query: req.getQuery() || '',
      ...copyHeaders(req),
      peer: peerOf(res),
    };
  }

  onAborted(aborted: () => void): void {
    this.#res.onAborted(aborted);
  }

  onBody(accept: (chunk: Buffer, isLast: boolean, isLent: boolean) => void): void {
    this.#res.onData((chunk, isLast) => accept(Buffer.from(chunk), isLast, true));
    this.#res.pause();
  }

  pause(): void {
    this.#res.pause();
  }

  resume(): void {
    this.#res.resume();
  }

  keepAlive(): void {
    this.#res.pause();
    this.#res.resume();
  }

  sendHead(head: AnswerHead, length: number | undefined): void {
    if (head.persistence === 'unread') this.#res.pause();
    this.#res.cork(() => {
      this.#writeHead(head);
      if (length !== undefined) this.#res.writeHeader('Content-Length', String(length));
      this.#writePersistence(head.persistence);
      // Called without an argument: here even undefined counts as a length.
      this.#res.endWithoutBody();
    });
  }

  /**
   * A client that still sends is asked to close; its socket stays paused, and the native timer ends it 10 s later if it
   * does not.
   */
  sendWhole(head: AnswerHead, bytes: string | Uint8Array): void {
    const { persistence } = head;
    if (persistence === 'unread') this.#res.pause();
    this.#res.cork(() => {
      this.#writeHead(head);
      // The native server announces the close itself.
      if (persistence !== 'close') this.#writePersistence(persistence);
      this.#res.end(bytes, persistence === 'close');
    });
  }

  openSink(head: AnswerHead, length: number | undefined, events: SinkEvents): ResponseSink {
    const writeHead = (): void => {
      this.#writeHead(head);
      this.#writePersistence(head.persistence);
    };
    return new UwsSink(this.#res, length, writeHead, events);
  }

  close(): void {
    this.#res.close();
  }

  #writeHead({ status, fields }: AnswerHead): void {
    this.#res.writeStatus(`${status} ${STATUS_CODES[status] ?? ''}`);
    for (let index = 0; index < fields.length; index += 2) {
      this.#res.writeHeader(fields[index] ?? '', latin1(fields[index + 1] ?? ''));
    }
  }

  /** The native server closes idle connections after 8 to 12 s. */
  #writePersistence(persistence: Persistence): void {
    if (persistence === 'keep') this.#res.writeHeader('Keep-Alive', `timeout=${this.#keepAliveSeconds}`);
    else this.#res.writeHeader('Connection', 'close');
  }
}

/** A string would be sent as UTF-8. */
function latin1(value: string): string | Uint8Array {
  return /[\u0080-\u00ff]/.test(value) ? Buffer.from(value, 'latin1') : value;
}

const NONE: ReadonlySet<string> = new Set();

function copyHeaders(req: HttpRequest): Pick<RequestHead, 'headers' | 'repeated'> {
  const headers = new Map<string, string>();
  let repeated: Set<string> | undefined;
  req.forEach((name, value) => {
    const former = headers.get(name);
    if (former !== undefined) (repeated ??= new Set()).add(name);
    headers.set(name, former === undefined ? value : `${former}, ${value}`);
  });
  return { headers, repeated: repeated ?? NONE };
}

/** The older build does not report the port. */
function peerOf(res: HttpResponse & { getRemotePort?: () => number }): Peer {
  const address = addressText(res);
  return res.getRemotePort === undefined ? { address } : { address, port: res.getRemotePort() };
}

/** For an open connection. */
export function addressText(res: HttpResponse): string {
  const text = Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
  return text.includes(':') && ipaddr.isValid(text) ? ipaddr.process(text).toString() : text;
}
