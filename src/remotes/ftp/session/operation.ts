import type { NameEncoding } from '../../../base/encoding.js';
import type { EndSignal } from '../../../base/ending.js';
import type { FtpConnection } from '../../../connections/connection.js';
import type { PoolLimits } from '../../../contract/connection/fields.js';
import { ROOT, underRoot, type RemotePath } from '../../path.js';
import type { ProtocolDeps } from '../../protocol.js';
import type { RemoteContext } from '../../remote.js';
import { timeValueMs } from '../names/entries.js';
import type { Ask } from './control.js';
import { isPositive, isUnsupported, type Reply } from './replies.js';
import type { FtpLease } from './session.js';

/** A command about a path; `success` and `isSequel` as in Control. */
export interface Question extends Omit<Ask, 'command'> {
  readonly verb: string;
  readonly path: RemotePath;
}

/** The shared state of all steps of one operation: its lease, its limits, and the signal that ends it. */
export class FtpOperation {
  constructor(
    readonly lease: FtpLease,
    readonly connection: Pick<
      FtpConnection,
      | 'host'
      | 'rootPath'
      | 'accountId'
      | 'allowPrivate'
      | 'listing'
      | 'timeZone'
      | 'proxy'
      | 'proxyPassword'
      | 'via'
      | 'jump'
    >,
    readonly limits: PoolLimits,
    readonly deps: ProtocolDeps,
    readonly context: RemoteContext,
    readonly signal: EndSignal = context.ending ?? context.signal,
  ) {}

  get host(): string {
    return this.lease.control.host;
  }

  get encoding(): NameEncoding {
    return this.lease.control.encoding;
  }

  /** The path on the server: always absolute, so that no folder has to be entered and no name begins with "-". */
  at(path: RemotePath): string {
    return underRoot(this.connection.rootPath, path);
  }

  /** Sends one command about `path`; a refusal is also a reply. `success`: the codes of success, 2xx when absent. */
  ask(verb: string, path: RemotePath, success?: readonly number[]): Promise<Reply> {
    return this.send(`${verb} ${this.at(path)}`, success);
  }

  send(command: string, success?: readonly number[]): Promise<Reply> {
    return this.lease.control.ask(command, { signal: this.signal, ...(success === undefined ? {} : { success }) });
  }

  /** Sends several commands, together if the server supports that (Control.askAll). */
  askAll(questions: readonly Question[]): Promise<readonly Reply[]> {
    const asks = questions.map(({ verb, path, ...ask }) => ({ ...ask, command: `${verb} ${this.at(path)}` }));
    return this.lease.control.askAll(asks, this.signal);
  }

  /** The size in bytes, or the server's refusal. */
  async askSize(path: RemotePath): Promise<number | Reply> {
    return sizeIn(await this.ask('SIZE', path, [213]));
  }

  /** Undefined if the server keeps or reports no time. */
  async askModifiedAt(path: RemotePath): Promise<Date | undefined> {
    return this.lease.memory.hasMdtm ? this.timeIn(await this.ask('MDTM', path, [213])) : undefined;
  }

  /** Reads the time in an answer to MDTM. */
  timeIn(reply: Reply | undefined): Date | undefined {
    if (reply === undefined) return undefined;
    if (isUnsupported(reply)) this.lease.memory.hasMdtm = false;
    const ms = reply.code === 213 ? timeValueMs(reply.text.slice(4).trim()) : undefined;
    return ms === undefined ? undefined : new Date(ms);
  }

  /** Makes `folder` the working folder; records the login folder first. */
  async enter(folder: RemotePath): Promise<Reply> {
    const { lease } = this;
    await lease.loginFolder(this.signal);
    const reply = await this.ask('CWD', folder);
    if (isPositive(reply)) lease.workingFolder = this.at(folder);
    return reply;
  }

  /**
   * Leaves the folder before it is removed: servers refuse to remove their working folder, or fail when it is gone
   * (pure-ftpd).
   */
  async leave(folder: RemotePath): Promise<void> {
    const { workingFolder = '' } = this.lease;
    if (`${workingFolder}/`.startsWith(`${this.at(folder)}/`)) await this.enter(ROOT);
  }

  async isFolder(path: RemotePath): Promise<boolean> {
    return isPositive(await this.enter(path));
  }

  /** The same operation with another signal: clean-up continues after the operation's own signal has fired. */
  under(signal: EndSignal): FtpOperation {
    return new FtpOperation(this.lease, this.connection, this.limits, this.deps, this.context, signal);
  }
}

/** Reads the size in an answer to SIZE, asked under TYPE I: in ASCII it would differ or be refused. */
export function sizeIn(reply: Reply): number | Reply {
  if (reply.code !== 213) return reply;
  const digits = /^213[ -](\d{1,16})\b/.exec(reply.text)?.[1];
  return digits === undefined ? { code: 502, text: reply.text } : Number(digits);
}
