/** One request and its answer, for both front ends: framing, pace, the answer's form, the record. */
import { Readable } from 'node:stream';
import { GatewayError, toGatewayError } from '../base/errors.js';
import { unrouted } from './answer.js';
import { AnswerWriter } from './answer-writer.js';
import type { BeginTurns } from './begin-turns.js';
import { BodyReader, clientGone } from './body/body-reader.js';
import { Claims, type RequestBudgets } from './claims.js';
import { clientAddress } from './client-address.js';
import { ClientPace, type PaceLimits } from './client-pace.js';
import { framingMistake, headMistake, repeatedField } from './framing.js';
import type { AnswerHead, ClientSocket } from './front-end.js';
import { IncomingRequest } from './incoming-request.js';
import type { Peer } from './peers.js';
import type { HttpAnswer, HttpHandler, StreamBody } from './types.js';

/** The facts of a finished request, for the log. */
export interface ExchangeRecord {
  readonly method: string;
  readonly path: string;
  readonly remoteAddress: string;
  readonly status: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly durationMs: number;
  /** Whether the whole answer was passed to the socket. */
  readonly isComplete: boolean;
  readonly facts: HttpAnswer['facts'];
}

export interface ExchangeHost {
  readonly limits: PaceLimits;
  readonly trustedProxies: readonly string[];
  /** Answers close their connection while this is true. */
  readonly isDraining: boolean;
  readonly budgets: RequestBudgets;
  readonly turns: BeginTurns;
  handle: HttpHandler;
  over(exchange: Exchange, record: ExchangeRecord): void;
}

/**
 * Bodies in memory that are longer than this are also streamed: the front end would buffer them and cut a slow reader.
 */
const MAX_WHOLE_BYTES = 64 * 1024;
/**
 * Ticks that are further apart show that the process did not run: what the client has sent meanwhile is read after its
 * timers.
 */
const HELD_MS = 2_500;
/** The pace that a route requires of its clients is measured over this period: a connection may pause. */
const LEAST_PACE_OVER_MS = 30_000;
/** Timers of front ends take 10 s. */
const KEEP_ALIVE_EVERY_SECONDS = 4;

/** One request and its answer. */
export class Exchange {
  readonly #socket: ClientSocket;
  readonly #host: ExchangeHost;
  readonly #startedAt = performance.now();
  #tickedAt = this.#startedAt;
  readonly #request: IncomingRequest;
  readonly #body: BodyReader | undefined;
  #writer: AnswerWriter | undefined;
  readonly #claims: Claims;
  #isOver = false;
  #isSettled = false;
  #isAnswered = false;
  /** The answer is sent in the next turn of the event loop. */
  #isLeaving = false;
  #status = 0;
  #bytesOut = 0;
  facts: HttpAnswer['facts'];

