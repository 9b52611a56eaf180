/**
 * One control connection, from the greeting to its end, on a socket that dial.ts made. The command and reply engine
 * is basic-ftp's FTPContext; this class adds what a server that is slow, broken or hostile makes necessary:
 *
 *   whole lines      a reply cut by TCP reaches the parser only when its last line is complete
 *   bounds           64 KiB of one reply, and a deadline from command to answer however busily the server chatters
 *   step             a reply that nobody waits for, or of a kind the command cannot have, ends the connection
 *   stray text       is passed over (some servers say more than their replies), but only while a reply still comes
 *   one cause        the first reason for the end, a GatewayError, is what every later command reports
 */
import { FTPContext, FTPError, type FTPResponse } from 'basic-ftp';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { GatewayError } from '../../errors.js';
import { pathBytes } from '../path.js';
import { connectionLost, notAReply, outOfStep, type Reply } from './replies.js';

/** A command that moves data: a first reply, then the last one. Neither promise needs to be awaited. */
export interface Exchange {
  /** The first reply: 125 or 150, or already the last one. */
  readonly started: Promise<Reply>;
  readonly finished: Promise<Reply>;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Codes of success that this command can have; 2xx when absent. Others below 400 are out of step. */
  readonly success?: readonly number[];
}

// eslint-disable-next-line no-control-regex
const INJECTION = /[\r\n\u0000]/;
const MAX_REPLY_CHARS = 65_536;
const MAX_BANNER = 200;
/** The beginning of a reply's line, however little of it there is, or an empty line. */
const REPLY_LINE = /^(?:\r?$|[1-6](?:$|\d(?:$|\d(?:$|[ \r-]))))/;
/** How long after text that is no reply one may still come. */
const STRAY_MS = 1_000;

export class Control extends FTPContext {
  private incomplete = '';
  private scanned = 0;
  private openGroup: string | undefined;
  /** The command under way has had a reply: what a transfer takes is not for text beside it to end. */
  private isAnswered = false;
  private strayTimer: NodeJS.Timeout | undefined;
  private readonly lostListeners: (() => void)[] = [];

  constructor(
    socket: Socket,
    /** `host:port`, for error texts. */
    readonly host: string,
    private readonly answerTimeoutMs: number,
  ) {
    // Idle timers of sockets would let a server that dribbles live for ever; the deadlines below do the work.
    super(0);
    this.socket = socket;
  }

  /** How the server introduced itself. */
  banner = '';

  get alive(): boolean {
    return !this.closed;
  }

  /** A command still waits for its last reply. */
  get busy(): boolean {
    return this._task !== undefined;
  }

  onLost(listener: () => void): void {
    this.lostListeners.push(listener);
  }

  /** The server's first words; 120 ("ready in n minutes") is waited out. */
  async greeting(signal: AbortSignal): Promise<Reply> {
    signal.throwIfAborted();
    const reply = await this.obey(signal, this.begin(undefined).finished);
    this.banner = reply.text.replace(/^\d{3}[ -]/, '').slice(0, MAX_BANNER);
    return reply;
  }

  /**
   * Sends a command and resolves with its last reply; a refusal is a reply too.
   * Errors: connection_lost (421 too), protocol_error, stall_timeout, or the signal's reason, each ending the connection.
   */
  async ask(command: string, { signal, success }: AskOptions): Promise<Reply> {
    signal.throwIfAborted();
    const { finished } = this.begin(command);
    const reply = await this.obey(signal, this.answerInTime(finished, verbOf(command)));
    const fits = success === undefined ? reply.code >= 200 && reply.code < 300 : success.includes(reply.code);
    if (reply.code < 400 && !fits) throw this.giveUp(outOfStep(this.host, reply, verbOf(command)));
    return reply;
  }

  /** Goes on over TLS. What was said in the clear before, but after the answer to AUTH, is an attacker's (RFC 4217, 15.1). */
  secured(socket: TLSSocket): void {
    if (this.incomplete !== '') throw this.giveUp(outOfStep(this.host, { code: 0, text: 'bytes before TLS' }, 'AUTH'));
    this.socket = socket;
  }

