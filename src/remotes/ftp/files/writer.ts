/**
 * Writers: STOR writes a new file under a hidden name and renames it; APPE adds bytes to the end of an existing file.
 */
import { type ErrorCode, GatewayError, hasCode } from '../../../base/errors.js';
import { findStored, readBack } from '../../acknowledged.js';
import { isAFolder } from '../../obstacles.js';
import { baseName, parentOf, ROOT, type RemotePath } from '../../path.js';
import { hiddenBeside, isAnswerLost, isWrittenBeside, publishUpload } from '../../publish.js';
import type { Commit, FileInfo, RemoteWriter, WriteOptions } from '../../remote.js';
import { beginTransfer, type FtpTransfer } from '../session/data.js';
import { find, measure, stat, untilAtRest } from './lookup.js';
import type { FtpOperation } from '../session/operation.js';
import { isPositive, refusedBy } from '../session/replies.js';
import { placesOn, reconnected, refuseAlteredName } from './places.js';
import { dated } from './times.js';
import { FtpSink } from './sink.js';
import { openFile } from './source.js';

/** Time limit for a whole clean-up: a new login and one DELE. */
const CLEANUP_TIMEOUT_MS = 20_000;
/** The client has waited long enough for a silent server; what is not cleaned up by then is done later. */
const SILENT_CLEANUP_MS = 500;

/** Opens a writer for `path`; makes missing folders. is_a_folder, not_a_folder, permission_denied, no_space. */
export async function openWriter(
  operation: FtpOperation,
  path: RemotePath,
  atomicUploads: boolean,
  options: WriteOptions,
): Promise<RemoteWriter> {
  if (path === ROOT) throw isAFolder(path);
  const { leftovers } = operation.context;
  const hidden = isWrittenBeside(atomicUploads, options) ? hiddenBeside(path, leftovers) : undefined;
  const stored = hidden?.path ?? path;
  await hidden?.noted;
  try {
    return new FileWriter(operation, await store(operation, stored, path), path, stored);
  } catch (error) {
    // A connection that ended without the reply of STOR may still have made the file.
    if (hidden !== undefined && !operation.lease.control.alive) leftovers.removeLater(stored);
    throw error;
  }
}

/** Opens a writer for a hidden name that a later operation publishes at `path`. */
export async function openHidden(operation: FtpOperation, path: RemotePath, hidden: RemotePath): Promise<RemoteWriter> {
  return new FileWriter(operation, await store(operation, hidden, path), hidden, hidden);
}

/** Opens a writer at the end of an existing file. not_found, is_a_folder, permission_denied. */
export async function openAppender(operation: FtpOperation, path: RemotePath): Promise<RemoteWriter> {
  const info = await stat(operation, path);
  if (info.isDirectory) throw isAFolder(path);
  const transfer = await beginTransfer(operation, `APPE ${operation.at(path)}`);
  if (transfer.first.code >= 400) throw refusedBy(transfer.first, 'open', `appending to ${path}`, 'permission_denied');
  return new Appender(operation, transfer, path, info.size);
}

async function store(operation: FtpOperation, stored: RemotePath, path: RemotePath): Promise<FtpTransfer> {
  refuseAlteredName(operation, path);
  const command = `STOR ${operation.at(stored)}`;
  const folder = parentOf(stored);
  const { memory, provenFolders } = operation.lease;
  // If the server notices a missing folder only in the middle of a transfer, the bytes could not be sent again.
  const mayRefuseLate = folder !== ROOT && !memory.refusesEarly && !provenFolders.has(folder);
  // A folder that the login may not read may still be writable.
  if (mayRefuseLate) await knownFolder(operation, folder);
  const transfer = await beginTransfer(operation, command);
  if (transfer.first.code < 400) return transfer;
  const subject =
    stored === path
      ? `writing ${path}`
      : `writing ${path}, first under a hidden name ("atomicUploads: false" writes without one)`;
  const error = refusedBy(transfer.first, 'open', subject, 'permission_denied');
  if (error.code === 'no_space') throw error;
  // 550, 553 or 451 do not give the reason: only a lookup shows whether the folder is missing, and another client may
  // have made it meanwhile.
  if ((await placesOn(operation).makeFolder(folder)).created) memory.refusesEarly = true;
  const again = await beginTransfer(operation, command);
  if (again.first.code < 400) return again;
  if ((await find(operation, path))?.isDirectory === true) throw isAFolder(path);
  throw refusedBy(again.first, 'open', subject, 'permission_denied');
}

const questionOf = (folder: RemotePath): string => `made ${folder}`;

/** Makes it once for all files of a job, in any session. */
async function knownFolder(operation: FtpOperation, folder: RemotePath): Promise<void> {
  const { places } = operation.context;
  const make = (): Promise<void> => ignoring('permission_denied', placesOn(operation).makeFolder(folder));
  await (places === undefined ? make() : places.ask(questionOf(folder), make));
}

async function ignoring(code: ErrorCode, work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!hasCode(error, code)) throw error;
  });
}

class FileWriter extends FtpSink implements RemoteWriter {
  readonly #path: RemotePath;
  /** The name that gets the bytes until commit; `path` itself for a write in place. */
  readonly #stored: RemotePath;
  #isCommitted = false;
  #aborting: Promise<void> | undefined;

