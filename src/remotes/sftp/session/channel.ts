import type { ClientChannel } from 'ssh2';
import { GatewayError, messageOf } from '../../../base/errors.js';
import { ChannelWriter } from '../wire/channel-writer.js';
import {
  expectType,
  STATUS,
  StatusReply,
  takeAttributes,
  takeData,
  takeHandle,
  takeListing,
  takeNames,
  takeOk,
  takeRefusal,
} from '../wire/replies.js';
import {
  encodeRequest,
  MalformedReply,
  modeAttribute,
  PacketAssembler,
  REPLY,
  ReplyReader,
  REQUEST,
  sizeAttribute,
  timeAttributes,
  uint64,
  type Attributes,
  type Names,
} from '../wire/wire.js';

const VERSION = 3;
/** Every server accepts packets of 34,000 bytes (draft, section 3); only those that announce more are sent more. */
export const SAFE_CHUNK_BYTES = 32 * 1024;
/** Beyond this, larger requests save nothing (measured). */
const MAX_CHUNK_BYTES = 255 * 1024;
const MAX_REPLY_BYTES = 512 * 1024;
const MAX_WORDS = 300;
/**
 * How often progress is checked within the stall limit while the server is silent, so that a stall is reported in time.
 */
const CHECKS = 20;
const MOST_CHECK_MS = 500;
/** Used in place of an id, because the server's greeting has none. */
const GREETING = -1;

/**
 * ssh2's bookkeeping of the channel's windows (RFC 4254, 5.2): not a documented interface, so used only if it is as
 * expected.
 */
interface ChannelInternals {
  readonly incoming?: { window?: unknown };
  readonly outgoing?: { readonly id?: unknown };
  readonly _client?: { readonly _protocol?: { channelWindowAdjust?(id: number, bytes: number): void } };
}

interface Pending extends ReplyHandler {
  readonly id: number;
  readonly sentAt: number;
}

interface ReplyHandler {
  readonly done: (reply: ReplyReader) => void;
  readonly failed: (error: Error) => void;
}

/** Gets the outcome of a frequent request without a promise: exactly once, never before the call returns. */
type ReadDone = (error: Error | undefined, data: Buffer | undefined) => void;
type WriteDone = (error: Error | undefined) => void;

/**
 * SFTP requests over one SSH channel. Every call settles: with the reply, with a StatusReply, or with a GatewayError
 * once the channel ends, or once nothing at all moved on it for `stallTimeoutMs` while requests were waiting.
 */
export class SftpChannel {
  /** What the server announced: `posix-rename@openssh.com` and the like. */
  readonly extensions = new Set<string>();
  /** Bytes of one read and one write; they grow once the server has announced its limits. */
  maxReadBytes = SAFE_CHUNK_BYTES;
  maxWriteBytes = SAFE_CHUNK_BYTES;
  /** Resolves once the server has also closed the channel. */
  readonly closed: Promise<void>;
  readonly #channel: ClientChannel;
  readonly #stallTimeoutMs: number;
  /** In the order of sending, which is nearly always that of the replies. Not a Map: see passing-set.ts. */
  readonly #pending: Pending[] = [];
  readonly #assembler: PacketAssembler;
  readonly #writer: ChannelWriter;
  #nextId = 0;
  #shortestReplyMs = Infinity;
  #failure: GatewayError | undefined;
  #serverWords = '';
  #lastProgress = 0;
  /** Requests of this turn are sent together, at its end. */
  #isSending = false;
  #roomGiven = 0;
  #watch: NodeJS.Timeout | undefined;
  #window = 0;
  #greeted: ((reply: ReplyReader) => void) | undefined;
  #closedAlone = false;