  constructor(socket: ClientSocket, host: ExchangeHost) {
    this.#socket = socket;
    this.#host = host;

    socket.onAborted(() => this.#guard(() => this.#aborted()));
    const { headers, repeated, peer } = socket.head;
    const declared = headers.get('content-length');
    const contentLength = declared === undefined ? undefined : Number(declared);
    const remoteAddress = clientAddress(peer.address, headers.get('x-forwarded-for'), host.trustedProxies);
    this.#claims = new Claims(host.budgets, remoteAddress);
    const hasBody = headers.has('transfer-encoding') || (contentLength !== undefined && contentLength !== 0);
    if (hasBody) {
      const touch = {
        pause: () => this.#touch(() => socket.pause()),
        resume: () => this.#touch(() => socket.resume()),
      };
      this.#body = new BodyReader(touch, contentLength, this.#claims.memory.hold(), (error) => this.withdraw(error));
      socket.onBody((chunk, isLast, isLent) => this.#guard(() => this.#body?.accept(chunk, isLast, isLent)));
    }
    this.#request = new IncomingRequest(socket.head, remoteAddress, contentLength, this.#claims, this.#body);
    const misframed = framingMistake(headers, repeated);
    const mistake = headMistake(socket.head) ?? repeatedField(repeated);
    const isServed = misframed === undefined && mistake === undefined;
    this.#isSettled = !isServed;
    this.settled = isServed ? this.#run() : Promise.resolve();
    if (misframed !== undefined) this.#refuseFraming(misframed);
    else if (mistake !== undefined) this.#answer(unrouted(mistake));
  }

  /** Called once a second: checks our own limits, and renews the front end's timers. */
  tick(second: number): void {
    this.#guard(() => {
      const now = performance.now();
      const wasHeld = now - this.#tickedAt > HELD_MS;
      this.#tickedAt = now;
      if (now > this.#request.bodyDeadline && this.#body?.complete === false && !wasHeld) {
        return this.cut(clientGone('the body was not whole in time'));
      }
      this.#body?.feed();
      const isItsTurn = !wasHeld && ((this.#body?.waiting ?? false) || (this.#writer?.waiting ?? false));
      const moved = (this.#body?.received ?? 0) + (this.#writer?.sent ?? 0);
      // Few requests take long enough to see a tick.
      const pace = (this.#request.pace ??= new ClientPace(this.#host.limits, this.#startedAt));
      const offence = pace.check(isItsTurn, moved, now);
      if (offence !== undefined) return this.cut(clientGone(offence));
      const { leastBytesPerSecond: least } = this.#request;
      if ((pace.bytesPerSecond(LEAST_PACE_OVER_MS) ?? Infinity) < least) return this.withdraw(tooSlow(least));
      if (second % KEEP_ALIVE_EVERY_SECONDS !== 0 || this.heldBack !== undefined) return;
      this.#touch(() => this.#socket.keepAlive());
    });
  }

  /** The peer whose connection stays open after an answer, unread, until the peer closes it. */
  lingeringPeer: Peer | undefined;

  /** The peer whose socket is not read now: it may have left unnoticed. */
  get heldBack(): Peer | undefined {
    return this.#body?.isHeldBack === true && !this.#isOver ? this.#socket.head.peer : undefined;
  }

  /** It has left for certain, according to the system, or it may have: then the next chunk would show it. */
  checkPeer(isGone: boolean): void {
    if (isGone) this.cut(clientGone());
    else this.#guard(() => this.#body?.peek());
  }

  get isFinished(): boolean {
    return this.#isOver;
  }

  /** Resolves when the handler has ended, regardless of the client. */
  readonly settled: Promise<void>;

  /** The operation gets `error`; a client that still waits can be given an answer. */
  withdraw(error: GatewayError): void {
    if (this.#isAnswered && !this.#isLeaving) this.cut(error);
    else this.#guard(() => this.#fail(error));
  }

  /** Ends the exchange from our side: the operation gets `error`, the client sees its connection close. */
  cut(error: GatewayError): void {
    if (this.#isOver) return;
    this.#end(false);
    this.#fail(error);
    this.#socket.close();
  }

  /**
   * The end of such a request is ambiguous, and after any answer the front end would take the remaining bytes for the
   * next request (RFC 9112, 6.3: request smuggling). So it gets no answer, like a request that cannot be parsed at all.
   */
  #refuseFraming(mistake: GatewayError): void {
    this.#status = mistake.status;
    this.cut(mistake);
  }

  get #isSmall(): boolean {
    return this.#body === undefined || (this.#request.contentLength ?? Infinity) <= MAX_WHOLE_BYTES;
  }

  async #run(): Promise<void> {
    let answer: HttpAnswer;
    try {
      // A large body would arrive while its request waits, and would have to be buffered.
      const turn = this.#isSmall ? this.#host.turns.next() : undefined;
      if (turn !== undefined) await turn;
      answer = await this.#host.handle(this.#request);
    } catch (error) {
      answer = unrouted(toGatewayError(error));
    }
    this.#answer(answer);
    if (answer.work !== undefined) await answer.work;
    this.#isSettled = true;
    if (this.#isOver) this.#claims.release();
  }

  #answer(answer: HttpAnswer): void {
    if (this.#isOver || this.#isAnswered) {
      if (isStream(answer.body)) dismiss(answer.body.stream);
      this.facts ??= answer.facts;
      return;
    }
    this.#isAnswered = true;
    this.#guard(() => this.#send(answer));
  }

  #send(answer: HttpAnswer): void {
    const { body, headLength } = answer;
    this.#status = answer.status;
    this.facts = answer.facts;
    const isBodiless = answer.status === 304 || answer.status === 204;
    if (this.#request.method === 'HEAD' || headLength !== undefined || isBodiless) {
      if (isStream(body)) dismiss(body.stream);
      const length = isBodiless || headLength === 'unknown' ? undefined : (headLength ?? lengthOf(body));
      return this.#sendHeadOnly(answer, length);
    }
    if (isStream(body)) {
      if (body.length !== 0) return this.#stream(answer, body);
      body.stream.on('error', () => undefined).resume();
      return this.#sendWhole(answer, '');
    }
    const bytes = body ?? '';
    const length = lengthOf(bytes);
    if (length === undefined || length <= MAX_WHOLE_BYTES) return this.#sendWhole(answer, bytes);
    try {
      this.#stream(answer, { stream: Readable.from([this.#held(bytes, length)], { objectMode: false }), length });
    } catch (error) {
      this.#broken(toGatewayError(error), false, answer);
    }
  }

  /** Text counts until its last byte has been sent; bytes are owned by code that keeps them anyway. */
  #held(body: string | Uint8Array, length: number): Buffer {
    if (typeof body !== 'string') return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    this.#claims.memory.hold().require(length);
    return Buffer.from(body);
  }

  #sendHeadOnly(answer: HttpAnswer, length: number | undefined): void {
    this.#behindRead(() => {
      this.#socket.sendHead(this.#headOf(answer), length);
      this.#end(true);
    });
  }

  #sendWhole(answer: HttpAnswer, bytes: string | Uint8Array): void {
    this.#behindRead(() => {
      this.#socket.sendWhole(this.#headOf(answer), bytes);
      this.#bytesOut = lengthOf(bytes) ?? 0;
      this.#end(true);
    });
  }

  /**
   * A body that seems unread may be among the bytes that are being passed on right now. An answer sent before them
   * would treat it as unread, and the native server would leave the paused connection without a timer: for ever, if its
   * client left.
   */
  #behindRead(send: () => void): void {
    if (!this.#isUnread) return send();
    this.#isLeaving = true;
    setImmediate(() => {
      this.#isLeaving = false;
      this.#guard(() => this.#touch(send));
    });
  }

  #stream(answer: HttpAnswer, { stream, length }: StreamBody): void {
    const head = this.#headOf(answer);
    if (this.#isUnread) this.#body?.discard();
    this.#writer = new AnswerWriter((events) => this.#socket.openSink(head, length, events), stream, length, {
      done: () => this.#end(true),
      broken: (error, headWasSent) => this.#guard(() => this.#broken(error, headWasSent, answer)),
    });
  }

  #broken(cause: Error, headWasSent: boolean, { headers, facts }: HttpAnswer): void {
    if (this.#isOver) return;
    const error = toGatewayError(cause);
    if (facts !== undefined) this.facts = { ...facts, error };
    if (headWasSent) return this.cut(error);
    const requestId = headers?.['X-Request-Id'];
    this.#send({ ...unrouted(error, typeof requestId === 'string' ? requestId : undefined), facts: this.facts });
  }

  #headOf({ status, headers = {} }: HttpAnswer): AnswerHead {
    const fields: string[] = [];
    for (const name of Object.keys(headers)) {
      const value = headers[name] ?? '';
      if (typeof value === 'string') fields.push(name, fieldValue(value));
      else for (const one of value) fields.push(name, fieldValue(one));
    }
    if (this.#isUnread) this.lingeringPeer = this.#socket.head.peer;
    return { status, fields, persistence: this.#isUnread ? 'unread' : this.#host.isDraining ? 'close' : 'keep' };
  }

  /**
   * The rest of a body would be taken for the next request; closing the connection also stops the client from sending.
   */
  get #isUnread(): boolean {
    return this.#body !== undefined && !this.#body.complete && !this.#socket.hasWholeRequest;
  }

  /** The socket must not be touched from here on. */
  #end(isComplete: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (isComplete && this.#body !== undefined && !this.#body.complete) this.#body.destroy();
    if (this.#isSettled) this.#claims.release();
    const { method, path, remoteAddress } = this.#request;
    this.#host.over(this, {
      method,
      path,
      remoteAddress,
      status: this.#status,
      bytesIn: this.#body?.received ?? 0,
      bytesOut: this.#writer?.sent ?? this.#bytesOut,
      durationMs: performance.now() - this.#startedAt,
      isComplete,
      facts: this.facts,
    });
  }

  #aborted(): void {
    if (this.#isOver) return;
    this.#end(false);
    this.#fail(clientGone());
  }

  #fail(error: GatewayError): void {
    this.#request.abort(error);
    this.#body?.cut(error);
    this.#writer?.stop(error);
  }

  #touch(use: () => void): void {
    if (!this.#isOver) use();
  }

  /** No exception may unwind into native code. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      const failure = new GatewayError('internal', 'the front end failed', { cause: error });
      this.#fail(failure);
      if (this.#isOver) return;
      this.#end(false);
      this.#socket.close();
    }
  }
}

function tooSlow(least: number): GatewayError {
  const text = `the client moved fewer than ${least} bytes a second for ${LEAST_PACE_OVER_MS} ms`;
  return new GatewayError('too_slow', text, { step: 'transfer', retryAfterMs: 1_000 });
}

function isStream(body: HttpAnswer['body']): body is StreamBody {
  return typeof body === 'object' && 'stream' in body;
}

/** undefined: not known before it has been streamed. */
function lengthOf(body: HttpAnswer['body']): number | undefined {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body === undefined ? 0 : body.length;
}

/** The stream will not be read. */
function dismiss(stream: Readable): void {
  stream.on('error', () => undefined).destroy(clientGone());
}

/** Nearly all values match. */
const PLAIN_VALUE = /^[\x20-\x7e]*$/;

/**
 * A value in the form of the wire. Line ends would split the answer; characters beyond Latin-1 are not allowed in a
 * field (RFC 9110, 5.5).
 */
function fieldValue(value: string): string {
  if (PLAIN_VALUE.test(value)) return value;
  // eslint-disable-next-line no-control-regex
  return value.replace(/[\u0000-\u0008\u000a-\u001f\u007f]+/g, ' ').replace(/[^\u0000-\u00ff]/gu, '?');
}
