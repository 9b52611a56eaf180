/** Append: in place where the server can; else old and new bytes become a file that takes the old one's place. */
import type { Readable } from 'node:stream';
import { GatewayError } from '../errors.js';
import type { Connection } from '../remotes/connection.js';
import { baseName, type RemotePath } from '../remotes/path.js';
import type { Attempt } from '../remotes/registry.js';
import type { Remote } from '../remotes/remote.js';
import type { Operation, Operations, PathReference } from './operation.js';
import { heldForPump, pump } from './pump.js';
import { placeName, withWriter } from './put-file.js';

export interface AppendRequest {
  readonly connection: Connection;
  readonly file: PathReference;
  readonly body: Readable;
}

export interface Appended {
  readonly path: RemotePath;
  readonly appendedBytes: number;
}

/** Errors: not_found, is_a_folder, unsupported_operation (S3), and whatever the remote says. */
export async function appendToFile(
  operations: Operations,
  operation: Operation,
  { connection, file, body }: AppendRequest,
): Promise<Appended> {
  heldForPump(body);
  const path = file.known ?? (await operation.use(file));
  operation.locate(path, baseName(path));
  const append = (lost: AbortSignal): Promise<Appended> =>
    operation.use(async (remote, attempt) => {
      if (remote.append === undefined) {
        const why = 'append is not supported on this connection: S3 objects cannot be appended to; use write instead';
        throw new GatewayError('unsupported_operation', why, { step: 'request' });
      }
      const writer = await remote.append(path);
      if (writer === undefined) return rewrite(operation, remote, attempt, path, body, lost);
      attempt.committed();
      return withWriter(writer, async () => {
        operation.mark('transfer');
        const appendedBytes = await pump(body, writer, { signal: operation.signal });
        operation.mark('verify');
        await writer.commit({ size: appendedBytes });
        operation.fileSize = appendedBytes;
        return { path, appendedBytes };
      });
    });
  // Of two at once, each would write over the other's bytes. Nobody waits for their turn with a session in hand.
  operation.mark('queue');
  return operations.locks.withLock(placeName(operations, connection, path), operation.signal, append);
}

async function rewrite(
  operation: Operation,
  remote: Remote,
  attempt: Attempt,
  path: RemotePath,
  body: Readable,
  /** The lock is not ours any more. */
  lost: AbortSignal,
): Promise<Appended> {
  const { signal } = operation;
  const old = await remote.read(path);
  heldForPump(old.body);
  try {
    // Under a hidden name whatever the connection says: written in place it would be lost while it is read.
    const writer = await remote.write(path, { provisional: true });
    attempt.committed();
    return await withWriter(writer, async () => {
      operation.mark('transfer');
      const oldBytes = await pump(old.body, writer, { signal, size: old.info.size, isMoreToCome: true });
      const appendedBytes = await pump(body, writer, { signal });
      operation.mark('verify');
      const now = await remote.stat(path);
      lost.throwIfAborted();
      if (now.size !== old.info.size || now.modifiedAt.getTime() !== old.info.modifiedAt.getTime()) {
        throw new GatewayError('remote_failure', `${path} was changed by others meanwhile; nothing was appended`, {
          step: 'verify',
        });
      }
      await writer.commit({ size: oldBytes + appendedBytes });
      operation.fileSize = appendedBytes;
      return { path, appendedBytes };
    });
  } finally {
    old.body.destroy();
  }
}
