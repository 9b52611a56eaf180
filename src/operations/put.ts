/** Upload and write: a name, a writer, the bytes, the checks, and only then the file. */
import type { Readable } from 'node:stream';
import { GatewayError, hasCode, toGatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { baseName, joinPath, type RemotePath } from '../remotes/path.js';
import type { Commit, FileInfo, Remote, RemoteWriter } from '../remotes/remote.js';
import { putWhole } from '../remotes/whole.js';
import { wholeWhereShort } from './content-reader.js';
import { checkingOf } from './read-back.js';
import { applyTemplate, templateFacts, type TemplateFacts } from './names.js';
import type { Operation, Operations } from './operation.js';
import type { PathReference } from './path-reference.js';
import { leaveErrorsToPump, pump, takeWhole, type ExpectedDigest, type WholeBody } from './pump.js';

/** The target of a file: a whole path, or a folder and a name that a template may change. */
export type PutTarget = { readonly overwrite: boolean; readonly modifiedAt?: Date | undefined } & (
  | { readonly file: PathReference }
  | { readonly folder: PathReference; readonly filename: string; readonly template: string | undefined }
);

export interface PutRequest {
  readonly connection: Connection;
  /** As known before the body. */
  readonly target: PutTarget;
  /** Fields may follow the content: the final target, requested once the body has ended. */
  readonly lateTarget?: (() => Promise<PutTarget>) | undefined;
  readonly body: Readable | WholeBody;
  /** Bytes to come, when known. */
  readonly size?: number | undefined;
  readonly digest?: ExpectedDigest | undefined;
  /** Also if the connection does not ask for it. */
  readonly readsBack?: boolean | undefined;
  /** 0 = no limit. */
  readonly maxBytes: number;
  /** Called once all bytes have arrived; throws if they must not become a file any more. */
  readonly permit?: (() => Promise<void>) | undefined;
  /** Absent = those of now. */
  readonly facts?: TemplateFacts | undefined;
}

/**
 * Sends the body and publishes it completely or not at all. Errors: already_exists (not overwriting), too_large,
 * digest_mismatch, size_mismatch, and those of the remote.
 */
export function putFile(operations: Operations, operation: Operation, request: PutRequest): Promise<FileInfo> {
  const facts = request.facts ?? templateFacts();
  const locate = (target: PutTarget, at: RemotePath): RemotePath => {
    const place = 'file' in target ? at : joinPath(at, nameIn(target, facts));
    operation.locate(place, baseName(place));
    return place;
  };
  const { body } = request;
  return typeof body === 'function'
    ? putBytes(operations, operation, { ...request, body }, locate)
    : putStream(operations, operation, { ...request, body }, locate);
}

/**
 * Returns the file's path, from that of the file or folder which the target names; the history knows it from then on.
 */
type Locate = (target: PutTarget, at: RemotePath) => RemotePath;

/** The path of the target. */
export async function placeOf(remote: Remote, target: PutTarget, facts: TemplateFacts): Promise<RemotePath> {
  const at = await referenceOf(target)(remote);
  return 'file' in target ? at : joinPath(at, nameIn(target, facts));
}

const referenceOf = (target: PutTarget): PathReference => ('file' in target ? target.file : target.folder);

function nameIn({ filename, template }: Extract<PutTarget, { filename: string }>, facts: TemplateFacts): string {
  return template === undefined ? filename : applyTemplate(template, filename, facts);
}

/** For a short body: the remote is not used before it is complete and checked. */
async function putBytes(
  operations: Operations,
  operation: Operation,
  request: PutRequest & { readonly body: WholeBody },
  locate: Locate,
): Promise<FileInfo> {
  const { connection, target: early, lateTarget, body, size, digest, maxBytes } = request;
  const { known } = referenceOf(early);
  if (known !== undefined && lateTarget === undefined) locate(early, known);
  // Most short bodies arrived together with their head: then there is no wait.
  const waiting = setImmediate(() => operation.mark('transfer'));
  const { hash, check } = checkingOf(operation, connection, request);
  const bytes = await takeWhole(body, { signal: operation.signal, maxBytes, size, digest, hash }).finally(() =>
    clearImmediate(waiting),
  );
  operation.expectedSize = bytes.length;
  await request.permit?.();
  const target = (await lateTarget?.()) ?? early;
  const { modifiedAt } = target;
  const exclusive = !target.overwrite;
  return operation.use(async (remote, attempt) => {
    const place = locate(target, await referenceOf(target)(remote));
    if (exclusive) await refuseExisting(remote, place);
    const opened = (): void => {
      attempt.committed();
      operation.mark('transfer');
      operation.fileSize = bytes.length;
    };
    const sent = (): void => operation.mark('verify');
    return publish(operations, { connection, remote, place, exclusive, modifiedAt, operation }, () =>
      putWhole(remote, place, bytes, { exclusive, modifiedAt, check, opened, sent }),
    );
  });
}

async function putStream(
  operations: Operations,
  operation: Operation,
  request: PutRequest & { readonly body: Readable },
  locate: Locate,
): Promise<FileInfo> {
  leaveErrorsToPump(request.body);
  const { signal } = operation;
  // A file written in place has already replaced the former one when it turns out wrong.
  const mayHarm = !request.connection.atomicUploads && request.lateTarget === undefined;
  if (mayHarm) operation.mark('transfer');
  const body = mayHarm ? await wholeWhereShort(request.body, { signal, digest: request.digest }) : request.body;
  const placeOf = async (remote: Remote, target: PutTarget): Promise<RemotePath> =>
    locate(target, await referenceOf(target)(remote));
  return operation.use(async (remote, attempt) => {
    const { connection, target, lateTarget, size, digest, maxBytes } = request;
    operation.expectedSize = size;
    const place = await placeOf(remote, target);
    // Late fields may name another file, or allow to replace this one.
    if (lateTarget === undefined && !target.overwrite) await refuseExisting(remote, place);
    const { hash, check } = checkingOf(operation, connection, request);
    const writer = await remote.write(place, {
      size,
      isChecked: check !== undefined,
      provisional: lateTarget !== undefined,
      exclusive: lateTarget === undefined && !target.overwrite,
      modifiedAt: lateTarget === undefined ? target.modifiedAt : undefined,
    });
    attempt.committed();
    return withWriter(writer, async () => {
      operation.mark('transfer');
      const bytes = await pump(body, writer, {
        signal,
        maxBytes,
        size,
        digest,
        hash,
        onBytes: (total) => (operation.fileSize = total),
      });
      operation.fileSize = bytes;
      operation.mark('verify');
      await request.permit?.();
      const final = lateTarget === undefined ? target : await lateTarget();
      const finalPlace = lateTarget === undefined ? place : await placeOf(remote, final);
      const exclusive = !final.overwrite;
      const { modifiedAt } = final;
      const other = finalPlace === place ? {} : { path: finalPlace };
      const commit: Commit = { size: bytes, exclusive, modifiedAt, check, ...other };
      return publish(operations, { connection, remote, place: finalPlace, exclusive, modifiedAt, operation }, () =>
        writer.commit(commit),
      );
    });
  });
}

/** Runs `work`; if it throws, the writer leaves nothing behind. */
export async function withWriter<R>(writer: RemoteWriter, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    await writer.abort(toGatewayError(error));
    throw error;
  }
}

