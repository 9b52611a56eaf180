/** Copies between two connections: inside one store if it can, otherwise from socket to socket through the gateway. */
import type { Readable, Writable } from 'node:stream';
import type { Caller } from '../base/caller.js';
import { GatewayError, refusal } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { baseName, joinPath, parentOf, type RemotePath } from '../remotes/path.js';
import type { CopyOptions, FileInfo, Remote } from '../remotes/remote.js';
import { ownTimeOf, shownTime } from '../remotes/times.js';
import { applyTemplate, templateFacts } from './names.js';
import type { EndPaces } from './end-paces.js';
import type { OpenEnds, ProofScope } from './onto-itself.js';
import type { Operation, Operations } from './operation.js';
import type { PathReference } from './path-reference.js';
import { leaveErrorsToPump, pump, waitsForLimit } from './pump.js';
import { checkingOf } from './read-back.js';
import { publish, refuseExisting, underLocks, withWriter } from './put.js';
import { isHeldBack } from '../remotes/rate-limit.js';
import { putWhole, streamOf, wholeIfShort } from '../remotes/whole.js';

export interface CopyRequest {
  readonly source: Connection;
  /** The operation's own connection. */
  readonly target: Connection;
  readonly from: PathReference;
  readonly to: PathReference;
  readonly template: string | undefined;
  readonly overwrite: boolean;
  /** Throws if the file must not be copied; nothing has been written then. */
  readonly check?: (ends: OpenEnds, from: RemotePath, to: RemotePath, paces: EndPaces) => Promise<void>;
  /** Resolves when this many bytes may be sent; absent = no limit. */
  readonly pace?: ((bytes: number) => Promise<void>) | undefined;
  /** The job or route of the file, if any. */
  readonly scope?: ProofScope | undefined;
  /** Replaces the source's own time. */
  readonly modifiedAt?: Date | undefined;
}

interface Copied {
  readonly from: RemotePath;
  readonly to: RemotePath;
  readonly size: number;
  /** The time of the copy, as far as its server keeps it. */
  readonly modifiedAt: Date;
  /** The store's own entity tag of the copy, if it has one. */
  readonly etag?: string;
  /** The store copied it; no byte passed through the gateway. */
  readonly isServerSide?: boolean;
}

/** @throws GatewayError plan_required */
export function requirePlanForCopies(operations: Operations, caller: Pick<Caller, 'plan'>): void {
  if (operations.planOf(caller).connections !== 1) return;
  const text = `copy needs a plan with more than one connection; this account has ${caller.plan}`;
  throw refusal('plan_required', text);
}

