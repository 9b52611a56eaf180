/** Upload and write: a name, a writer, the bytes, the checks, and only then the file. */
import type { Readable } from 'node:stream';
import { GatewayError, hasCode, toGatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { baseName, joinPath, type RemotePath } from '../remotes/path.js';
import type { Commit, FileInfo, Remote, RemoteWriter } from '../remotes/remote.js';
import { wholeWhereShort } from './content-reader.js';
import { applyTemplate, templateFacts } from './names.js';
import type { Operation, Operations, PathReference } from './operation.js';
import { leaveErrorsToPump, pump, type ExpectedDigest } from './pump.js';

/** Where a file is to stand: a whole path, or a folder and a name that a template may change. */
export type Target = { readonly overwrite: boolean } & (
  | { readonly file: PathReference }
  | { readonly folder: PathReference; readonly filename: string; readonly template: string | undefined }
);

export interface PutRequest {
  readonly connection: Connection;
  /** As known before the body. */
  readonly target: Target;
  /** Fields may stand behind the content: the final target, asked for once the body has ended. */
  readonly lateTarget?: (() => Promise<Target>) | undefined;
  readonly body: Readable;
  /** Bytes to come, when known. */
  readonly size?: number | undefined;
  readonly digest?: ExpectedDigest | undefined;
  /** 0 = no limit. */
  readonly maxBytes: number;
}

/**
 * Sends the body and publishes it whole or not at all. Errors: already_exists (not overwriting), too_large,
 * digest_mismatch, size_mismatch, and whatever the remote says.
 */
export async function putFile(operations: Operations, operation: Operation, request: PutRequest): Promise<FileInfo> {
  const facts = templateFacts();
  leaveErrorsToPump(request.body);
  const { signal } = operation;
  // Written in place, what turns out wrong has already taken the former file's place.
  const mayHarm = !request.connection.atomicUploads && request.lateTarget === undefined;
  if (mayHarm) operation.mark('transfer');
  const body = mayHarm ? await wholeWhereShort(request.body, { signal, digest: request.digest }) : request.body;

  const placeOf = async (remote: Remote, target: Target): Promise<RemotePath> => {
    const place = 'file' in target ? await target.file(remote) : await placeInFolder(remote, target);
    operation.locate(place, baseName(place));
    return place;
  };
  const placeInFolder = async (remote: Remote, target: Extract<Target, { filename: string }>): Promise<RemotePath> => {
    const name =
      target.template === undefined ? target.filename : applyTemplate(target.template, target.filename, facts);
    return joinPath(await target.folder(remote), name);
  };

  return operation.use(async (remote, attempt) => {
    const { target, lateTarget, size, digest, maxBytes } = request;
    operation.expectedSize = size;
    const place = await placeOf(remote, target);
    // Late fields may name another file, or allow to replace this one.
    if (lateTarget === undefined && !target.overwrite) await refuseExisting(remote, place);
    const writer = await remote.write(place, {
      size,
      provisional: lateTarget !== undefined,
      exclusive: lateTarget === undefined && !target.overwrite,
    });
    attempt.committed();
    return withWriter(writer, async () => {
      operation.mark('transfer');
      const bytes = await pump(body, writer, {
        signal: operation.signal,
        maxBytes,
        size,
        digest,
        onBytes: (total) => (operation.fileSize = total),
      });
      operation.fileSize = bytes;
      operation.mark('verify');
      const final = lateTarget === undefined ? target : await lateTarget();
      const finalPlace = lateTarget === undefined ? place : await placeOf(remote, final);
      const commit: Commit = {
        size: bytes,
        exclusive: !final.overwrite,
        ...(finalPlace === place ? {} : { path: finalPlace }),
      };
      return publish(operations, request.connection, remote, writer, finalPlace, commit, operation.signal);
    });
  });
}

/** Runs `work`; whatever it throws, the writer leaves nothing behind. */
export async function withWriter<R>(writer: RemoteWriter, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    await writer.abort(toGatewayError(error));
    throw error;
  }
}

/** Commits; where the server cannot refuse an existing file by itself, look and publish happen under a lock of the gateway. */
export async function publish(
  operations: Operations,
  connection: Connection,
  remote: Remote,
  writer: RemoteWriter,
  place: RemotePath,
  commit: Commit,
  signal: AbortSignal,
): Promise<FileInfo> {
  const isRaceFree = commit.exclusive !== true || remote.can.exclusiveCreate;
  const info = isRaceFree
    ? await writer.commit(commit)
    : await operations.locks.withLock(placeName(operations, connection, place), signal, () => writer.commit(commit));
  operations.ages.written(operations.remotes.host(connection), info);
  return info;
}

/** @throws GatewayError already_exists; is_a_folder */
export async function refuseExisting(remote: Remote, place: RemotePath): Promise<void> {
  let found: FileInfo;
  try {
    found = await remote.stat(place);
  } catch (error) {
    if (hasCode(error, 'not_found')) return;
    throw error;
  }
  if (found.isDirectory) throw new GatewayError('is_a_folder', `${place} is a folder`, { step: 'open' });
  throw new GatewayError('already_exists', `${place} exists and overwrite is false`, { step: 'open' });
}

/** One name for a place on a server, whichever connection leads there. */
export function placeName(operations: Operations, connection: Connection, place: RemotePath): string {
  return `publish:${operations.remotes.place(connection, place)}`;
}
