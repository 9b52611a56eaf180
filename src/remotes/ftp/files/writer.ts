/** Writers: a new file by STOR under a hidden name and a rename, or more bytes at the end of an old one by APPE. */
import { GatewayError, hasCode, toGatewayError } from '../../../base/errors.js';
import { baseName, joinPath, parentOf, ROOT, type RemotePath } from '../../path.js';
import type { Commit, FileInfo, RemoteWriter, WriteOptions } from '../../remote.js';
import { beginTransfer, type Transfer } from '../session/data.js';
import { makeFolder } from './folders.js';
import { find, measure, stat } from './lookup.js';
import type { Operation } from '../session/operation.js';
import { isPositive, refusal } from '../session/replies.js';
import { renameOnto, storedElsewhere } from './rename.js';
import { FtpSink } from './sink.js';

/** Time for all of a clean-up: a new login and one DELE. */
const CLEANUP_TIMEOUT_MS = 20_000;
/** The client has waited for a silent server long enough; what is not done by then is done later. */
const SILENT_CLEANUP_MS = 500;

/** Opens a writer for `path`; missing folders are made. is_a_folder, not_a_folder, permission_denied, no_space. */
export async function openWriter(
  operation: Operation,
  path: RemotePath,
  isAtomic: boolean,
  options: WriteOptions,
): Promise<RemoteWriter> {
  if (path === ROOT) throw isAFolder(path);
  // A name that may still change cannot be written in place.
  const isInPlace = !isAtomic && options.provisional !== true;
  const { leftovers } = operation.context;
  const stored = isInPlace ? path : joinPath(parentOf(path), leftovers.temporaryName(baseName(path)));
  if (!isInPlace) await leftovers.expect(parentOf(path));
  try {
    return new FileWriter(operation, await store(operation, stored, path), path, stored);
  } catch (error) {
    // Without the server's word on it the file may have been made all the same.
    if (!isInPlace && !toGatewayError(error).keepsSession) leftovers.removeLater(stored);
    throw error;
  }
}

/** Opens a writer at the end of an existing file. not_found, is_a_folder, permission_denied. */
export async function openAppender(operation: Operation, path: RemotePath): Promise<RemoteWriter> {
  const info = await stat(operation, path);
  if (info.isDirectory) throw isAFolder(path);
  const transfer = await beginTransfer(operation, `APPE ${operation.at(path)}`);
  if (transfer.first.code >= 400) throw refusal(transfer.first, 'open', `appending to ${path}`, 'permission_denied');
  return new Appender(operation, transfer, path, info.size);
}

async function store(operation: Operation, stored: RemotePath, path: RemotePath): Promise<Transfer> {
  const command = `STOR ${operation.at(stored)}`;
  const folder = parentOf(stored);
  const { memory, provenFolders } = operation.lease;
  // Where the server may find out in the middle of the transfer, the bytes could not be sent again.
  const mayRefuseLate = folder !== ROOT && !memory.refusesEarly && !provenFolders.has(folder);
  if (mayRefuseLate && !(await operation.isFolder(folder))) await makeFolder(operation, folder);
  const transfer = await beginTransfer(operation, command);
  if (transfer.first.code < 400) return transfer;
  const subject =
    stored === path
      ? `writing ${path}`
      : `writing ${path}, first under a hidden name ("atomicUploads: false" writes without one)`;
  const error = refusal(transfer.first, 'open', subject, 'permission_denied');
  if (error.code === 'no_space') throw error;
  // 550, 553 or 451, whatever the reason: only a look at the folder tells whether it is missing, and it may have come
  // in the meantime by another hand.
  if (!(await operation.isFolder(folder))) {
    memory.refusesEarly = true;
    await makeFolder(operation, folder);
  }
  const again = await beginTransfer(operation, command);
  if (again.first.code < 400) return again;
  if ((await find(operation, path))?.isDirectory === true) throw isAFolder(path);
  throw refusal(again.first, 'open', subject, 'permission_denied');
}

class FileWriter extends FtpSink implements RemoteWriter {
  private isCommitted = false;
  private aborting: Promise<void> | undefined;

  constructor(
    operation: Operation,
    transfer: Transfer,
    private readonly path: RemotePath,
    /** Where the bytes go until commit; `path` itself when written in place. */
    private readonly stored: RemotePath,
  ) {
    super(operation, transfer, `writing ${path}`);
  }

  async commit({ size, path = this.path, exclusive = false }: Commit): Promise<FileInfo> {
    expectSize(path, size, this.sent, 'bytes were sent');
    await this.confirmed();
    const info = await this.measureStored();
    expectSize(path, size, info.size, 'bytes stand on the server');
    this.operation.lease.provenFolders.set(parentOf(this.stored), true);
    if (this.stored !== path) {
      this.operation.context.mark?.('rename');
      await this.publish(path, size, exclusive);
    }
    this.isCommitted = true;
    return { ...info, name: baseName(path), path };
  }

