import { NodeHttpHandler } from '@smithy/node-http-handler';
import { pipeline, Readable, Transform } from 'node:stream';
import { AnswerBounds } from './answer-bounds.js';

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
