/**
 * Runs one file of a durable list: an operation like any other, except that only its end is recorded. A copy that an
 * earlier try has completed before a crash is recognized.
 */
import type { Budget } from '../budgets/budget.js';
import { Memory } from '../budgets/memory.js';
import type { EndSignal } from '../base/ending.js';
import { hasCode } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import type { ConflictRule } from '../contract/job.js';
import type { TransferType } from '../contract/transfer.js';
import { moveFile, type MoveRequest } from '../operations/change.js';
import { freeName, replaces, underFreeName } from '../operations/conflicts.js';
import { copyFile, type CopyRequest } from '../operations/copy.js';
import type { Operation, OperationRequest, Operations } from '../operations/operation.js';
import type { JobPart } from '../operations/part.js';
import { fixedPath, type PathReference } from '../operations/path-reference.js';
import { findCopy } from '../operations/same-bytes.js';
import { baseName, type RemotePath } from '../remotes/path.js';

/** A job, or an event with work on its files. */
interface FileOwner {
  /** Shown as the request of the history item; absent: it has none. */
  readonly id?: string;
  readonly accountId: string;
  readonly plan: string;
  readonly keyId: string | null;
}

export interface FileRequest extends Pick<OperationRequest, 'isFree' | 'isTentative'> {
  readonly owner: FileOwner;
  readonly type: TransferType;
  readonly connection: Connection;
  readonly path: RemotePath;
  /** Absent = the last name of the path. */
  readonly filename?: string | undefined;
  readonly signal: EndSignal;
  readonly part: JobPart;
}

export interface CopyTask extends Pick<CopyRequest, 'source' | 'target' | 'pace' | 'scope' | 'modifiedAt' | 'check'> {
  readonly from: RemotePath;
  readonly to: RemotePath;
  readonly rule: ConflictRule;
  /** Where an earlier try, whose end is unknown, may have completed the copy; or beside it, under a free name. */
  readonly former: { readonly to: RemotePath; readonly isRenamed: boolean } | undefined;
}

export class FileEngine {
  readonly #operations: Operations;
  readonly #memoryBytes: Budget;

  /** `memoryBytes` is shared by the streams of all operations. */
  constructor(operations: Operations, memoryBytes: Budget) {
    this.#operations = operations;
    this.#memoryBytes = memoryBytes;
  }

  async run(request: FileRequest, work: (operation: Operation) => Promise<void>): Promise<void> {
    const { owner, type, connection, path, filename, signal, part, isFree = false, isTentative = false } = request;
    const { accountId, plan, keyId } = owner;
    const memory = new Memory(this.#memoryBytes, accountId);
    try {
      await this.#operations.run(
        {
          caller: { accountId, plan, keyId: keyId ?? '' },
          connection,
          type,
          path: path.toWellFormed(),
          filename: filename ?? baseName(path).toWellFormed(),
          requestId: owner.id,
          signal,
          job: part,
          isFree,
          isTentative,
          memory,
          priority: 'background',
        },
        work,
      );
    } finally {
      memory.release();
    }
  }

  async copyUnlessCopied(operation: Operation, task: CopyTask): Promise<void> {
    if (!(await this.isAlreadyCopied(operation, task))) await this.copyOnce(operation, task);
  }

  /** After a crash: is the copy already complete, with the same bytes and time? */
  async isAlreadyCopied(operation: Operation, { former, ...task }: CopyTask): Promise<boolean> {
    if (former === undefined) return false;
    try {
      return (await findCopy(this.#operations, operation, { ...task, ...former })) !== undefined;
    } catch (error) {
      // If the login may not read the folder, the file is copied again.
      if (hasCode(error, 'permission_denied')) return false;
      throw error;
    }
  }

  /** Copies it under one name, given or free. */
  copyOnce(operation: Operation, task: CopyTask): Promise<{ readonly size: number }> {
    const { rule, from, to, former: _, ...request } = task;
    const copy = (): Promise<{ readonly size: number }> =>
      copyFile(this.#operations, operation, {
        ...request,
        from: fixedPath(from),
        to: conflictTargetOf(rule, to),
        template: undefined,
        overwrite: replaces(rule),
      });
    return rule === 'rename' ? underFreeName(copy) : copy();
  }

  move(operation: Operation, request: MoveRequest): Promise<unknown> {
    return moveFile(this.#operations, operation, request);
  }
}

/** The path itself, or the first free name beside it. */
export function conflictTargetOf(rule: ConflictRule, wanted: RemotePath): PathReference {
  return rule === 'rename' ? freeName(wanted) : fixedPath(wanted);
}