interface Publication {
  readonly connection: Connection;
  readonly remote: Remote;
  readonly place: RemotePath;
  readonly exclusive: boolean;
  readonly modifiedAt: Date | undefined;
  /** Its signal is made only if it waits for the lock. */
  readonly operation: Pick<Operation, 'signal'>;
}

/** `put` makes the file; if the server itself cannot refuse an existing one, this runs under a lock of the gateway. */
export async function publish(
  operations: Operations,
  { connection, remote, place, exclusive, modifiedAt, operation }: Publication,
  put: () => Promise<FileInfo>,
): Promise<FileInfo> {
  const isRaceFree = !exclusive || remote.can.exclusiveCreate;
  const info = isRaceFree ? await put() : await underLocks(operations, connection, [place], operation.signal, put);
  // A time that was set does not show the server's clock.
  if (modifiedAt === undefined) operations.ages.written(operations.remotes.server(connection), info);
  return info;
}

/**
 * @throws GatewayError already_exists; is_a_folder; permission_denied if nothing else would prevent it from being
 * replaced
 */
export async function refuseExisting(remote: Remote, place: RemotePath): Promise<void> {
  let found: FileInfo;
  try {
    found = await remote.stat(place);
  } catch (error) {
    if (hasCode(error, 'not_found')) return;
    // A login that may only write: the server itself refuses to replace a file that the login may not see.
    if (hasCode(error, 'permission_denied') && remote.can.exclusiveCreate) return;
    throw error;
  }
  if (found.isDirectory) throw new GatewayError('is_a_folder', `${place} is a folder`, { step: 'open' });
  throw new GatewayError('already_exists', `${place} exists and overwrite is false`, { step: 'open' });
}

/** Runs `work` while no other one runs under a lock on any of the places, on any node. */
export function underLocks<R>(
  operations: Operations,
  connection: Connection,
  places: readonly RemotePath[],
  signal: AbortSignal,
  work: () => Promise<R>,
): Promise<R> {
  // Always in the same order: two that want the same two locks never wait for each other.
  const names = [...new Set(places.map((place) => lockName(operations, connection, place)))].toSorted();
  const locked = names.reduceRight((inner, name) => () => operations.locks.withLock(name, signal, inner), work);
  return locked();
}

/** One name for a place on a server, the same for every connection that leads there, by any way. */
export function lockName(operations: Operations, connection: Connection, place: RemotePath): string {
  return `publish:${operations.remotes.placeByAnyWay(connection, place)}`;
}