  private constructor(channel: ClientChannel, stallTimeoutMs: number) {
    this.#channel = channel;
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#writer = new ChannelWriter(channel);
    this.#assembler = new PacketAssembler(MAX_REPLY_BYTES, (packet) => this.#receive(packet));
    channel.stderr.on('data', (bytes: Buffer) => {
      this.#serverWords = (this.#serverWords + bytes.toString('latin1')).slice(0, MAX_WORDS);
    });
    channel.on('error', (error: Error) => this.#fail(lost(error.message, error)));
    const gone = (): void => {
      if (this.#failure === undefined) this.#closedAlone = true;
      this.#fail(lost(this.#serverWords.trim() || 'the server closed the SFTP channel'));
    };
    channel.on('end', gone);
    this.closed = new Promise((closed) => {
      channel.on('close', () => {
        gone();
        closed();
      });
    });
  }

  /** Negotiates the version and returns the channel ready for requests. */
  static async start(channel: ClientChannel, stallTimeoutMs: number): Promise<SftpChannel> {
    const sftp = new SftpChannel(channel, stallTimeoutMs);
    await new Promise<void>((done, fail) => {
      sftp.#pending.push({ id: GREETING, done: () => done(), failed: fail, sentAt: performance.now() });
      sftp.#greeted = (reply) => sftp.#welcome(reply);
      sftp.#arm();
      sftp.#listen();
      sftp.#write(encodeRequest(REQUEST.INIT, undefined, [VERSION]));
    });
    if (sftp.extensions.has('limits@openssh.com')) sftp.#askLimits();
    return sftp;
  }

  /** The quickest reply so far: the line's round trip, or a little more. */
  get shortestReplyMs(): number {
    return this.#shortestReplyMs;
  }

  get alive(): boolean {
    return this.#failure === undefined;
  }

  /** Why it is no longer alive. */
  get failure(): GatewayError | undefined {
    return this.#failure;
  }

  /** The server ended this channel but not the connection: its SFTP process gave up. */
  get closedAlone(): boolean {
    return this.#closedAlone;
  }

  /** Bytes that wait for the server's channel window. */
  get queuedBytes(): number {
    return this.#writer.queuedBytes;
  }

  /** The largest window that the server has allowed. */
  get window(): number {
    return this.#writer.window;
  }

  /** Bytes of requests that the server takes now. */
  get room(): number {
    return this.#writer.room;
  }

  /** Sends what is written so far at once: the memory of its bytes is needed. */
  flush(): void {
    this.#writer.flush();
  }

  /** `mode`: the rights of a new file, of which the server may take some away. */
  open(path: Buffer, flags: number, mode?: number): Promise<Buffer> {
    return this.#ask(REQUEST.OPEN, [path, flags, ...modeAttribute(mode)], takeHandle);
  }

  close(handle: Buffer): Promise<void> {
    return this.#ask(REQUEST.CLOSE, [handle], takeOk);
  }

  async stat(path: Buffer): Promise<Attributes> {
    return this.#withType(path, await this.#ask(REQUEST.STAT, [path], takeAttributes));
  }

  async lstat(path: Buffer): Promise<Attributes> {
    return this.#withType(path, await this.#ask(REQUEST.LSTAT, [path], takeAttributes));
  }

  fstat(handle: Buffer): Promise<Attributes> {
    return this.#ask(REQUEST.FSTAT, [handle], takeAttributes);
  }

  setSize(handle: Buffer, size: number): Promise<void> {
    return this.#ask(REQUEST.FSETSTAT, [handle, ...sizeAttribute(size)], takeOk);
  }

  /** Sets the times of an open file. */
  setTimes(handle: Buffer, modifiedAt: Date): Promise<void> {
    return this.#ask(REQUEST.FSETSTAT, [handle, ...timeAttributes(modifiedAt)], takeOk);
  }

  setTimesAt(path: Buffer, modifiedAt: Date): Promise<void> {
    return this.#ask(REQUEST.SETSTAT, [path, ...timeAttributes(modifiedAt)], takeOk);
  }

  /** Sets the rights of an open file. */
  setMode(handle: Buffer, mode: number): Promise<void> {
    return this.#ask(REQUEST.FSETSTAT, [handle, ...modeAttribute(mode)], takeOk);
  }

  setModeAt(path: Buffer, mode: number): Promise<void> {
    return this.#ask(REQUEST.SETSTAT, [path, ...modeAttribute(mode)], takeOk);
  }

  openFolder(path: Buffer): Promise<Buffer> {
    return this.#ask(REQUEST.OPENDIR, [path], takeHandle);
  }

  /** The next batch of names, with "." and ".."; rejects with status EOF after the last one. */
  readFolder(handle: Buffer): Promise<Names> {
    return this.#ask(REQUEST.READDIR, [handle], takeListing);
  }

  remove(path: Buffer): Promise<void> {
    return this.#ask(REQUEST.REMOVE, [path], takeOk);
  }

  /** `mode`: its rights, of which the server may take some away. */
  makeFolder(path: Buffer, mode?: number): Promise<void> {
    return this.#ask(REQUEST.MKDIR, [path, ...modeAttribute(mode)], takeOk);
  }

  removeFolder(path: Buffer): Promise<void> {
    return this.#ask(REQUEST.RMDIR, [path], takeOk);
  }

  rename(from: Buffer, to: Buffer): Promise<void> {
    return this.#ask(REQUEST.RENAME, [from, to], takeOk);
  }

  posixRename(from: Buffer, to: Buffer): Promise<void> {
    return this.#ask(REQUEST.EXTENDED, [Buffer.from('posix-rename@openssh.com'), from, to], takeOk);
  }

  async realPath(path: Buffer): Promise<Buffer> {
    const [name] = await this.#ask(REQUEST.REALPATH, [path], takeNames);
    if (name === undefined) throw this.#protocolError(new MalformedReply('the server named no path'));
    return name.rawName;
  }

  /** Reads up to `length` bytes; status EOF comes as `undefined` for both. */
  read(handle: Buffer, offset: number, length: number, done: ReadDone): void {
    const request = (id: number): void => {
      this.#write(encodeRequest(REQUEST.READ, id, [handle, ...uint64(offset), length]));
    };
    this.#send(request, {
      done: (reply) => done(undefined, takeData(reply, length)),
      failed: (error) => {
        if (error instanceof StatusReply && error.status === STATUS.EOF) done(undefined, undefined);
        else done(error, undefined);
      },
    });
  }

