import { NodeHttpHandler } from '@smithy/node-http-handler';
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, Readable, Transform } from 'node:stream';
import { orAbort } from '../../../base/deadline.js';
import { GatewayError } from '../../../base/errors.js';
import { proofOf } from '../../certificate-proof.js';
import type { ServerProof } from '../../remote.js';

/** The SDK builds this text again for every call. No signature covers it. */
export const USER_AGENT = 'file-transfer-gateway';
/** Answers of this size are parsed in well under a millisecond. */
const SHORT_ANSWER_BYTES = 16 * 1024;

/** An option of a call whose request was sent already (signed-requests.ts): its answer. */
export interface AnsweredCall {
  readonly answered?: IncomingMessage;
}

/** The proof of identity in the store's last answer. */
export interface Seen {
  proof: ServerProof;
  /** The socket that the answer came on. */
  socket?: Socket;
}

/** An option of a call. */
export interface Witnessed {
  readonly seen?: Seen;
}

interface Ended {
  readonly abortSignal?: AbortSignal;
}

/** A store that changes the protocol (101) closes the request, and NodeHttpHandler does not hear the signal any more. */
function ended<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return signal === undefined ? work : orAbort(work, signal);
}

type Handled = Awaited<ReturnType<NodeHttpHandler['handle']>>;

/**
 * The SDK reads every answer except an object's content into memory, regardless of its length, and parses it at once.
 * This handler stops an endless answer, and lets only one long answer be parsed in a turn of the event loop: a page of
 * 500 keys takes 8 ms.
 */
export class BoundedHandler extends NodeHttpHandler {
  override async handle(
    ...[request, options]: Parameters<NodeHttpHandler['handle']>
  ): ReturnType<NodeHttpHandler['handle']> {
    request.headers['user-agent'] = USER_AGENT;
    const { answered, seen, abortSignal } = (options ?? {}) as AnsweredCall & Witnessed & Ended;
    const result =
      answered === undefined
        ? await ended(super.handle(request, options), abortSignal)
        : { response: responseOf(answered) };
    const { response } = result;
    if (seen !== undefined && response.body instanceof IncomingMessage) {
      seen.socket = response.body.socket;
      seen.proof = proofOf(seen.socket);
    }
    const isContent = request.query['x-id'] === 'GetObject' && response.statusCode < 300;
    // The length in a HEAD answer belongs to a body that is not sent.
    const isShort = request.method === 'HEAD' || Number(response.headers['content-length']) <= SHORT_ANSWER_BYTES;
    if (!isContent && !isShort && response.body instanceof Readable) response.body = bounded(response.body);
    return result;
  }
}

/** The response in the form of NodeHttpHandler. */
function responseOf(answer: IncomingMessage): Handled['response'] {
  const headers: Record<string, string> = {};
  for (const [name, value = ''] of Object.entries(answer.headers)) headers[name] = String(value);
  return { statusCode: answer.statusCode ?? -1, headers, body: answer };
}

function bounded(body: Readable): Readable {
  const bounds = new AnswerBounds();
  const meter = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      try {
        bounds.add(chunk);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
    flush: (done) => (bounds.bytes > SHORT_ANSWER_BYTES ? turns.take(done) : done()),
  });
  // Errors of either stream reach the other; the SDK gets them from the meter.
  return pipeline(body, meter, () => undefined);
}

/** Calls one listener in each turn of the event loop, in the order of the requests. */
class CallTurns {
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;

  take(listener: () => void): void {
    this.#waiting.push(listener);
    if (this.#isBusy) return;
    this.#isBusy = true;
    setImmediate(() => this.#next());
  }

  #next(): void {
    const listener = this.#waiting.shift();
    this.#isBusy = listener !== undefined;
    if (listener === undefined) return;
    setImmediate(() => this.#next());
    listener();
  }
}

/** One for this event loop, shared by all clients. */
const turns = new CallTurns();

/** A page of 1,000 keys, the most that stores return, each of 1,024 bytes and percent-encoded. */
const MAX_BYTES = 3_500_000;
/** Such a page has some 22,000 tags of 250 kB in total, and 2,000 references. */
const MAX_TAGS = 25_000;
const MAX_TAG_BYTES = 400 << 10;
const MAX_REFERENCES = 10_000;

const OPEN = 0x3c;
const CLOSE = 0x3e;
const REFERENCE = 0x26;

/**
 * Bounds the work of parsing an answer, which happens at once: some 50 ms. Tags and references cost many times as much
 * as text of their length.
 */
class AnswerBounds {
  #bytes = 0;
  #tags = 0;
  #tagBytes = 0;
  #references = 0;
  #isInTag = false;

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws GatewayError protocol_error */
  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BYTES) throw tooLong(`${MAX_BYTES} bytes`);
    this.#addTags(chunk);
    for (let at = chunk.indexOf(REFERENCE); at !== -1; at = chunk.indexOf(REFERENCE, at + 1)) {
      if (++this.#references > MAX_REFERENCES) throw tooLong(`${MAX_REFERENCES} references`);
    }
  }

  #addTags(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      const found = chunk.indexOf(this.#isInTag ? CLOSE : OPEN, at);
      const end = found === -1 ? chunk.length : found;
      if (this.#isInTag) this.#tagBytes += end - at;
      else if (found !== -1) this.#tags += 1;
      if (this.#tags > MAX_TAGS) throw tooLong(`${MAX_TAGS} tags`);
      if (this.#tagBytes > MAX_TAG_BYTES) throw tooLong(`${MAX_TAG_BYTES} bytes of tags`);
      if (found === -1) return;
      this.#isInTag = !this.#isInTag;
      at = found + 1;
    }
  }
}

function tooLong(what: string): GatewayError {
  const text = `the store answered with more than ${what} where a short answer belongs`;
  return new GatewayError('protocol_error', text, { step: 'transfer' });
}
