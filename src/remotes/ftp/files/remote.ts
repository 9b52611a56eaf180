import { TLSSocket } from 'node:tls';
import { toGatewayError } from '../../../base/errors.js';
import type { FtpConnection } from '../../../connections/connection.js';
import type { PoolLimits } from '../../../contract/connection/fields.js';
import { isAFolder, notAFolder, notEmpty, notFound, refuseRoot } from '../../obstacles.js';
import { UTF_8 } from '../../encoded-names.js';
import { baseName, parseRemotePath, ROOT, underRoot, type RemotePath } from '../../path.js';
import type { ProtocolDeps } from '../../protocol.js';
import { isAnswerLost, movePlace } from '../../publish.js';
import type {
  ByteRange,
  Capabilities,
  FileInfo,
  ListOptions,
  MoveOptions,
  OpenFile,
  Remote,
  RemoteContext,
  RemoveOptions,
  RemoteWriter,
  ServerFacts,
  ServerProof,
  WriteOptions,
  Pieces,
} from '../../remote.js';
import type { ProbeResult } from '../../probe-result.js';
import { openFile } from './source.js';
import { certificateOf, proofOf } from '../../certificate-proof.js';
import { holdsAnything, listFolder } from '../names/listing.js';
import { find, stat, untilAtRest, withListedTime } from './lookup.js';
import { FtpOperation } from '../session/operation.js';
import { placesOn, reconnected } from './places.js';
import { FtpPieces } from './pieces.js';
import { isPositive, refusedBy, saysNoFolder } from '../session/replies.js';
import type { FtpLease } from '../session/session.js';
import { canSetTimes, dated } from './times.js';
import { openAppender, openWriter } from './writer.js';
import { MINUTE_MS, SECOND_MS } from '../../../contract/units.js';

const CLOCK = /\d{1,2}:\d{2}/;

export class FtpRemote implements Remote {
  readonly #lease: FtpLease;
  readonly #connection: FtpConnection;
  readonly #operation: FtpOperation;
  #knownHome: Promise<RemotePath> | undefined;

  constructor(
    lease: FtpLease,
    connection: FtpConnection,
    limits: PoolLimits,
    deps: ProtocolDeps,
    context: RemoteContext,
  ) {
    this.#lease = lease;
    this.#connection = connection;

    this.#operation = new FtpOperation(lease, connection, limits, deps, context);
  }

