import { within } from '../../../base/deadline.js';
import { GatewayError } from '../../../base/errors.js';
import { alreadyExists, isAFolder } from '../../obstacles.js';
import type { RemotePath } from '../../path.js';
import { EPOCH } from '../../listing.js';
import type { Unverified } from '../../../contract/transfer.js';
import type { Commit, FileInfo, RemoteContext, WriteOptions } from '../../remote.js';
import type { SftpChannel } from '../session/channel.js';
import { isMissing, isStatus, translate } from '../wire/replies.js';
import type { Attributes } from '../wire/wire.js';
import { isSameTime } from '../../times.js';
import type { SftpMemory } from '../memory.js';
import { unlessRefused, type ServerPath } from './confine.js';
import { setFileMode } from './modes.js';

const ABORT_MS = 10_000;

/** The purpose of an upload: the plan knows how to publish the written file and how to remove it. */
export interface UploadPlan {
  readonly channel: SftpChannel;
  readonly handle: Buffer;
  /** The file that is open for writing. */
  readonly file: ServerPath;
  /** The file's name for clients. */
  readonly path: RemotePath;
  /** No client knows its name yet. */
  readonly isHidden?: boolean;
  /** Offset of the first byte: 0, or the old end for an append. */
  readonly start: number;
  /** The server executes requests in order, so the file may be measured and closed directly after its last write. */
  readonly isOrderly: boolean;
  /** The rights that the file gets before its name; undefined = as the server decides. */
  readonly mode?: number | undefined;
  readonly memory: SftpMemory;
  readonly context: Pick<RemoteContext, 'unverified'>;
  /** Publishes the file, once `measuring` has shown that it is complete, closed and of the right size. */
  publish(measuring: Promise<Attributes>, expected: Commit): Promise<FileInfo>;
  /** Undoes what was written. The handle is closed before, unless `handle` is given: then this closes it. */
  takeBack(handle: Buffer | undefined): Promise<void>;
  /** `takeBack` has failed. */
  leaveBehind(): void;
}

/** A file that is open for writing, until it is published or taken back. */
export class SftpUpload {
  #isOpen = true;
  #publishing: Promise<FileInfo> | undefined;
  #isPublished = false;

  constructor(readonly plan: UploadPlan) {}

  /** Writes all of a short file at once, and publishes it after that. `sent`: the server has all of it. */
  put(bytes: Buffer, expected: Commit, sent: (() => void) | undefined): Promise<FileInfo> {
    return this.publish(expected, this.#write(bytes).then(sent));
  }

  /** `written` settles once the server has accepted, or refused, what was written. */
  publish(expected: Commit, written: Promise<void>): Promise<FileInfo> {
    this.#publishing ??= this.#publish(expected, written);
    return this.#publishing;
  }

  /** Leaves nothing behind, unless the file was published. Never throws. */
  async takeBack(): Promise<void> {
    // A rename under way decides first: removing the file meanwhile could hit the published one.
    await this.#publishing?.catch(() => undefined);
    if (this.#isPublished) return;
    const { plan } = this;
    const handle = this.#isOpen ? plan.handle : undefined;
    this.#isOpen = false;
    const takenBack = plan.takeBack(handle).then(
      () => true,
      () => false,
    );
    if (!(await within(takenBack, ABORT_MS, () => false))) plan.leaveBehind();
  }

  mismatch(size: number | undefined, expected: number): GatewayError {
    const actual = size === undefined ? 'of unknown size' : `${size} bytes long`;
    return new GatewayError('size_mismatch', `${this.plan.path} is ${actual} on the server instead of ${expected}`, {
      step: 'verify',
    });
  }

  /** Looks the file up by its name; returns why not, if the server refuses. */
  async #find(): Promise<Attributes | { readonly why: Unverified }> {
    const { channel, file } = this.plan;
    try {
      return await channel.stat(file.raw);
    } catch (error) {
      if (isStatus(error)) return { why: whyUnseen(error) };
      throw error;
    }
  }

  #write(bytes: Buffer): Promise<void> {
    const { channel, handle, path } = this.plan;
    return new Promise((done, failed) => {
      let underWay = 1;
      const settle = (error?: Error): void => {
        underWay -= 1;
        if (error !== undefined) failed(translate(error, path, 'transfer'));
        else if (underWay === 0) done();
      };
      for (let at = 0; at < bytes.length; at += channel.maxWriteBytes) {
        underWay += 1;
        channel.write(handle, at, [bytes.subarray(at, at + channel.maxWriteBytes)], settle);
      }
      settle();
    });
  }