  constructor(operation: FtpOperation, transfer: FtpTransfer, path: RemotePath, stored: RemotePath) {
    super(operation, transfer, `writing ${path}`);
    this.#path = path;
    this.#stored = stored;
  }

  async commit({ size, path = this.#path, exclusive = false, modifiedAt, check }: Commit): Promise<FileInfo> {
    expectSize(path, size, this.sent, 'bytes were sent');
    await this.confirmed();
    const { context } = this.operation;
    const info = await findStored(context, this.#stored, size, () => this.#measureStored(modifiedAt));
    expectSize(path, size, info.size, 'bytes are on the server');
    await readBack(context, check, () => openFile(this.operation, this.#stored));
    this.operation.lease.provenFolders.set(parentOf(this.#stored), true);
    if (this.#stored !== path) {
      await publishUpload(placesOn(this.operation), { path: this.#stored }, { path }, { exclusive, size, context });
    }
    this.#isCommitted = true;
    return { ...info, name: baseName(path), path };
  }

  abort(cause: Error): Promise<void> {
    this.#aborting ??= this.#isCommitted ? Promise.resolve() : this.#cleanUp(cause);
    return this.#aborting;
  }

  async #measureStored(modifiedAt: Date | undefined): Promise<FileInfo> {
    if (modifiedAt !== undefined) return dated(this.operation, this.#stored, modifiedAt);
    return (await measure(this.operation, this.#stored)).info;
  }

  async #cleanUp(cause: Error): Promise<void> {
    this.destroy(cause);
    this.operation.lease.provenFolders.delete(parentOf(this.#stored));
    this.operation.context.places?.forget(questionOf(parentOf(this.#stored)));
    const wasSilent = hasCode(cause, 'stall_timeout');
    const patient = this.operation.under(AbortSignal.timeout(wasSilent ? SILENT_CLEANUP_MS : CLEANUP_TIMEOUT_MS));
    try {
      const hasLastWord = !wasSilent && (await this.cut());
      if (hasLastWord && (await this.#removeStored(patient))) {
        // Some servers send a second reply for a transfer that was cut; the next operation must not see it.
        if (!this.writableFinished) patient.lease.control.close();
        return;
      }
      // The control connection is out of step or gone: log in again in the same slot.
      await patient.lease.reconnect(patient.signal);
      await untilAtRest(patient, this.#stored);
      if (await this.#removeStored(patient)) return;
      this.operation.context.leftovers.removeLater(this.#stored);
    } catch (error) {
      this.operation.deps.log('FTP upload left for a later cleanup', {
        host: this.operation.host,
        cause: String(error),
      });
      this.operation.context.leftovers.removeLater(this.#stored);
    }
  }

  async #removeStored(operation: FtpOperation): Promise<boolean> {
    if (!operation.lease.control.alive) return false;
    try {
      const reply = await operation.ask('DELE', this.#stored, [200, 250]);
      if (isPositive(reply)) return true;
      // pure-ftpd turns blanks at the end of a name into underscores.
      const altered = this.#stored.replace(/ +$/, (blanks) => '_'.repeat(blanks.length)) as RemotePath;
      if (altered !== this.#stored) await operation.ask('DELE', altered, [200, 250]);
      return (await find(operation, this.#stored)) === undefined;
    } catch {
      return false;
    }
  }
}

class Appender extends FtpSink implements RemoteWriter {
  readonly #path: RemotePath;
  readonly #sizeBefore: number;
  #aborting: Promise<void> | undefined;

  constructor(operation: FtpOperation, transfer: FtpTransfer, path: RemotePath, sizeBefore: number) {
    super(operation, transfer, `appending to ${path}`);
    this.#path = path;
    this.#sizeBefore = sizeBefore;
  }

  async commit({ size }: Commit): Promise<FileInfo> {
    expectSize(this.#path, size, this.sent, 'bytes were sent');
    const wanted = this.#sizeBefore + size;
    try {
      await this.confirmed();
      const statStored = async (): Promise<FileInfo> => (await measure(this.operation, this.#path)).info;
      const info = await findStored(this.operation.context, this.#path, wanted, statStored);
      expectSize(this.#path, wanted, info.size, 'bytes are on the server');
      return info;
    } catch (error) {
      const stored = isAnswerLost(error) ? await this.#measureAfresh().catch(() => undefined) : undefined;
      // A client that appends again would append twice.
      if (stored?.size === wanted) return stored;
      throw error;
    }
  }

  async #measureAfresh(): Promise<FileInfo> {
    const again = await reconnected(this.operation);
    await untilAtRest(again, this.#path);
    return stat(again, this.#path);
  }

  /** Bytes that have reached the file stay in it: FTP has no command to shorten one. */
  abort(cause: Error): Promise<void> {
    this.destroy(cause);
    this.#aborting ??= this.cut().then(() => {});
    return this.#aborting;
  }
}

function expectSize(path: RemotePath, expected: number, actual: number, what: string): void {
  if (actual === expected) return;
  throw new GatewayError('size_mismatch', `${path}: ${actual} ${what}, ${expected} were expected`, { step: 'verify' });
}
