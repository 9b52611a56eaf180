import type { Client, ClientChannel } from 'ssh2';
import { waitFor, within } from '../../../base/deadline.js';
import type { EndSignal } from '../../../base/ending.js';
import { GatewayError, hasCode } from '../../../base/errors.js';
import { retrying } from '../../../base/retry.js';
import type { RetrySchedule } from '../../../base/retry-schedule.js';
import type { Session } from '../../../pools/session.js';
import type { SftpConnection } from '../../../connections/connection.js';
import type { PoolLimits } from '../../../contract/connection/fields.js';
import type { ProtocolDeps } from '../../protocol.js';
import { SftpChannel } from './channel.js';
import { ChannelLine } from './channel-line.js';
import type { SftpMemory } from '../memory.js';
import { logIn, type Login } from './login.js';

/** A slot is free on the server only when the closed channel's process is gone, a moment after the channel. */
const SLOT_RELEASE_MS = 1000;
const SLOT_RETRIES: RetrySchedule = { delaysMs: [40], isEndless: true };
const CLOSE_WAIT_MS = 2000;
/** How long a session may take to prove that it is alive: a client waits that could use another session. */
const CHECK_TIMEOUT_MS = 5_000;
/** How long a command may take to end after KILL. */
const KILL_WAIT_MS = 500;
/** How long the login on another connection, after this one was lost, may take. */
const ANOTHER_MS = 20_000;

/**
 * The right to use one channel of an SSH connection. The channel opens at the first file operation: a command needs
 * none, and a server that admits a single channel could not run both.
 */
export class SftpLease {
  /** A command holds the slot; an SFTP channel may be open beside it but need not be. */
  runsCommand = false;
  #channel: SftpChannel | undefined;
  #opening: Promise<SftpChannel> | undefined;

  constructor(
    readonly session: SftpSession,
    channel: SftpChannel | undefined,
  ) {
    this.#channel = channel;
  }