  async #publish(expected: Commit, written: Promise<void>): Promise<FileInfo> {
    try {
      const info = await this.plan.publish(this.#measureAndClose(expected, written), expected);
      this.#isPublished = true;
      return info;
    } catch (error) {
      throw translate(error, expected.path ?? this.plan.path, 'publish');
    }
  }

  async #measureAndClose({ size, modifiedAt }: Commit, written: Promise<void>): Promise<Attributes> {
    const { channel, handle, path, file, isOrderly, memory, mode } = this.plan;
    const expectedSize = this.plan.start + size;
    if (!isOrderly) await written;
    const given = setFileMode(channel, { handle, file, path }, mode);
    // Others may close the file first. If they refuse, the file is still open, and is closed when it is taken back.
    if (!isOrderly) await given;
    this.#isOpen = false;
    // If it is refused or lost, the file's attributes show it.
    if (modifiedAt !== undefined && isOrderly) channel.setTimes(handle, modifiedAt).catch(() => undefined);
    const measured = channel.fstat(handle).catch((error: unknown) => {
      if (isStatus(error)) return undefined;
      throw error;
    });
    try {
      const [open] = await Promise.all([measured, channel.close(handle), written, given]);
      // Closing the file may set the present time.
      const isDatedLate = modifiedAt !== undefined && !isOrderly;
      if (isDatedLate) await unlessRefused(channel.setTimesAt(file.raw, modifiedAt));
      // Servers in front of an object store know the size only once the file is closed; some cannot report it before.
      const whole = open?.size === expectedSize ? open : undefined;
      const closed = isDatedLate || whole === undefined ? await this.#find() : whole;
      if ('why' in closed) {
        // The handle shows that it is complete, even if its name has changed since.
        if (whole !== undefined) return whole;
        if (isOrderly && open?.size !== undefined) throw this.mismatch(open.size, expectedSize);
        this.plan.context.unverified?.(closed.why);
        return { size: expectedSize, isFolder: false, isLink: false, hasType: true, modifiedAt: EPOCH };
      }
      if (closed.size !== expectedSize) throw this.mismatch(closed.size, expectedSize);
      if (modifiedAt !== undefined) memory.keepsTimes = isSameTime(closed.modifiedAt, modifiedAt);
      return closed;
    } catch (error) {
      throw translate(error, path, 'verify');
    }
  }
}

/** What a refused lookup means for a file that the server has acknowledged. */
const whyUnseen = (refusal: unknown): Unverified => (isMissing(refusal) ? 'taken_away' : 'may_not_look');

export async function closeAndRemove(
  channel: SftpChannel,
  handle: Buffer | undefined,
  file: ServerPath,
): Promise<void> {
  if (handle !== undefined) await channel.close(handle).catch(() => undefined);
  await channel.remove(file.raw).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
}

/** Why the entry at the file's place prevents it from being written. */
export function obstacleAt(
  path: RemotePath,
  existing: Attributes | undefined,
  { exclusive }: WriteOptions,
): GatewayError | undefined {
  if (existing === undefined) return undefined;
  if (exclusive === true) return alreadyExists(path);
  return existing.isFolder ? isAFolder(path) : undefined;
}