export async function copyFile(operations: Operations, operation: Operation, request: CopyRequest): Promise<Copied> {
  const { template, overwrite } = request;
  const facts = templateFacts();
  return operation.useBoth(request.source, async (source, target, attempt) => {
    const from = await request.from(source);
    operation.evidence.readFrom(from, request.source);
    const wanted = await request.to(target);
    const to =
      template === undefined ? wanted : joinPath(parentOf(wanted), applyTemplate(template, baseName(wanted), facts));
    operation.locate(to, baseName(to));
    // A single file is only in danger if it would be replaced.
    if (!overwrite && request.scope === undefined) await refuseExisting(target, to);
    await operation.stayingEndable(() =>
      operations.folderProofs.refuseOntoItself(request, { source, target }, from, to, request.scope),
    );
    if (!overwrite && request.scope !== undefined) await refuseExisting(target, to);
    await request.check?.({ source, target }, from, to, operation.paces);
    const mayBeInside = source.copyFrom !== undefined && target.copyFrom !== undefined;
    if (mayBeInside) attempt.committed();
    operation.mark('transfer');
    const exclusive = !overwrite;
    const inside = (): Promise<FileInfo | undefined> =>
      insideStore(source, target, from, to, { exclusive, modifiedAt: request.modifiedAt });
    // Few stores refuse an existing target of a copy themselves.
    const copied =
      mayBeInside && exclusive
        ? await underLocks(operations, request.target, [to], operation.signal, inside)
        : await inside();
    if (copied !== undefined) {
      operation.evidence.undigested('server_side_copy');
      operation.fileSize = copied.size;
      return { from, to, size: copied.size, ...shownFacts(copied), isServerSide: true };
    }
    operation.mark('open');
    const isRead = operation.paces.watch(
      'source',
      () => !isHeldBack(source),
      () => 0,
    );
    const { file, length } = await source.read(from).then(wholeIfShort).finally(isRead);
    const { info, whole } = file;
    operation.expectedSize = length;
    const modifiedAt = request.modifiedAt ?? ownTimeOf(info);
    const publication = { connection: request.target, remote: target, place: to, exclusive, modifiedAt, operation };
    const opened = (): void => {
      attempt.committed();
      operation.mark('transfer');
    };
    const sent = (): void => operation.mark('verify');
    const { hash, check } = checkingOf(operation, request.target);
    if (whole !== undefined) {
      hash?.update(whole);
      await request.pace?.(whole.length);
      const options = { exclusive, modifiedAt, check, opened, sent };
      const stored = await publish(operations, publication, () => putWhole(target, to, whole, options));
      operation.fileSize = whole.length;
      return { from, to, size: whole.length, ...shownFacts(stored) };
    }
    const body = streamOf(file);
    leaveErrorsToPump(body);
    try {
      const writer = await target.write(to, { size: length, exclusive, modifiedAt, isChecked: check !== undefined });
      opened();
      return await withWriter(writer, async () => {
        const onBytes = (total: number): void => void (operation.fileSize = total);
        // No announced length limits it: the source ends only where the file does.
        const isPumped = watchPump(operation, source, body, writer);
        const size = await pump(body, writer, { signal: operation.signal, onBytes, pace: request.pace, hash }).finally(
          isPumped,
        );
        sent();
        const stored = await publish(operations, publication, () =>
          writer.commit({ size, exclusive, modifiedAt, check }),
        );
        return { from, to, size, ...shownFacts(stored) };
      });
    } finally {
      body.destroy();
    }
  });
}

const shownFacts = (copy: FileInfo): Pick<Copied, 'etag' | 'modifiedAt'> => ({
  modifiedAt: shownTime(copy),
  ...(copy.etag === undefined ? {} : { etag: copy.etag }),
});

/** If it waits for neither side, a limit of the job or of a connection slows it down. */
function watchPump(operation: Operation, source: Remote, body: Readable, writer: Writable): () => void {
  const moved = (): number => operation.fileSize;
  const isEmpty = (): boolean => body.readableLength === 0 && !isHeldBack(source) && !waitsForLimit(body);
  const isFull = (): boolean => writer.writableLength > 0;
  const stops = [
    operation.paces.watch('source', isEmpty, moved),
    operation.paces.watch('target', () => isFull() && !isEmpty(), moved),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/**
 * A source is removed after copying only if the copy was looked up, and not only acknowledged by a server. @throws
 * GatewayError copy_unverified
 */
export function requireVerified({ evidence }: Operation, from: RemotePath): void {
  const why = evidence.whyUnverified;
  if (why === undefined) return;
  const reason = why === 'taken_away' ? 'was gone when it was checked' : 'may not be read';
  const text = `the copy of ${from} was delivered, but ${reason}; ${from} was kept`;
  throw new GatewayError('copy_unverified', text, { step: 'verify' });
}

async function insideStore(
  source: Remote,
  target: Remote,
  from: RemotePath,
  to: RemotePath,
  options: CopyOptions,
): Promise<FileInfo | undefined> {
  return target.copyFrom?.(source, from, to, options);
}

/** Two logins of one server may see different trees. */
export function seeOneTree(source: Connection, target: Connection): boolean {
  return source.id === target.id || loginOf(source) === loginOf(target);
}

export function loginOf(connection: Connection): string {
  return 'username' in connection ? connection.username : '';
}
