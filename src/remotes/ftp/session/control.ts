/**
 * One control connection, from the greeting to its end, on a socket from dial.ts. It survives a server that is slow,
 * broken or hostile:
 *
 *   bounds 64 KiB for one reply, and a deadline from command to answer however much the server sends
 *   step an unexpected reply, or one that the command cannot have, ends the connection
 *   stray text is ignored (some servers send more than their replies), but only while a reply still follows
 *   one cause the first reason for the end, a GatewayError, is what every later command reports
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { onAbort, within } from '../../../base/deadline.js';
import type { EndSignal } from '../../../base/ending.js';
import { GatewayError, refusal } from '../../../base/errors.js';
import { encodedPath, UTF_8 } from '../../encoded-names.js';
import { connectionLost, isPositive, notAReply, outOfStep, type Reply } from './replies.js';
import { FtpReplyReader } from './reply-reader.js';

/** A command that moves data: a first reply, then the last one. Neither promise needs to be awaited. */
export interface CommandExchange {
  /** The first reply: 125 or 150, or already the last one. */
  readonly started: Promise<Reply>;
  readonly finished: Promise<Reply>;
}

interface AskOptions {
  readonly signal: EndSignal;
  /** Codes of success that this command can have; 2xx when absent. Others below 400 are out of step. */
  readonly success?: readonly number[];
}

/** One of several commands that are sent together. */
export interface Ask {
  readonly command: string;
  readonly success?: readonly number[] | undefined;
  /** Useless if the command before it was refused; it is sent anyway when the answers are not waited for one by one. */
  readonly isSequel?: boolean;
}

/** The command or commands in progress. */
interface Task {
  accept(reply: Reply): void;
  fail(error: Error): void;
  /** It has had a reply: stray text must not end a transfer that takes long. */
  isAnswered: boolean;
}

const INJECTION = /[\r\n\0]/;
const LOGIN = /^(?:USER|PASS|ACCT) /;
const MAX_REPLY_CHARS = 65_536;
const MAX_BANNER = 200;
/** How long after stray text a reply may still arrive. */
const STRAY_MS = 1_000;
/**
 * These servers execute queued commands one by one. RFC 959 does not require that, and other servers may lose commands
 * that arrive early.
 */
const QUEUEING = /vsftpd|pure-ftpd|proftpd/i;

export class Control {
  #current: Socket;
  readonly #answerTimeoutMs: number;
  /** The text of the server's greeting. */
  banner = '';
  /**
   * The server reads commands as Telnet (RFC 959): to it, a byte 255 is itself only if it is sent twice; a single one
   * and the next byte may be a command of Telnet, which is cut out of the path.
   */
  isTelnet = false;
  #reader = this.#newReader();
  #task: Task | undefined;
  #ending: GatewayError | undefined;
  #strayTimer: NodeJS.Timeout | undefined;
  #stopListening: () => void;
  readonly #lostListeners: (() => void)[] = [];

  constructor(
    current: Socket,
    /** `host:port`, for error texts. */
    readonly host: string,
    answerTimeoutMs: number,
    /** Names on the server and its replies are in it; the login is in UTF-8. */
    readonly encoding = UTF_8,
  ) {
    this.#current = current;
    this.#answerTimeoutMs = answerTimeoutMs;

    this.#stopListening = this.#listen(current);
  }

  get socket(): Socket {
    return this.#current;
  }

  get alive(): boolean {
    return this.#ending === undefined && !this.#current.destroyed;
  }

  /** Whether a command still waits for its last reply. */
  get busy(): boolean {
    return this.#task !== undefined;
  }

  /** By its greeting, which an operator may hide. */
  isSoftware(name: 'vsftpd' | 'pure-ftpd'): boolean {
    return this.banner.toLowerCase().includes(name);
  }