  get can(): Capabilities {
    const { control, features, memory, security } = this.#lease;
    // LIST of these two shows each link as a link, with any settings; LIST of ProFTPD may not.
    const showsLinks =
      (features.machineListings && memory.machineListings) ||
      control.isSoftware('vsftpd') ||
      control.isSoftware('pure-ftpd');
    return {
      moveOnto: memory.moveOnto,
      exclusiveCreate: false,
      readsWhileWriting: false,
      timeResolutionMs: features.machineListings && memory.machineListings ? SECOND_MS : MINUTE_MS,
      statTimeResolutionMs:
        (features.machineListings && memory.machineListings) || memory.hasMdtm ? SECOND_MS : MINUTE_MS,
      keepsTimes: canSetTimes(this.#lease) && memory.keepsTimes !== false ? 'listed' : 'no',
      callsAtOnce: 1,
      ...(security === undefined ? { listingsMayEndEarly: true } : {}),
      ...(showsLinks ? {} : { mayHideLinks: true }),
    };
  }

  get proof(): ServerProof {
    return proofOf(this.#lease.control.socket);
  }

  async probe(): Promise<ProbeResult> {
    const startedAt = performance.now();
    await this.#lease.check(this.#operation.signal);
    const answerMs = performance.now() - startedAt;
    const { control, features } = this.#lease;
    const { socket } = control;
    const certificate = certificateOf(socket);
    const [banner = ''] = control.banner.split('\n');
    return {
      answerMs,
      extensions: features.names,
      // A greeting with a clock is another one each time.
      ...(CLOCK.test(banner) ? {} : { banner }),
      ...(socket instanceof TLSSocket ? { algorithms: [socket.getProtocol() ?? '', socket.getCipher().name] } : {}),
      ...(certificate === undefined ? {} : { certificate }),
    };
  }

  get facts(): ServerFacts {
    const { control, features, memory, security } = this.#lease;
    const { listing, timeZone, encoding } = this.#connection;
    return {
      software: control.banner,
      protocol: security === undefined ? 'FTP' : 'FTP over TLS',
      utf8: features.utf8,
      ...(control.encoding === UTF_8 ? {} : { encoding }),
      machineListings: features.machineListings && memory.machineListings,
      listing,
      ...(timeZone === undefined ? {} : { timeZone }),
      passive: memory.passive,
    };
  }

  home(): Promise<RemotePath> {
    return (this.#knownHome ??= this.#askHome());
  }

  async #askHome(): Promise<RemotePath> {
    const folder = await this.#lease.loginFolder(this.#operation.signal);
    const root = underRoot(this.#connection.rootPath, ROOT);
    const prefix = root === '/' ? '/' : `${root}/`;
    if (folder === root || !folder.startsWith(prefix)) return ROOT;
    try {
      return parseRemotePath(folder.slice(prefix.length), ROOT, 'the login folder');
    } catch (error) {
      this.#operation.deps.log('FTP login folder cannot be used', { host: this.#operation.host, cause: String(error) });
      return ROOT;
    }
  }

  async stat(path: RemotePath): Promise<FileInfo> {
    return withListedTime(this.#operation, await stat(this.#operation, path));
  }

  list(folder: RemotePath, options: ListOptions = {}): AsyncIterable<readonly FileInfo[]> {
    return listFolder(this.#operation, folder, options);
  }

  read(path: RemotePath, select?: (info: FileInfo) => ByteRange | undefined): Promise<OpenFile> {
    return openFile(this.#operation, path, select);
  }

  async write(path: RemotePath, options: WriteOptions): Promise<RemoteWriter> {
    // The final path may begin at the login folder, and no question can be asked while the content is sent. A refusal
    // matters only at commit.
    if (options.provisional === true) await this.home().catch(() => undefined);
    return openWriter(this.#operation, path, this.#connection.atomicUploads && options.isHidden !== true, options);
  }

  append(path: RemotePath): Promise<RemoteWriter> {
    return openAppender(this.#operation, path);
  }

  get pieces(): Pieces {
    return new FtpPieces(this.#operation, this.#connection.atomicUploads, (path) =>
      this.remove(path, { isLeftover: true }),
    );
  }

  async setTime(path: RemotePath, modifiedAt: Date): Promise<FileInfo> {
    const { isDirectory } = await stat(this.#operation, path);
    if (isDirectory) throw isAFolder(path);
    return dated(this.#operation, path, modifiedAt);
  }

  async move(from: RemotePath, to: RemotePath, { replace }: MoveOptions): Promise<FileInfo> {
    const info = await stat(this.#operation, from);
    if (from === to) return info;
    const places = placesOn(this.#operation);
    const [source, target] = [{ path: from }, { path: to }];
    const existing = await places.lookUp(target);
    const { isDirectory: isFolder, size } = info;
    await movePlace(places, source, target, { isFolder, size, replace, existing, context: this.#operation.context });
    return { ...info, name: baseName(to), path: to };
  }

  async remove(path: RemotePath, { isLeftover = false }: RemoveOptions = {}): Promise<void> {
    if (isLeftover) await untilAtRest(this.#operation, path);
    this.#operation.context.irrevocable?.();
    const reply = await this.#operation.ask('DELE', path).catch(async (error: unknown): Promise<undefined> => {
      if (!isAnswerLost(error) || !(await this.#isGone(path))) throw error;
    });
    if (reply === undefined || isPositive(reply)) return;
    // 550 can mean "absent", "a folder" or "not yours".
    const info = await find(this.#operation, path);
    if (info === undefined) throw notFound(path);
    if (info.isDirectory) throw isAFolder(path);
    throw toGatewayError(refusedBy(reply, 'open', `deleting ${path}`, 'permission_denied'));
  }

  /** Asks on another session, after this one was lost; false if that is also lost. */
  async #isGone(path: RemotePath): Promise<boolean> {
    const looked = reconnected(this.#operation).then((again) => find(again, path));
    return looked.then(
      (info) => info === undefined,
      () => false,
    );
  }

  async removeFolder(path: RemotePath): Promise<void> {
    refuseRoot(path);
    await this.#operation.leave(path);
    this.#operation.context.irrevocable?.();
    const reply = await this.#operation.ask('RMD', path);
    if (isPositive(reply)) return;
    // 550 can mean any of these.
    const info = await find(this.#operation, path);
    if (info === undefined) throw notFound(path);
    const error = refusedBy(reply, 'publish', `removing the folder ${path}`, 'permission_denied');
    if (!info.isDirectory || saysNoFolder(reply)) throw notAFolder(path, error);
    if (await holdsAnything(this.#operation, path)) throw notEmpty(path, error);
    // Its last entry may have gone after the refusal.
    if (!isPositive(await this.#operation.ask('RMD', path))) throw error;
  }

  makeFolder(path: RemotePath): Promise<{ readonly created: boolean }> {
    return placesOn(this.#operation).makeFolder(path);
  }
}