  abort(cause: Error): Promise<void> {
    this.aborting ??= this.isCommitted ? Promise.resolve() : this.cleanUp(cause);
    return this.aborting;
  }

  private async measureStored(): Promise<FileInfo> {
    try {
      return await measure(this.operation, this.stored);
    } catch (error) {
      throw hasCode(error, 'not_found') ? storedElsewhere(this.path) : error;
    }
  }

  private async publish(path: RemotePath, size: number, exclusive: boolean): Promise<void> {
    if (exclusive && (await find(this.operation, path)) !== undefined) {
      throw new GatewayError('already_exists', `${path} exists already`, { step: 'publish' });
    }
    this.operation.context.irrevocable?.();
    try {
      await renameOnto(this.operation, this.stored, path);
    } catch (error) {
      if (hasCode(error, 'connection_lost', 'stall_timeout') && (await this.wasPublished(path, size))) return;
      throw hasCode(error, 'remote_failure', 'permission_denied', 'not_found') ? renameRefused(error) : error;
    }
  }

  /** The answer to RNTO was lost. Done or not done: the temporary name is gone and the file stands, or it is not. */
  private async wasPublished(path: RemotePath, size: number): Promise<boolean> {
    if (this.operation.signal.aborted) return false;
    const afresh = this.operation.under(AbortSignal.timeout(CLEANUP_TIMEOUT_MS));
    try {
      await this.operation.lease.reconnect(afresh.signal);
      if ((await find(afresh, this.stored)) !== undefined) return false;
      return (await find(afresh, path))?.size === size;
    } catch {
      return false;
    }
  }

  private async cleanUp(cause: Error): Promise<void> {
    this.destroy(cause);
    this.operation.lease.provenFolders.delete(parentOf(this.stored));
    const wasSilent = hasCode(cause, 'stall_timeout');
    const patient = this.operation.under(AbortSignal.timeout(wasSilent ? SILENT_CLEANUP_MS : CLEANUP_TIMEOUT_MS));
    try {
      const hasLastWord = !wasSilent && (await this.cut());
      if (hasLastWord && (await this.removeStored(patient))) {
        // Some servers have a second reply for a transfer that was cut; the next operation must not meet it.
        if (!this.writableFinished) patient.lease.control.close();
        return;
      }
      // Out of step or gone: a fresh login in the same slot.
      await patient.lease.reconnect(patient.signal);
      if (await this.removeStored(patient)) return;
      this.operation.context.leftovers.removeLater(this.stored);
    } catch (error) {
      this.operation.deps.log('FTP upload left behind for later', { host: this.operation.host, cause: String(error) });
      this.operation.context.leftovers.removeLater(this.stored);
    }
  }

  private async removeStored(operation: Operation): Promise<boolean> {
    if (!operation.lease.control.alive) return false;
    try {
      const reply = await operation.ask('DELE', this.stored, [200, 250]);
      if (isPositive(reply)) return true;
      // pure-ftpd turns blanks at the end of a name into underscores.
      const altered = this.stored.replace(/ +$/, (blanks) => '_'.repeat(blanks.length)) as RemotePath;
      if (altered !== this.stored) await operation.ask('DELE', altered, [200, 250]);
      return (await find(operation, this.stored)) === undefined;
    } catch {
      return false;
    }
  }
}

class Appender extends FtpSink implements RemoteWriter {
  private aborting: Promise<void> | undefined;

  constructor(
    operation: Operation,
    transfer: Transfer,
    private readonly path: RemotePath,
    private readonly sizeBefore: number,
  ) {
    super(operation, transfer, `appending to ${path}`);
  }

  async commit({ size }: Commit): Promise<FileInfo> {
    expectSize(this.path, size, this.sent, 'bytes were sent');
    await this.confirmed();
    const info = await measure(this.operation, this.path);
    expectSize(this.path, this.sizeBefore + size, info.size, 'bytes stand on the server');
    return info;
  }

  /** What has reached the file stays in it: FTP has no command to shorten one. */
  abort(cause: Error): Promise<void> {
    this.destroy(cause);
    this.aborting ??= this.cut().then(() => {});
    return this.aborting;
  }
}

function expectSize(path: RemotePath, expected: number, actual: number, what: string): void {
  if (actual === expected) return;
  throw new GatewayError('size_mismatch', `${path}: ${actual} ${what}, ${expected} were expected`, { step: 'verify' });
}

function renameRefused(error: GatewayError): GatewayError {
  const text = `${error.message}; a connection with "atomicUploads: false" writes without a rename`;
  return new GatewayError('remote_failure', text, { step: 'publish', remote: error.remote, cause: error });
}

function isAFolder(path: RemotePath): GatewayError {
  return new GatewayError('is_a_folder', `${path} is a folder, not a file`, { step: 'open' });
}