  /** Called once it is lost; in a moment if it has been. */
  onLost(listener: () => void): void {
    if (this.#ending === undefined) this.#lostListeners.push(listener);
    else queueMicrotask(listener);
  }

  /** Resolves with the server's greeting; waits out a 120 ("ready in n minutes"). */
  async greeting(signal: EndSignal): Promise<Reply> {
    signal.throwIfAborted();
    const reply = await this.obey(signal, this.begin(undefined).finished);
    this.banner = reply.text.replace(/^\d{3}[ -]/, '').slice(0, MAX_BANNER);
    return reply;
  }

  /**
   * Sends a command and resolves with its last reply, even a refusal. Errors: connection_lost (also for 421),
   * protocol_error, stall_timeout, or the signal's reason; each ends the connection.
   */
  async ask(command: string, { signal, success }: AskOptions): Promise<Reply> {
    signal.throwIfAborted();
    const { finished } = this.begin(command);
    const reply = await this.obey(signal, this.answerInTime(finished, verbOf(command)));
    return this.#fitting(reply, { command, success });
  }

  /**
   * Sends several commands, each regardless of the replies before it; in one write if the server is known to queue
   * commands. Resolves with as many replies, or fewer if a sequel was not sent.
   */
  async askAll(asks: readonly Ask[], signal: EndSignal): Promise<readonly Reply[]> {
    if (!QUEUEING.test(this.banner)) return this.#askInTurn(asks, signal);
    signal.throwIfAborted();
    const [first] = asks;
    if (first === undefined) return [];
    const answers = this.#beginAll(asks.map(({ command }) => command));
    const inTime = this.answerInTime(answers, verbOf(first.command), asks.length * this.#answerTimeoutMs);
    const replies = await this.obey(signal, inTime);
    return replies.map((reply, at) => this.#fitting(reply, asks[at] as Ask));
  }

  /** Continues over TLS. Text that came unencrypted after the answer to AUTH is from an attacker (RFC 4217, 15.1). */
  async secure(start: (plain: Socket) => Promise<TLSSocket>): Promise<void> {
    if (this.#reader.pending > 0) {
      throw this.giveUp(outOfStep(this.host, { code: 0, text: 'bytes before TLS' }, 'AUTH'));
    }
    // From here on the bytes are those of TLS.
    this.#stopListening();
    const socket = await start(this.#current);
    this.#current = socket;
    this.#reader = this.#newReader();
    this.#stopListening = this.#listen(socket);
  }

  /** Sends a command that moves data. Only `finished` ends the exchange; no other command may be sent before. */
  begin(command: string | undefined): CommandExchange {
    const started = pending<Reply>();
    const finished = pending<Reply>();
    this.#take(command === undefined ? [] : [command], {
      isAnswered: false,
      accept: (reply) => {
        started.resolve(reply);
        if (reply.code < 200) return;
        this.#task = undefined;
        finished.resolve(reply);
      },
      fail: (error) => {
        this.#task = undefined;
        started.reject(error);
        finished.reject(error);
      },
    });
    return { started: started.promise, finished: finished.promise };
  }

  #beginAll(commands: readonly string[]): Promise<readonly Reply[]> {
    const all = pending<readonly Reply[]>();
    const replies: Reply[] = [];
    this.#take(commands, {
      isAnswered: false,
      accept: (reply) => {
        if (reply.code < 200) return;
        if (replies.push(reply) < commands.length) return;
        this.#task = undefined;
        all.resolve(replies);
      },
      fail: (error) => {
        this.#task = undefined;
        all.reject(error);
      },
    });
    return all.promise;
  }

  #take(commands: readonly string[], task: Task): void {
    if (this.#ending !== undefined) throw this.#ending;
    if (this.busy) throw new GatewayError('internal', 'a control connection carries one command at a time');
    for (const command of commands) {
      // Paths cannot contain these characters; a registered user name or password could.
      if (INJECTION.test(command)) {
        throw refusal('bad_request', `an FTP ${verbOf(command)} cannot carry CR, LF or NUL`);
      }
    }
    const lines = commands.flatMap((one) => [this.#lineOf(one), CRLF]);
    this.#task = task;
    if (lines.length > 0) this.#current.write(Buffer.concat(lines));
  }

  /** The bytes of a command. @throws GatewayError bad_path */
  #lineOf(command: string): Buffer {
    const line = LOGIN.test(command) ? Buffer.from(command) : encodedPath(this.encoding, command);
    if (!this.isTelnet || !line.includes(IAC)) return line;
    return Buffer.from(line.toString('latin1').replaceAll('\xFF', '\xFF\xFF'), 'latin1');
  }

  async #askInTurn(asks: readonly Ask[], signal: EndSignal): Promise<readonly Reply[]> {
    const replies: Reply[] = [];
    for (const { command, success, isSequel = false } of asks) {
      if (isSequel && (replies.at(-1)?.code ?? 0) >= 400) break;
      replies.push(await this.ask(command, { signal, ...(success === undefined ? {} : { success }) }));
    }
    return replies;
  }

  /** A success code that the command cannot have is not an answer to it. */
  #fitting(reply: Reply, { command, success }: Ask): Reply {
    const fits = success === undefined ? isPositive(reply) : success.includes(reply.code);
    if (reply.code < 400 && !fits) throw this.giveUp(outOfStep(this.host, reply, verbOf(command)));
    return reply;
  }

  /** Returns `answer`; if it does not arrive in time, ends the connection with stall_timeout. */
  answerInTime<T>(answer: Promise<T>, verb: string, timeoutMs = this.#answerTimeoutMs): Promise<T> {
    return within(answer, timeoutMs, () => {
      const text = `${this.host} did not answer ${verb} within ${Math.round(timeoutMs)} ms`;
      throw this.giveUp(new GatewayError('stall_timeout', text, { step: 'transfer' }));
    });
  }

  /** Awaits `work`; the signal ends the whole connection, because the rest of an exchange cannot be cancelled. */
  async obey<T>(signal: EndSignal, work: Promise<T>): Promise<T> {
    const stopListening = onAbort(signal, (reason) => this.#end(reason));
    try {
      return await work;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error;
    } finally {
      stopListening();
    }
  }

  /** Ends the connection for this reason, and returns the reason to be thrown. */
  giveUp(reason: GatewayError): GatewayError {
    this.#end(reason);
    return reason;
  }

  /** Sends QUIT and waits for nothing. */
  close(): void {
    this.#end(new Error('the gateway closed the connection'));
  }

  #end(cause: unknown): void {
    if (this.#ending !== undefined) return;
    this.#ending = cause instanceof GatewayError ? cause : connectionLost(this.host, cause);
    clearTimeout(this.#strayTimer);
    this.#stopListening();
    this.#current.write('QUIT\r\n');
    this.#current.destroy();
    this.#task?.fail(this.#ending);
    for (const listener of this.#lostListeners) listener();
  }

  #listen(socket: Socket): () => void {
    // A character may be in two chunks, so lines are decoded when they are complete.
    const accept = (chunk: Buffer): void => this.#accept(chunk.toString('latin1'));
    const fail = (error: Error): void => this.#end(error);
    const leave = (): void => this.#end(new Error('the server closed the connection'));
    socket.setKeepAlive(true);
    socket.on('data', accept).on('error', fail).on('end', leave).on('close', leave);
    return () => {
      socket.off('data', accept).off('error', fail).off('end', leave).off('close', leave);
      // Later errors of the socket do not matter.
      socket.on('error', () => undefined);
    };
  }

  #accept(text: string): void {
    this.#reader.accept(text);
    if (this.#reader.pending <= MAX_REPLY_CHARS) return;
    const words = `${this.host} sent a reply of more than ${MAX_REPLY_CHARS} characters`;
    this.giveUp(new GatewayError('protocol_error', words, { step: 'transfer' }));
  }

  #newReader(): FtpReplyReader {
    return new FtpReplyReader({
      reply: ({ code, text }) => this.#receive({ code, text: this.#decoded(text) }),
      stray: (line) => this.#bear(line),
    });
  }

  #decoded(bytes: string): string {
    return this.encoding.decode(Buffer.from(bytes, 'latin1')).toWellFormed();
  }

  #receive(reply: Reply): void {
    clearTimeout(this.#strayTimer);
    this.#strayTimer = undefined;
    if (this.#ending !== undefined) return;
    // "Service not available, closing control connection": no command may follow (RFC 959, 5.4), whether one was sent
    // or not.
    if (reply.code === 421) return void this.giveUp(connectionLost(this.host, undefined, reply));
    if (this.#task === undefined) return void this.giveUp(outOfStep(this.host, reply));
    this.#task.isAnswered = true;
    this.#task.accept(reply);
  }

  /** Text outside of a reply: from now on the waiting command gets only a short time. */
  #bear(line: string): void {
    if (this.#task === undefined || this.#task.isAnswered || this.#ending !== undefined) return;
    this.#strayTimer ??= setTimeout(() => this.giveUp(notAReply(this.host, this.#decoded(line))), STRAY_MS);
  }
}

const CRLF = Buffer.from('\r\n');
/** Interpret as command (RFC 854). */
const IAC = 0xff;

interface Pending<T> {
  readonly promise: Promise<T>;
  readonly resolve: (answer: T) => void;
  readonly reject: (error: Error) => void;
}

/** The promise need not be awaited. */
function pending<T>(): Pending<T> {
  let [resolve, reject]: [Pending<T>['resolve'], Pending<T>['reject']] = [() => undefined, () => undefined];
  const promise = new Promise<T>((done, fail) => ([resolve, reject] = [done, fail]));
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

function verbOf(command: string): string {
  const space = command.indexOf(' ');
  return space < 0 ? command : command.slice(0, space);
}