  /** The channel; opens one if there is none yet. too_many_sessions, connection_lost, remote_failure. */
  async channel(): Promise<SftpChannel> {
    if (this.#channel !== undefined) {
      // A failed channel is not replaced: the state of its work is unknown.
      if (this.#channel.failure !== undefined) throw this.#channel.failure;
      return this.#channel;
    }
    this.#opening ??= this.session.channelFor(this);
    try {
      this.#channel = await this.#opening;
      return this.#channel;
    } finally {
      this.#opening = undefined;
    }
  }

  get current(): SftpChannel | undefined {
    return this.#channel;
  }

  /**
   * Does `work` on another channel, after this one has failed: on the same connection if it may still live, otherwise on
   * one of its own. That one is not counted in the pool: it lasts for a few requests, in place of one that is lost.
   */
  async afresh<R>(work: (channel: SftpChannel) => Promise<R>): Promise<R> {
    const isSilent = hasCode(this.#channel?.failure, 'stall_timeout');
    if (this.session.alive && !isSilent) {
      await this.closeChannel();
      return work(await this.channel());
    }
    const session = await this.session.another();
    try {
      return await work(await session.openChannel());
    } finally {
      session.close();
    }
  }

  /** Closes the channel, so that its slot can serve a command; a later file operation opens another one. */
  async closeChannel(): Promise<void> {
    const channel = this.#channel;
    this.#channel = undefined;
    if (channel !== undefined) await this.session.closeChannel(channel);
  }
}

/** How a command ended: its code, or the name of the signal that ended it. */
interface CommandExit {
  readonly code: number | null;
  readonly signal: string | undefined;
}

export interface RunningCommand {
  readonly channel: ClientChannel;
  /** Undefined until the server has reported it. */
  readonly exit: () => CommandExit | undefined;
}

/**
 * ssh2 sends no signal once the input has ended, which for a command here is at once; its internal function still does.
 */
interface SignalSender {
  readonly outgoing?: { readonly id?: unknown };
  readonly _client?: { readonly _protocol?: { signal?(id: number, name: string): void } };
}

/** One SSH connection and the channels on it. */
export class SftpSession implements Session<SftpLease> {
  readonly software: string;
  /** The fingerprint of the server's host key: `SHA256:…`. */
  readonly fingerprint: string;
  readonly hostKeyAlgorithm: string;
  /** An authority of the connections certifies it. */
  readonly isCertified: boolean;
  /** All agreed ones, for either direction. */
  readonly algorithms: readonly string[];
  /** Ids of the connections that trust this host key. */
  readonly trustedBy = new Set<string>();
  readonly announced: Login['announced'];
  readonly memory: SftpMemory;
  readonly host: string;
  readonly #client: Client;
  readonly #login: Login;
  readonly #another: (until: AbortSignal) => Promise<SftpSession>;
  readonly #limits: PoolLimits;
  readonly #leases = new Set<SftpLease>();
  readonly #line = new ChannelLine<SftpChannel>();
  readonly #channels = new Set<SftpChannel>();
  readonly #closing = new Set<Promise<void>>();
  #capacity: number;
  /** Channels that striped uploads have borrowed in addition to their own. */
  #borrowed = 0;
  #hasRoom: (() => void) | undefined;
  #lastClosedAt = -Infinity;
  /** A command that did not end may hold its slot on the server for as long as it likes. */
  #mayHaveLostSlot = false;
  #failure: GatewayError | undefined;
  #home: Promise<Buffer> | undefined;

  /** Logs in to the connection's server. Errors: see logIn. */
  static async open(
    connection: SftpConnection,
    limits: PoolLimits,
    deps: ProtocolDeps,
    memory: SftpMemory,
    signal: AbortSignal,
  ): Promise<SftpSession> {
    const login = await logIn(connection, limits, deps, memory, signal);
    const another = (until: AbortSignal): Promise<SftpSession> =>
      SftpSession.open(connection, limits, deps, memory, until);
    const session = new SftpSession(login, `${connection.host}:${connection.port}`, limits, memory, another);
    session.trustedBy.add(connection.id);
    return session;
  }

  private constructor(
    login: Login,
    host: string,
    limits: PoolLimits,
    memory: SftpMemory,
    another: (until: AbortSignal) => Promise<SftpSession>,
  ) {
    this.#login = login;
    this.#another = another;
    this.#client = login.client;
    this.software = login.software;
    this.fingerprint = login.fingerprint;
    this.hostKeyAlgorithm = login.hostKeyAlgorithm;
    this.isCertified = login.isCertified;
    this.algorithms = login.algorithms;
    this.announced = login.announced;
    this.host = host;
    this.memory = memory;
    this.#limits = limits;
    this.#capacity = Math.max(1, Math.min(limits.maxChannelsPerSession, memory.maxChannels ?? Infinity));
    login.client.on('error', (error) => this.#end(error));
    login.client.on('end', () => this.#end());
    login.client.on('close', () => this.#end());
    // The socket may have closed between the login and these listeners.
    if (login.socket.destroyed) this.#end();
  }

  get connectedAt(): number {
    return this.#login.connectedAt;
  }

  /** Logs in again to the same server, on a session that the caller closes. */
  async another(): Promise<SftpSession> {
    const session = await this.#another(AbortSignal.timeout(ANOTHER_MS));
    if (session.fingerprint === this.fingerprint || session.isCertified) return session;
    session.close();
    throw new GatewayError('host_key_mismatch', `${this.host} shows another host key than before`, { step: 'login' });
  }

  get alive(): boolean {
    return this.#failure === undefined;
  }

  get capacity(): number {
    return Math.max(1, this.#capacity - this.#borrowed);
  }

  /** Encrypted bytes that wait for the network. */
  get queuedBytes(): number {
    return this.#login.packets.queuedBytes;
  }

  async lease(signal: EndSignal): Promise<SftpLease> {
    signal.throwIfAborted();
    this.#throwIfGone();
    const idle = this.#line.take();
    // The first channel of a connection is never refused for its number, so it can be opened when it is needed.
    if (idle !== undefined || (this.#leases.size === 0 && !this.#mayHaveLostSlot)) return this.#grant(idle);
    const channel = await this.#openBeside();
    if (signal.aborted) {
      this.#line.put(channel);
      signal.throwIfAborted();
    }
    return this.#grant(channel);
  }

  /** Leases that wait for their opening come first, so that a refusal hits the newcomer and not work under way. */
  async #openBeside(): Promise<SftpChannel> {
    for (const lease of this.#leases) {
      if (lease.current === undefined && !lease.runsCommand) await lease.channel().catch(() => undefined);
    }
    return this.#line.wait(() => this.openChannel());
  }

  leaseNow(): SftpLease | undefined {
    const idle = this.alive ? this.#line.take() : undefined;
    return idle === undefined ? undefined : this.#grant(idle);
  }

  release(lease: SftpLease, fate: 'keep' | 'discard'): void {
    if (!this.#leases.delete(lease)) return;
    const channel = lease.current;
    if (channel === undefined) return;
    if (fate === 'keep' && channel.alive && this.alive) this.#line.put(channel);
    else void this.closeChannel(channel);
  }

  async check(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#throwIfGone();
    await this.inTime(this.#roundTrip());
  }

  /** Returns the answer of an idle session, or stall_timeout. */
  inTime<T>(answer: Promise<T>): Promise<T> {
    const timeoutMs = Math.min(CHECK_TIMEOUT_MS, this.#limits.stallTimeoutMs);
    return within(answer, timeoutMs, () => {
      const text = `${this.host} gave no sign of life on an idle connection within ${timeoutMs} ms`;
      throw new GatewayError('stall_timeout', text, { step: 'acquire' });
    });
  }

  async #roundTrip(): Promise<void> {
    const channel = this.#line.take() ?? (await this.#openBeside());
    try {
      await channel.realPath(Buffer.from('.'));
    } catch (error) {
      void this.closeChannel(channel);
      // Any reply proves that the server is there.
      if (error instanceof GatewayError) throw error;
      return;
    }
    this.#line.put(channel);
  }

  close(): void {
    this.#end(undefined, new GatewayError('connection_lost', 'the gateway closed the connection'));
  }

  onClose(listener: () => void): void {
    if (this.#login.socket.closed) queueMicrotask(listener);
    else this.#login.socket.once('close', listener);
  }

  /** The login folder; asked for once. */
  home(channel: SftpChannel): Promise<Buffer> {
    if (this.#home === undefined) {
      this.#home = channel.realPath(Buffer.from('.'));
      this.#home.catch(() => (this.#home = undefined));
    }
    return this.#home;
  }

  /** Opens the channel of a lease that has none yet. */
  async channelFor(lease: SftpLease): Promise<SftpChannel> {
    const channel = await this.#line.wait(() => this.openChannel(lease));
    if (this.#leases.has(lease)) return channel;
    this.#line.put(channel);
    throw new GatewayError('internal', 'the lease ended before its channel was open');
  }

  /** Opens an SFTP channel. too_many_sessions if the server admits no further one; the capacity then shrinks. */
  async openChannel(forLease?: SftpLease): Promise<SftpChannel> {
    const others = this.#leases.size + this.#borrowed - (forLease === undefined ? 0 : 1);
    const raw = await this.#openRaw((opened) => this.#client.subsys('sftp', opened), 'SFTP', others);
    const channel = await SftpChannel.start(raw, this.#limits.stallTimeoutMs);
    this.#channels.add(channel);
    void channel.closed.then(() => this.#channels.delete(channel));
    if (this.#failure !== undefined) channel.end(this.#failure);
    return channel;
  }

  /** Starts a command on its own channel; if no other slot is free it takes the lease's. */
  async openCommand(lease: SftpLease, command: string): Promise<RunningCommand> {
    lease.runsCommand = true;
    const start = async (others?: number): Promise<RunningCommand> => {
      // Listens from the first moment: a short command's exit arrives in the very packet that opens its channel.
      let exit: CommandExit | undefined;
      const channel = await this.#openRaw(
        (opened) =>
          this.#client.exec(command, (error, made) => {
            // In spite of its type, the channel is undefined if there is an error.
            (made as ClientChannel | undefined)?.on('exit', (code: number | null, signal?: string) => {
              exit = { code, signal };
            });
            opened(error, made);
          }),
        'commands',
        others,
      );
      return { channel, exit: () => exit };
    };
    const others = this.#leases.size + this.#borrowed - 1;
    const hasIdle = lease.current !== undefined || this.#line.hasSpare;
    if (!hasIdle) return start(others);
    if (this.#openCount < this.#capacity) {
      try {
        return await start();
      } catch (error) {
        if (!hasCode(error, 'too_many_sessions')) throw error;
      }
    }
    await Promise.all([lease.closeChannel(), ...this.#line.takeAll().map((idle) => this.closeChannel(idle))]);
    return start(others);
  }

  /**
   * Ends a command: sends KILL (RFC 4254, 6.9) and, when it has ended or after a short time, closes its channel,
   * because not every server passes the signal on (OpenSSH does not for root).
   */
  async killCommand({ channel, exit }: RunningCommand): Promise<void> {
    const { outgoing, _client } = channel as unknown as SignalSender;
    this.#mayHaveLostSlot = true;
    const died = new Promise((done) => channel.once('exit', done).once('close', done));
    if (typeof outgoing?.id === 'number') _client?._protocol?.signal?.(outgoing.id, 'KILL');
    await within(died, KILL_WAIT_MS, () => undefined, { isPatient: false });
    if (exit() !== undefined) this.#mayHaveLostSlot = false;
    channel.close();
    this.#lastClosedAt = performance.now();
  }

  /** Borrows another channel for work that already holds a lease, if one is free; return it with `giveBack`. */
  async borrowChannel(): Promise<SftpChannel | undefined> {
    if (!this.alive || this.#leases.size + this.#borrowed >= this.#capacity) return undefined;
    this.#borrowed += 1;
    try {
      return this.#line.take() ?? (await this.openChannel());
    } catch {
      this.#returned();
      return undefined;
    }
  }

  giveBack(channel: SftpChannel): void {
    if (channel.alive && this.alive) this.#line.put(channel);
    else void this.closeChannel(channel);
    this.#returned();
  }

  #returned(): void {
    this.#borrowed -= 1;
    this.#hasRoom?.();
  }

  onRoom(listener: () => void): void {
    this.#hasRoom = listener;
  }

  /** Resolves when the server has released it, or after a short time. */
  async closeChannel(channel: SftpChannel): Promise<void> {
    channel.end(new GatewayError('connection_lost', 'the SFTP channel was closed'));
    const gone = within(channel.closed, CLOSE_WAIT_MS, () => undefined, { isPatient: false });
    this.#closing.add(gone);
    await gone;
    this.#closing.delete(gone);
    this.#lastClosedAt = performance.now();
  }

  get #openCount(): number {
    let open = 0;
    for (const channel of this.#channels) if (channel.alive) open += 1;
    return open;
  }

  #grant(channel: SftpChannel | undefined): SftpLease {
    const lease = new SftpLease(this, channel);
    this.#leases.add(lease);
    return lease;
  }

  /** `others`: slots in use besides the wanted one; a refusal shows the capacity by them. */
  async #openRaw(
    open: (opened: (error: Error | undefined, channel: ClientChannel) => void) => void,
    what: string,
    others?: number,
  ): Promise<ClientChannel> {
    const attempt = async (): Promise<ClientChannel> => {
      this.#throwIfGone();
      await Promise.all(this.#closing);
      const channel = await this.#openOnce(open);
      // Servers count a channel for a moment after its end.
      channel.once('close', () => (this.#lastClosedAt = performance.now()));
      return channel;
    };
    const isReleased = (): boolean => performance.now() - this.#lastClosedAt >= SLOT_RELEASE_MS;
    try {
      return await retrying(SLOT_RETRIES, attempt, (error) => isRefusedChannel(error) && !isReleased());
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      // ssh2 throws this before it has reported that the socket is gone.
      if ((error as Error).message === 'Not connected') this.#end();
      this.#throwIfGone();
      const reply = { text: (error as Error).message };
      if (!isRefusedChannel(error)) {
        // ssh2 leaves the channel open and gives no access to it: its slot is lost.
        this.#capacity = Math.max(1, this.#capacity - 1);
        throw new GatewayError('remote_failure', `${this.host} does not offer ${what} to this login`, {
          step: 'open',
          remote: reply,
          cause: error,
        });
      }
      if (others === 0) {
        // Not even one channel: what is still open there is not ours, and a new connection will do better.
        this.#end(undefined, new GatewayError('connection_lost', `${this.host} admits no channel on this connection`));
        this.#throwIfGone();
      }
      if (others !== undefined) this.#learnCapacity(others);
      throw new GatewayError('too_many_sessions', `${this.host} admits no further channel on this connection`, {
        step: 'open',
        remote: reply,
        cause: error,
      });
    }
  }

  #openOnce(
    open: (opened: (error: Error | undefined, channel: ClientChannel) => void) => void,
  ): Promise<ClientChannel> {
    const { stallTimeoutMs: ms } = this.#limits;
    const late = (): GatewayError =>
      new GatewayError('stall_timeout', `${this.host} opened no channel within ${ms} ms`, { step: 'open' });
    return waitFor({ ms, late }, (done, fail) => {
      let isLate = false;
      open((error, channel) => {
        if (error !== undefined) fail(error);
        else if (isLate) channel.close();
        else done(channel);
      });
      return () => (isLate = true);
    });
  }

  #learnCapacity(held: number): void {
    this.#capacity = Math.max(1, Math.min(this.#capacity, held));
    this.memory.maxChannels = this.#capacity;
  }

  #throwIfGone(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #end(error?: Error, reason?: GatewayError): void {
    if (this.#failure !== undefined) return;
    this.#failure =
      reason ??
      new GatewayError('connection_lost', `${this.host} ended the connection${error ? `: ${error.message}` : ''}`, {
        cause: error,
      });
    for (const channel of this.#channels) channel.end(this.#failure);
    this.#client.end();
    // A peer that never closes its half would keep the socket for ever.
    this.#login.socket.destroySoon();
    setTimeout(() => this.#login.socket.destroy(), CLOSE_WAIT_MS).unref();
  }
}

/** RFC 4254, 5.1: only a refused channel has a reason; a refused request on it has none. */
function isRefusedChannel(error: unknown): boolean {
  return error instanceof Error && 'reason' in error && error.reason !== undefined;
}
