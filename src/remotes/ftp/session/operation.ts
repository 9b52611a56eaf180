import type { FtpConnection, PoolLimits } from '../../../connections/connection.js';
import { ROOT, underRoot, type RemotePath } from '../../path.js';
import type { ProtocolDeps } from '../../protocol.js';
import type { RemoteContext } from '../../remote.js';
import { parseTimeValue } from '../names/entries.js';
import { isPositive, isUnsupported, type Reply } from './replies.js';
import type { FtpLease } from './session.js';

/** What every step of one operation works with: the lease it holds, its limits, and the signal that ends it. */
export class Operation {
  constructor(
    readonly lease: FtpLease,
    readonly connection: Pick<FtpConnection, 'rootPath' | 'accountId' | 'allowPrivate'>,
    readonly limits: PoolLimits,
    readonly deps: ProtocolDeps,
    readonly context: RemoteContext,
    readonly signal: AbortSignal = context.signal,
  ) {}

  get host(): string {
    return this.lease.control.host;
  }

  /** The path as the server knows it: always absolute, so that no folder has to be entered and no name begins with "-". */
  at(path: RemotePath): string {
    return underRoot(this.connection.rootPath, path);
  }

  /** One command about `path`; a refusal is a reply too. `success`: the codes of success, 2xx when absent. */
  ask(verb: string, path: RemotePath, success?: readonly number[]): Promise<Reply> {
    return this.send(`${verb} ${this.at(path)}`, success);
  }

  send(command: string, success?: readonly number[]): Promise<Reply> {
    return this.lease.control.ask(command, { signal: this.signal, ...(success === undefined ? {} : { success }) });
  }

  /** Bytes, or the server's refusal. Asked under TYPE I: in ASCII the answer would be another one, or none. */
  async askSize(path: RemotePath): Promise<number | Reply> {
    const reply = await this.ask('SIZE', path, [213]);
    if (reply.code !== 213) return reply;
    const digits = /^213[ -](\d{1,16})\b/.exec(reply.text)?.[1];
    return digits === undefined ? { code: 502, text: reply.text } : Number(digits);
  }

  /** Undefined where the server keeps or tells no time. */
  async askModifiedAt(path: RemotePath): Promise<Date | undefined> {
    const { memory } = this.lease;
    if (!memory.hasMdtm) return undefined;
    const reply = await this.ask('MDTM', path, [213]);
    if (isUnsupported(reply)) memory.hasMdtm = false;
    return reply.code === 213 ? parseTimeValue(reply.text.slice(4).trim()) : undefined;
  }

  /** Makes `folder` the working folder; the login folder is remembered first. */
  async enter(folder: RemotePath): Promise<Reply> {
    const { lease } = this;
    await lease.loginFolder(this.signal);
    const reply = await this.ask('CWD', folder);
    if (isPositive(reply)) lease.workingFolder = this.at(folder);
    return reply;
  }

  /** Servers refuse to remove the folder that they are in, or break when it is gone (pure-ftpd). */
  async leave(folder: RemotePath): Promise<void> {
    const { workingFolder = '' } = this.lease;
    if (`${workingFolder}/`.startsWith(`${this.at(folder)}/`)) await this.enter(ROOT);
  }

  async isFolder(path: RemotePath): Promise<boolean> {
    return isPositive(await this.enter(path));
  }

  /** The same operation under another signal: clean-up goes on after the operation's own has fired. */
  under(signal: AbortSignal): Operation {
    return new Operation(this.lease, this.connection, this.limits, this.deps, this.context, signal);
  }
}