  /** Sends a command that moves data. Nothing but `finished` ends the exchange; no other command may be sent before. */
  begin(command: string | undefined): Exchange {
    if (this._closingError !== undefined) throw this._closingError as unknown as GatewayError;
    if (this.busy) throw new GatewayError('internal', 'a control connection carries one command at a time');
    // Paths cannot hold them; a registered user name or password could.
    if (command !== undefined && INJECTION.test(command)) {
      throw new GatewayError('bad_request', `an FTP ${verbOf(command)} cannot carry CR, LF or NUL`, {
        step: 'request',
      });
    }
    this.isAnswered = false;
    let first: (reply: Reply) => void = () => {};
    let failFirst: (error: Error) => void = () => {};
    const started = new Promise<Reply>((done, fail) => {
      first = done;
      failFirst = fail;
    });
    const finished = this.handle(command, (response, task) => {
      if (response instanceof Error && !(response instanceof FTPError)) {
        failFirst(response);
        return task.reject(response);
      }
      const reply: Reply = { code: response.code, text: response.message };
      if (reply.code === 421) {
        // "Service not available, closing control connection": nothing may follow (RFC 959, 5.4).
        this.giveUp(connectionLost(this.host, undefined, { code: 421, text: reply.text }));
        return;
      }
      this.isAnswered = true;
      first(reply);
      if (reply.code >= 200) task.resolve(reply);
    }) as Promise<Reply>;
    started.catch(() => {});
    finished.catch(failFirst);
    return { started, finished };
  }

  /** `answer`, or stall_timeout and the end of the connection when it does not come in time. */
  async answerInTime(answer: Promise<Reply>, verb: string, timeoutMs = this.answerTimeoutMs): Promise<Reply> {
    const timer = setTimeout(() => {
      const text = `${this.host} did not answer ${verb} within ${Math.round(timeoutMs)} ms`;
      this.giveUp(new GatewayError('stall_timeout', text, { step: 'transfer' }));
    }, timeoutMs);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }

  /** `work`, ended with the whole connection when the signal fires: the rest of an exchange cannot be taken back. */
  async obey<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
    const stop = (): void => this.closeWithError(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await work;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Called by `handle`. What basic-ftp sends is text, and a path need not be. */
  override send(command: string): void {
    if (command.isWellFormed()) super.send(command);
    else this.socket.write(Buffer.concat([pathBytes(command), Buffer.from('\r\n')]));
  }

  /** Ends the connection for this reason and hands it back to be thrown. */
  giveUp(reason: GatewayError): GatewayError {
    this.closeWithError(reason);
    return reason;
  }

  override closeWithError(error: Error): void {
    if (this._closingError !== undefined) return;
    clearTimeout(this.strayTimer);
    super.closeWithError(error instanceof GatewayError ? error : connectionLost(this.host, error));
    for (const listener of this.lostListeners) listener();
  }

  protected override _onControlSocketData(chunk: string): void {
    this.incomplete += chunk;
    if (this.incomplete.length > MAX_REPLY_CHARS) {
      const text = `${this.host} sent a reply of more than ${MAX_REPLY_CHARS} characters`;
      this.giveUp(new GatewayError('protocol_error', text, { step: 'transfer' }));
      return;
    }
    let complete = 0;
    for (;;) {
      const end = this.incomplete.indexOf('\n', this.scanned);
      if (end < 0) break;
      const line = this.incomplete.slice(this.scanned, end);
      this.judge(line);
      this.follow(line);
      this.scanned = end + 1;
      if (this.openGroup === undefined) complete = this.scanned;
    }
    this.judge(this.incomplete.slice(this.scanned));
    if (complete === 0) return;
    const replies = this.incomplete.slice(0, complete);
    this.incomplete = this.incomplete.slice(complete);
    this.scanned -= complete;
    super._onControlSocketData(replies);
  }

  protected override _passToHandler(response: Error | FTPResponse): void {
    const isReply = response instanceof FTPError || !(response instanceof Error);
    clearTimeout(this.strayTimer);
    this.strayTimer = undefined;
    if (!isReply || this.busy) return super._passToHandler(response);
    const reply = { code: response.code, text: response.message };
    // Servers that hang up after idling say 421 first; anything else unasked means we have lost count.
    const parting = reply.code === 421;
    this.giveUp(parting ? connectionLost(this.host, undefined, reply) : outOfStep(this.host, reply));
  }

  /** Text outside of a reply: whoever waits for one need not wait for long. */
  private judge(line: string): void {
    if (this.openGroup !== undefined || !this.busy || this.isAnswered || REPLY_LINE.test(line)) return;
    this.strayTimer ??= setTimeout(() => this.giveUp(notAReply(this.host, line)), STRAY_MS);
  }

  /** Keeps track of whether a line stands within a multi-line reply: `250-…` up to `250 …` (RFC 959, 4.2). */
  private follow(line: string): void {
    const code = line.slice(0, 3);
    if (this.openGroup === undefined) {
      if (/^\d{3}-/.test(line)) this.openGroup = code;
    } else if (code === this.openGroup && /^\d{3}(?: |\r?$)/.test(line)) {
      this.openGroup = undefined;
    }
  }
}

function verbOf(command: string): string {
  const space = command.indexOf(' ');
  return space < 0 ? command : command.slice(0, space);
}
