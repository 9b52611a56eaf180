import { LRUCache } from 'lru-cache';
import type { EndSignal } from '../../../base/ending.js';
import { GatewayError } from '../../../base/errors.js';
import type { Session } from '../../../pools/session.js';
import type { FtpConnection } from '../../../connections/connection.js';
import type { PoolLimits } from '../../../contract/connection/fields.js';
import type { RemotePath } from '../../path.js';
import type { ProtocolDeps } from '../../protocol.js';
import type { Control } from './control.js';
import type { Features } from './features.js';
import { hostOf, logIn, type LoggedIn } from './login.js';
import type { FtpMemory } from '../memory.js';
import type { Reply } from './replies.js';
import type { Security } from './security.js';

/** The right to use a session's one control connection for the length of one operation. */
export interface FtpLease {
  /** The current control connection; reconnect() replaces it. */
  readonly control: Control;
  readonly features: Features;
  readonly security: Security | undefined;
  readonly memory: FtpMemory;
  check(signal: EndSignal): Promise<void>;
  /** Folders in which this session has stored a file. */
  readonly provenFolders: LRUCache<RemotePath, true>;
  /** The folder entered last, as a path of the server; undefined: the login folder. */
  workingFolder: string | undefined;
  /** The login folder as the server names it; asked once, before anything changes the working folder. */
  loginFolder(signal: EndSignal): Promise<string>;
  /**
   * Closes the control connection and logs in again in the same slot of the pool, to clean up after a transfer that was
   * cut. The session is not used again afterwards.
   */
  reconnect(signal: EndSignal): Promise<void>;
}

const CHECK_TIMEOUT_MS = 10_000;
const MAX_PROVEN_FOLDERS = 256;

export class FtpSession implements Session<FtpLease>, FtpLease {
  readonly #connection: FtpConnection;
  readonly #limits: PoolLimits;
  readonly #deps: ProtocolDeps;
  readonly capacity = 1;
  readonly provenFolders = new LRUCache<RemotePath, true>({ max: MAX_PROVEN_FOLDERS });
  readonly connectedAt: number;
  workingFolder: string | undefined;
  #current: LoggedIn;
  #leased = false;
  #closed = false;
  #spent = false;
  #folder: string | undefined;
  readonly #closeListeners: (() => void)[] = [];

  private constructor(
    connection: FtpConnection,
    limits: PoolLimits,
    deps: ProtocolDeps,
    readonly memory: FtpMemory,
    first: LoggedIn,
  ) {
    this.#connection = connection;
    this.#limits = limits;
    this.#deps = deps;

    this.#current = this.#adopt(first);
    this.connectedAt = first.connectedAt;
  }

  static async open(
    connection: FtpConnection,
    limits: PoolLimits,
    deps: ProtocolDeps,
    memory: FtpMemory,
    signal: EndSignal,
  ): Promise<FtpSession> {
    return new FtpSession(connection, limits, deps, memory, await logIn(connection, limits, deps, signal));
  }

  /** While leased the slot stays taken even if the connection is lost: clean-up may log in again in it. */
  get alive(): boolean {
    return !this.#closed && (this.#leased || (this.control.alive && !this.#spent));
  }

  get control(): Control {
    return this.#current.control;
  }

  get features(): Features {
    return this.#current.features;
  }

  get security(): Security | undefined {
    return this.#current.security;
  }

  async lease(signal: EndSignal): Promise<FtpLease> {
    signal.throwIfAborted();
    if (!this.alive) {
      throw new GatewayError('connection_lost', `the session on ${hostOf(this.#connection)} is gone`, {
        step: 'acquire',
      });
    }
    this.#leased = true;
    return this;
  }

  leaseNow(): FtpLease | undefined {
    if (!this.alive) return undefined;
    this.#leased = true;
    return this;
  }

  release(_lease: FtpLease, fate: 'keep' | 'discard'): void {
    this.#leased = false;
    // An unfinished transfer leaves replies under way that the next operation would take for its own.
    if (fate === 'discard' || this.#spent || this.control.busy || !this.control.alive) this.close();
  }

  async check(signal: EndSignal): Promise<void> {
    // Any reply proves that the server is there.
    const noop = this.control.ask('NOOP', { signal });
    await this.control.answerInTime(noop, 'NOOP', Math.min(CHECK_TIMEOUT_MS, this.#limits.stallTimeoutMs));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.control.close();
    for (const listener of this.#closeListeners) listener();
  }

  onClose(listener: () => void): void {
    if (this.#closed) queueMicrotask(listener);
    else this.#closeListeners.push(listener);
  }

  async loginFolder(signal: EndSignal): Promise<string> {
    this.#folder ??= parseFolder(await this.control.ask('PWD', { signal, success: [257] }));
    return this.#folder;
  }

  async reconnect(signal: EndSignal): Promise<void> {
    this.#spent = true;
    this.control.close();
    this.workingFolder = undefined;
    const again = await logIn(this.#connection, this.#limits, this.#deps, signal);
    this.#current = this.#adopt(again);
    if (this.#closed) this.control.close();
  }

  #adopt(opened: LoggedIn): LoggedIn {
    opened.control.onLost(() => {
      if (!this.#leased) this.close();
    });
    return opened;
  }
}

/**
 * Parses `257 "/a ""quoted"" folder" is current` (RFC 959, appendix II: quotes are doubled), or the same without
 * quotes. If a server does not name its login folder, the root serves as well: it is only asked for absolute paths.
 */
function parseFolder(reply: Reply): string {
  const quoted = /"((?:[^"]|"")*)"/.exec(reply.text)?.[1];
  if (reply.code === 257 && quoted !== undefined) return quoted.replaceAll('""', '"');
  return (reply.code === 257 ? /^257[ -](\/\S*)/.exec(reply.text)?.[1] : undefined) ?? '/';
}
