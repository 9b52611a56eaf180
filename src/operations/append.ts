/**
 * Append: nothing changes before the whole content has arrived and was checked. Short content waits in memory, the rest
 * of a longer one in hidden files beside the target. Then it is added in place if the server can; otherwise old and new
 * bytes become a new file that replaces the old one.
 */
import { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { GatewayError, hasCode, refusal } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { baseName, joinPath, parentOf, type RemotePath } from '../remotes/path.js';
import type { Attempt } from '../remotes/registry.js';
import type { FileInfo, Remote, RemoteWriter } from '../remotes/remote.js';
import { endWith, streamOf } from '../remotes/whole.js';
import { ContentHash } from './content-hash.js';
import { ContentReader, HELD_BYTES } from './content-reader.js';
import type { Operation, Operations } from './operation.js';
import type { PathReference } from './path-reference.js';
import { leaveErrorsToPump, pump, takeWhole, type ExpectedDigest, type WholeBody } from './pump.js';
import { lockName, withWriter } from './put.js';

interface AppendRequest {
  readonly connection: Connection;
  readonly file: PathReference;
  readonly body: Readable | WholeBody;
  readonly digest?: ExpectedDigest | undefined;
}

interface Appended {
  readonly path: RemotePath;
  readonly appendedBytes: number;
}

/**
 * The size of one hidden file: if the server cannot read and write at once, it is read into memory before it is added.
 */
const PIECE_BYTES = 4 * 1024 * 1024;

/** A file that is dated again during each of them counts as changed. */
const MOST_COMPARISONS = 3;

/** A waiting part of the content. */
type Part = readonly Buffer[] | RemotePath;

/** Errors: not_found, is_a_folder, unsupported_operation (S3), and those of the remote. */
export async function appendToFile(
  operations: Operations,
  operation: Operation,
  { connection, file, body, digest }: AppendRequest,
): Promise<Appended> {
  const { signal } = operation;
  // The former content of the file is not read.
  operation.evidence.undigested('append');
  const content = typeof body === 'function' ? undefined : new ContentReader(body, { signal, digest });
  const pieces: RemotePath[] = [];
  operation.mark('transfer');
  const head: Buffer[] = [];
  if (typeof body === 'function') head.push(await takeWhole(body, { signal, digest }));
  for await (const chunk of content?.upTo(HELD_BYTES) ?? []) head.push(chunk);
  const path = file.known ?? (await operation.use(file));
  operation.locate(path, baseName(path));
  try {
    if (content?.ended === false) await setAside(operations, operation, connection, path, content, pieces);
    const parts: readonly Part[] = [head, ...pieces];
    // Two appends at once would overwrite each other's bytes. The wait for the lock occupies no session.
    operation.mark('queue');
    return await operations.locks.withLock(lockName(operations, connection, path), signal, (lost) =>
      operation.use(async (remote, attempt) => {
        const appended = await append(operation, remote, attempt, path, parts, lost);
        operations.ages.written(operations.remotes.server(connection), appended.file);
        return { path, appendedBytes: appended.bytes };
      }),
    );
  } finally {
    if (pieces.length > 0) await clearAway(operations, operation, connection, pieces);
  }
}

/** Adds each hidden file to `pieces` before it is made. */
async function setAside(
  operations: Operations,
  operation: Operation,
  connection: Connection,
  path: RemotePath,
  content: ContentReader,
  pieces: RemotePath[],
): Promise<void> {
  const folder = parentOf(path);
  const leftovers = operations.leftoversOf(connection);
  await operation.use(async (remote, attempt) => {
    // Writing would make missing folders.
    const { isDirectory } = await remote.stat(path);
    if (isDirectory) throw new GatewayError('is_a_folder', `${path} is a folder, not a file`, { step: 'open' });
    await leftovers.expect(folder);
    attempt.committed();
    while (!content.ended) {
      const piece = joinPath(folder, leftovers.temporaryName(baseName(path)));
      pieces.push(piece);
      const writer = await remote.write(piece, { isHidden: true }).catch(sayWhatFor);
      await withWriter(writer, async () => {
        operation.mark('transfer');
        const source = Readable.from(content.upTo(PIECE_BYTES), { objectMode: false });
        const size = await pump(source, writer, { signal: operation.signal });
        operation.mark('verify');
        await writer.commit({ size });
      });
    }
  });
}

/** The client has not asked for a file in that folder. */
function sayWhatFor(error: unknown): never {
  if (!hasCode(error, 'permission_denied')) throw error;
  const { message, step, remote } = error;
  const text = `${message}; content of more than ${HELD_BYTES} bytes is put aside beside the file before it is appended`;
  throw new GatewayError('permission_denied', text, { step: step ?? 'open', remote, cause: error });
}

interface Added {
  readonly bytes: number;
  readonly file: FileInfo;
}

async function append(
  operation: Operation,
  remote: Remote,
  attempt: Attempt,
  path: RemotePath,
  parts: readonly Part[],
  lost: AbortSignal,
): Promise<Added> {
  if (remote.append === undefined) {
    const why = 'append is not supported on this connection: S3 objects cannot be appended to; use write instead';
    throw refusal('unsupported_operation', why);
  }
  const rounds = remote.can.readsWhileWriting ? [parts] : parts.map((part) => [part]);
  let bytes = 0;
  let file: FileInfo | undefined;
  for (const round of rounds) {
    const source = remote.can.readsWhileWriting ? round : [await inMemory(remote, round)];
    const writer = await remote.append(path);
    if (writer === undefined) return rewrite(operation, remote, attempt, path, joined(remote, source), lost);
    attempt.committed();
    operation.writesInPlace();
    file = await withWriter(writer, async () => {
      operation.mark('transfer');
      const size = await feed(remote, source, writer, operation.signal);
      operation.mark('verify');
      bytes += size;
      return writer.commit({ size });
    });
  }
  operation.fileSize = bytes;
  return { bytes, file: file ?? (await remote.stat(path)) };
}

/** Content in memory needs no stream. */
async function feed(
  remote: Remote,
  parts: readonly Part[],
  writer: RemoteWriter,
  signal: AbortSignal,
): Promise<number> {
  const [first = [], ...more] = parts;
  if (more.length > 0 || typeof first === 'string') return pump(joined(remote, parts), writer, { signal });
  const bytes = Buffer.concat(first);
  await endWith(writer, bytes);
  return bytes.length;
}

async function inMemory(remote: Remote, parts: readonly Part[]): Promise<readonly Buffer[]> {
  return [await buffer(joined(remote, parts))];
}

function joined(remote: Remote, parts: readonly Part[]): Readable {
  const chunks = async function* (): AsyncGenerator<Buffer> {
    for (const part of parts) {
      if (typeof part !== 'string') yield* part;
      else yield* streamOf(await remote.read(part)) as AsyncIterable<Buffer>;
    }
  };
  return Readable.from(chunks(), { objectMode: false });
}

async function clearAway(
  operations: Operations,
  operation: Operation,
  connection: Connection,
  pieces: readonly RemotePath[],
): Promise<void> {
  const leftovers = operations.leftoversOf(connection);
  const remaining = new Set(pieces);
  try {
    await operation.use(async (remote) => {
      for (const piece of pieces) {
        await remote.remove(piece).catch((error: unknown) => {
          if (!hasCode(error, 'not_found')) throw error;
        });
        remaining.delete(piece);
      }
    });
  } catch {
    // The operation has ended, or its session: the pieces are removed in another one.
    for (const piece of remaining) leftovers.removeLater(piece);
  }
}

function isSameFile(one: FileInfo, other: FileInfo): boolean {
  return one.size === other.size && one.modifiedAt.getTime() === other.modifiedAt.getTime();
}

function stateOf({ size, modifiedAt }: FileInfo): string {
  return `${size} bytes of ${modifiedAt.toISOString()}`;
}

/**
 * A server that keeps changes in a cache dates a file again when it stores it, although nothing has changed; it may do
 * so while the file is compared. `hash` is the content that is expected, `now` the state before the comparison.
 */
async function hasContent(
  remote: Remote,
  path: RemotePath,
  now: FileInfo,
  hash: ContentHash,
  signal: AbortSignal,
): Promise<boolean> {
  let before = now;
  for (let comparison = 0; comparison < MOST_COMPARISONS; comparison += 1) {
    const body = streamOf(await remote.read(path));
    const found = new ContentHash();
    await pump(body, new Writable({ write: (_chunk, _encoding, done) => done() }), { signal, hash: found });
    if (!found.value.equals(hash.value)) return false;
    const after = await remote.stat(path);
    if (isSameFile(before, after)) return true;
    before = after;
  }
  return false;
}

async function rewrite(
  operation: Operation,
  remote: Remote,
  attempt: Attempt,
  path: RemotePath,
  added: Readable,
  /** Aborts when the lock is lost. */
  lost: AbortSignal,
): Promise<Added> {
  const { signal } = operation;
  const old = await remote.read(path);
  const oldBody = streamOf(old);
  leaveErrorsToPump(oldBody);
  try {
    // Always under a hidden name: a file written in place would be lost while it is read.
    const writer = await remote.write(path, { provisional: true });
    attempt.committed();
    return await withWriter(writer, async () => {
      operation.mark('transfer');
      const hash = new ContentHash();
      const oldBytes = await pump(oldBody, writer, { signal, hash, isMoreToCome: true });
      const bytes = await pump(added, writer, { signal });
      operation.mark('verify');
      const now = await remote.stat(path);
      lost.throwIfAborted();
      const isSame =
        isSameFile(now, old.info) ||
        (now.size === old.info.size && (await hasContent(remote, path, now, hash, signal)));
      lost.throwIfAborted();
      if (!isSame) {
        throw new GatewayError(
          'remote_failure',
          `${path} was changed by others meanwhile (${stateOf(old.info)}, now ${stateOf(now)}); nothing was appended`,
          {
            step: 'verify',
          },
        );
      }
      const file = await writer.commit({ size: oldBytes + bytes });
      operation.fileSize = bytes;
      return { bytes, file };
    });
  } finally {
    oldBody.destroy();
  }
}