  /** Writes all of `parts`, together at most `maxWriteBytes`, at `offset`. */
  write(handle: Buffer, offset: number, parts: readonly Buffer[], done: WriteDone): void {
    let length = 0;
    for (const part of parts) length += part.length;
    const request = (id: number): void => {
      this.#write(encodeRequest(REQUEST.WRITE, id, [handle, ...uint64(offset)], length), ...parts);
    };
    this.#send(request, {
      done: (reply) => {
        takeOk(reply);
        done(undefined);
      },
      failed: done,
    });
  }

  /**
   * Lets the server send this many bytes ahead. By itself, ssh2 allows 2 MiB and refills at half, about 1 MiB per round
   * trip; long lines need more. Has no effect if ssh2's internals are not as expected.
   */
  widenWindow(bytes: number): void {
    this.#window = Math.max(this.#window, bytes);
  }

  /** Ends the channel, and all requests on it, with `reason`. */
  end(reason: GatewayError): void {
    this.#fail(reason);
  }

  /** Takes bytes without the channel's stream, which would cost more than the replies: nothing here ever pauses it. */
  #listen(): void {
    const channel = this.#channel;
    const push = channel.push.bind(channel);
    const early = channel.read() as Buffer | null;
    channel.push = (bytes: Buffer | null) => {
      if (bytes === null) return push(null);
      this.#feed(bytes);
      return true;
    };
    if (early !== null) this.#feed(early);
    channel.resume();
  }

  #feed(bytes: Buffer): void {
    this.#lastProgress = performance.now();
    try {
      this.#assembler.feed(bytes);
    } catch (error) {
      this.#fail(this.#protocolError(error));
    }
    this.#refillWindow();
  }

  #askLimits(): void {
    const read = (reply: ReplyReader): void => {
      expectType(reply, REPLY.EXTENDED);
      reply.uint64();
      const maxRead = reply.uint64();
      const maxWrite = reply.uint64();
      if (maxRead > 0) this.maxReadBytes = Math.min(maxRead, MAX_CHUNK_BYTES);
      if (maxWrite > 0) this.maxWriteBytes = Math.min(maxWrite, MAX_CHUNK_BYTES);
    };
    // Nothing waits for the reply: until it arrives, the safe size is used.
    this.#ask(REQUEST.EXTENDED, [Buffer.from('limits@openssh.com')], read).catch(() => undefined);
  }

  #welcome(reply: ReplyReader): void {
    expectType(reply, REPLY.VERSION);
    reply.uint32();
    while (reply.hasMore) {
      this.extensions.add(reply.string().toString('latin1'));
      reply.string();
    }
  }

  /** A server may omit the kind of entry (draft, section 5): what can be opened as a folder is one. */
  async #withType(path: Buffer, attributes: Attributes): Promise<Attributes> {
    if (attributes.hasType) return attributes;
    try {
      const handle = await this.openFolder(path);
      this.close(handle).catch(() => undefined);
      return { ...attributes, isFolder: true };
    } catch (error) {
      if (error instanceof StatusReply) return attributes;
      throw error;
    }
  }

  #ask<T>(type: number, fields: readonly (Buffer | number)[], take: (reply: ReplyReader) => T): Promise<T> {
    return new Promise((done, failed) => {
      this.#send((id) => this.#write(encodeRequest(type, id, fields)), {
        done: (reply) => done(take(reply)),
        failed,
      });
    });
  }

  #send(request: (id: number) => void, handler: ReplyHandler): void {
    const failure = this.#failure;
    if (failure !== undefined) {
      process.nextTick(() => handler.failed(failure));
      return;
    }
    const id = this.#nextId;
    this.#nextId = (id + 1) >>> 0;
    if (this.#pending.length === 0) this.#arm();
    this.#pending.push({ id, done: handler.done, failed: handler.failed, sentAt: performance.now() });
    request(id);
  }

  #receive(packet: Buffer): void {
    if (this.#failure !== undefined) return;
    const reply = new ReplyReader(packet);
    const greeted = this.#greeted;
    if (greeted !== undefined) {
      this.#greeted = undefined;
      greeted(reply);
      this.#settle(GREETING)?.done(reply);
      return;
    }
    const pending = this.#settle(reply.uint32());
    if (pending !== undefined) this.#hand(pending, reply);
  }

  /** Settles the request, with any reply: it is no longer tracked. */
  #hand(pending: Pending, reply: ReplyReader): void {
    let refusal: StatusReply | undefined;
    try {
      refusal = reply.type === REPLY.STATUS ? takeRefusal(reply) : undefined;
      if (refusal === undefined) pending.done(reply);
    } catch (error) {
      const failure = this.#protocolError(error);
      pending.failed(failure);
      this.#fail(failure);
      return;
    }
    if (refusal !== undefined) pending.failed(refusal);
  }

  #settle(id: number): Pending | undefined {
    const at = this.#pending.findIndex((pending) => pending.id === id);
    if (at === -1) return undefined;
    const [pending] = this.#pending.splice(at, 1) as [Pending];
    this.#shortestReplyMs = Math.min(this.#shortestReplyMs, performance.now() - pending.sentAt);
    return pending;
  }

  #protocolError(error: unknown): GatewayError {
    const text = messageOf(error);
    return new GatewayError('protocol_error', `the SFTP server broke the protocol: ${text}`, {
      step: 'transfer',
      cause: error,
    });
  }

  #fail(reason: GatewayError): void {
    if (this.#failure !== undefined) return;
    this.#failure = reason;
    clearTimeout(this.#watch);
    this.#channel.close();
    for (const pending of this.#pending.splice(0)) pending.failed(reason);
  }

  /**
   * One timer for all requests of the channel: any progress counts, because a request after megabytes of others on a
   * slow line may rightly wait longer than any single deadline.
   */
  #arm(): void {
    this.#lastProgress = performance.now();
    if (this.#watch !== undefined) return;
    const checkProgress = (): void => {
      this.#watch = undefined;
      if (this.#pending.length === 0 || this.#failure !== undefined) return;
      // It is also progress when the server takes our bytes; no event reports it, so it is checked often.
      const roomGiven = this.#writer.grantedBytes;
      if (roomGiven !== this.#roomGiven) {
        this.#roomGiven = roomGiven;
        this.#lastProgress = performance.now();
      }
      const leftMs = this.#lastProgress + this.#stallTimeoutMs - performance.now();
      if (leftMs > 0) {
        this.#watch = setTimeout(checkProgress, Math.min(leftMs, checkMs)).unref();
        return;
      }
      const text = `the SFTP server answered nothing for ${this.#stallTimeoutMs} ms`;
      this.#fail(new GatewayError('stall_timeout', text, { step: 'transfer' }));
    };
    const checkMs = Math.min(MOST_CHECK_MS, this.#stallTimeoutMs / CHECKS);
    this.#roomGiven = this.#writer.grantedBytes;
    this.#watch = setTimeout(checkProgress, checkMs).unref();
  }

  #write(...pieces: Buffer[]): void {
    for (const piece of pieces) this.#writer.add(piece);
    if (this.#isSending) return;
    this.#isSending = true;
    queueMicrotask(() => {
      this.#isSending = false;
      this.#writer.flush();
    });
  }

  #refillWindow(): void {
    if (this.#window === 0 || this.#failure !== undefined) return;
    const { incoming, outgoing, _client } = internals(this.#channel);
    const protocol = _client?._protocol;
    if (typeof incoming?.window !== 'number' || typeof outgoing?.id !== 'number') return;
    if (incoming.window >= this.#window / 2 || protocol?.channelWindowAdjust === undefined) return;
    const bytes = this.#window - incoming.window;
    incoming.window += bytes;
    protocol.channelWindowAdjust(outgoing.id, bytes);
  }
}

const internals = (channel: ClientChannel): ChannelInternals => channel as unknown as ChannelInternals;

function lost(text: string, cause?: unknown): GatewayError {
  return new GatewayError('connection_lost', text, { step: 'transfer', cause });
}
