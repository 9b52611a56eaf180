import { NodeHttpHandler } from '@smithy/node-http-handler';
import { pipeline, Readable, Transform } from 'node:stream';
import { GatewayError } from '../../errors.js';

/** Twice a page of 1,000 keys, the most that stores give, each of 1,024 bytes and percent-encoded. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** What is parsed in well under a millisecond. */
const SHORT_ANSWER_BYTES = 16 * 1024;

/**
 * The SDK reads every answer but an object's content into memory, whatever its length, and parses it in one piece. This
 * one stops an answer without end, and lets only one long answer be parsed in a turn of the event loop: a page of 500
 * keys takes 8 ms.
 */
export class BoundedHandler extends NodeHttpHandler {
  override async handle(
    ...[request, options]: Parameters<NodeHttpHandler['handle']>
  ): ReturnType<NodeHttpHandler['handle']> {
    const result = await super.handle(request, options);
    const { response } = result;
    const isContent = request.query['x-id'] === 'GetObject' && response.statusCode < 300;
    // What HEAD tells is the length of a body that does not come.
    const isShort = request.method === 'HEAD' || Number(response.headers['content-length']) <= SHORT_ANSWER_BYTES;
    if (!isContent && !isShort && response.body instanceof Readable) response.body = bounded(response.body);
    return result;
  }
}

function bounded(body: Readable): Readable {
  let bytes = 0;
  const meter = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      done(bytes > MAX_ANSWER_BYTES ? tooLong() : null, chunk);
    },
    flush: (done) => (bytes > SHORT_ANSWER_BYTES ? turns.take(done) : done()),
  });
  // Errors of either reach the other; the SDK hears them from the meter.
  return pipeline(body, meter, () => undefined);
}

/** Calls one listener in each turn of the event loop, in the order of asking. */
class Turns {
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

/** Of this event loop, for all clients together. */
const turns = new Turns();

function tooLong(): GatewayError {
  const text = `the store answered with more than ${MAX_ANSWER_BYTES} bytes where a short answer belongs`;
  return new GatewayError('protocol_error', text, { step: 'transfer' });
}
