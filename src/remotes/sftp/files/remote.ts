import { UNCOUNTED } from '../../../budgets/memory.js';
import { destroyOnAbort, orAbort } from '../../../base/deadline.js';
import type { EndSignal } from '../../../base/ending.js';
import { modeText, rightsIn } from '../../../base/file-mode.js';
import { GatewayError, type Step } from '../../../base/errors.js';
import type { SftpConnection } from '../../../connections/connection.js';
import { chooseAgain, chooseRange, hasGrown, type RangeChoice } from '../../reported-size.js';
import { EPOCH, fileInfo } from '../../listing.js';
import { readBack } from '../../acknowledged.js';
import { isAFolder, refuseRoot } from '../../obstacles.js';
import { type MoreSessions, NO_MORE_SESSIONS } from '../../more-sessions.js';
import { baseName, joinPath, parentOf, ROOT, type RemotePath } from '../../path.js';
import { hiddenBeside, isAnswerLost, isRefusal, isWrittenBeside, movePlace, publishUpload } from '../../publish.js';
import type { ProtocolDeps } from '../../protocol.js';
import {
  WHOLE_BYTES,
  type ByteRange,
  type Capabilities,
  type ExecOptions,
  type ExecResult,
  type FileInfo,
  type ListOptions,
  type MoveOptions,
  type OpenFile,
  type PutOptions,
  type Remote,
  type RemoteContext,
  type RemoteWriter,
  type SelectRange,
  type ServerFacts,
  type ServerProof,
  type WriteOptions,
  type Pieces,
} from '../../remote.js';
import type { ProbeResult } from '../../probe-result.js';
import { isSameTime } from '../../times.js';
import { tryWritingOn, type WritesOn } from './append-probe.js';
import type { SftpChannel } from '../session/channel.js';
import { runCommand } from './command.js';
import { Confinement, findEntry, findTarget, measureOpen, unlessRefused, type ServerPath } from './confine.js';
import type { SftpMemory } from '../memory.js';
import { type LanesPlan, Lanes, type OpenHandle } from './lanes.js';
import { infoOf, listEntries } from './listing.js';
import { SftpPieces } from './pieces.js';
import { hasBytesAt, isWholeFile, readHead, SftpSource, type Head, type SourcePlan } from './source.js';
import { translate } from '../wire/replies.js';
import type { SftpLease } from '../session/session.js';
import { Tree } from './tree.js';
import { SftpWriter } from './writer.js';
import { SftpSink } from './sink.js';
import { type Modes, modesOf, setFileMode } from './modes.js';
import { closeAndRemove, obstacleAt, SftpUpload, type UploadPlan } from './upload.js';
import { type Attributes, OPEN } from '../wire/wire.js';

/** Short requests on one channel: enough to fill a long line, few enough to leave room for others on the connection. */
const CALLS_AT_ONCE = 16;
/** Further channels of one upload on a long line, where each has a window of 2 MiB. */
const MORE_CHANNELS = 4;
/** A file that was written longer ago than this is known by its time; clocks may differ by some of it. */
const SETTLED_MS = 5_000;

/** A file that is open for reading, and its known facts. */
interface Opened {
  readonly channel: SftpChannel;
  readonly handle: Buffer;
  readonly path: RemotePath;
  readonly info: FileInfo;
  readonly head: Head;
  readonly giveBack: () => void;
}

interface OpenedFile {
  readonly at: ServerPath;
  readonly handle: Buffer;
  readonly path: RemotePath;
}

/** A range of the file that was found at a path, before it is known that it is the one that was opened. */
interface ExpectedRange {
  readonly found: Attributes;
  readonly info: FileInfo;
  readonly range: ByteRange;
}

/** The file tree of an SFTP server, for one operation on one lease. */
export class SftpRemote implements Remote {
  readonly #lease: SftpLease;
  readonly #memory: SftpMemory;
  readonly #atomicUploads: boolean;
  readonly #modes: Modes;
  readonly #deps: ProtocolDeps;
  readonly #context: RemoteContext;
  readonly #more: MoreSessions<SftpLease>;
  readonly #confinement: Confinement;

  constructor(
    lease: SftpLease,
    connection: SftpConnection,
    deps: ProtocolDeps,
    context: RemoteContext,
    more: MoreSessions<SftpLease> = NO_MORE_SESSIONS,
  ) {
    this.#lease = lease;
    this.#memory = lease.session.memory;
    this.#atomicUploads = connection.atomicUploads;
    this.#modes = modesOf(connection);
    this.#deps = deps;
    this.#context = context;
    this.#more = more;
    this.#confinement = new Confinement(connection.rootPath);
    // OpenSSH renames by link and unlink, which never replaces; for others it is tested.
    if (this.#memory.moveOnto === 'unknown' && this.#isOpenSsh) this.#memory.moveOnto = 'refuses';
  }

  get can(): Capabilities {
    const { moveOnto, oneRequestAtATime, keepsTimes } = this.#memory;
    return {
      moveOnto,
      exclusiveCreate: moveOnto === 'refuses',
      readsWhileWriting: true,
      timeResolutionMs: 1000,
      statTimeResolutionMs: 1000,
      keepsTimes: keepsTimes === false ? 'no' : 'listed',
      callsAtOnce: oneRequestAtATime ? 1 : CALLS_AT_ONCE,
    };
  }

  get proof(): ServerProof {
    return { hostKey: this.#lease.session.fingerprint };
  }

  async probe(): Promise<ProbeResult> {
    const { session } = this.#lease;
    const channel = await this.#lease.channel();
    const startedAt = performance.now();
    await session.inTime(channel.realPath(Buffer.from('.')));
    const answerMs = performance.now() - startedAt;
    const { fingerprint, hostKeyAlgorithm: algorithm, software: banner, algorithms } = session;
    return { answerMs, hostKey: { fingerprint, algorithm }, banner, algorithms, extensions: [...channel.extensions] };
  }

  get facts(): ServerFacts {
    const channel = this.#lease.current;
    return {
      software: this.#lease.session.software,
      protocol: 'SFTP',
      channels: this.#lease.session.capacity,
      ...(channel === undefined
        ? {}
        : {
            extensions: [...channel.extensions],
            readBytes: channel.maxReadBytes,
            writeBytes: channel.maxWriteBytes,
          }),
    };
  }

  home(): Promise<RemotePath> {
    return this.#run(ROOT, 'open', async ({ channel }) => {
      const real = await this.#lease.session.home(channel);
      const seen = await this.#confinement.seen(channel, real);
      return seen?.startsWith('/') ? (seen as RemotePath) : ROOT;
    });
  }

  stat(path: RemotePath): Promise<FileInfo> {
    return this.#run(path, 'open', async ({ channel }) => {
      const { answer } = await this.#confinement.ask(channel, path, ({ raw }) => channel.stat(raw));
      return infoOf(path, answer);
    });
  }

  rightsOf(path: RemotePath): Promise<string | undefined> {
    return this.#run(path, 'verify', async ({ channel }) => {
      const { answer } = await this.#confinement.ask(channel, path, ({ raw }) => channel.stat(raw));
      const { mode = 0 } = answer;
      return mode === 0 ? undefined : modeText(mode);
    });
  }

  async *list(
    folder: RemotePath,
    { followLinks = true, leftOut }: ListOptions = {},
  ): AsyncGenerator<readonly FileInfo[]> {
    const { channel, at, handle } = await this.#run(folder, 'open', async (tree) => {
      return { channel: tree.channel, ...(await tree.openFolder(folder)) };
    });
    const entries = listEntries({
      channel,
      handle,
      folder,
      rawFolder: at.raw,
      confinement: this.#confinement,
      memory: this.#memory,
      followLinks,
      leftOut,
      warn: (message, facts) => this.#deps.warn(message, { ...facts, host: this.#lease.session.host }),
    });
    try {
      for (;;) {
        const next = await orAbort(entries.next(), this.#ending);
        if (next.done === true) return;
        yield next.value;
      }
    } catch (error) {
      throw translate(error, folder, 'transfer');
    } finally {
      channel.close(handle).catch(() => undefined);
    }
  }

  read(path: RemotePath, select?: SelectRange): Promise<OpenFile> {
    return this.#run(path, 'open', async (tree) => {
      const opening = tree.openForReading(path);
      const looking = select === undefined || select.isCheck === true ? undefined : this.#lookAhead(tree, path);
      const file = { ...(await opening), path };
      const expected = await this.#expectedRange(tree, file, looking, select);
      const quick = expected && (await this.#readExpected(tree, file, expected));
      if (quick !== undefined) return quick;
      // The reader of the expected range has closed the file.
      const again = expected === undefined ? file : { ...(await tree.openForReading(path)), path };
      return this.#readMeasured(tree, again, select);
    });
  }

  /**
   * Sends the stat directly after the open request: a range can then be read together with the facts of the open file.
   * A server that refuses a request which comes too early has opened the file.
   */
  #lookAhead({ channel }: Tree, path: RemotePath): Promise<Attributes | undefined> | undefined {
    if (this.#memory.oneRequestAtATime) return undefined;
    const looking = unlessRefused(channel.stat(this.#confinement.plain(path).raw));
    looking.catch(() => undefined);
    return looking;
  }

  /** The range that the file found at the path would have, if any; gives the open file back if it rejects. */
  async #expectedRange(
    tree: Tree,
    { path, handle }: OpenedFile,
    looking: Promise<Attributes | undefined> | undefined,
    select: SelectRange | undefined,
  ): Promise<ExpectedRange | undefined> {
    try {
      const found = await looking;
      this.#ending.throwIfAborted();
      if (found === undefined || found.isFolder) return undefined;
      const info = infoOf(path, found);
      const range = chooseRange(info, select)?.range;
      return range && { found, info, range };
    } catch (error) {
      tree.giveBack(handle);
      throw error;
    }
  }

  /** Undefined, and closes the file, if it is another one than was found at the path, or has another size. */
  async #readExpected(
    { channel }: Tree,
    { at, handle, path }: OpenedFile,
    { found, info, range }: ExpectedRange,
  ): Promise<OpenFile | undefined> {
    const facts = Promise.all([
      unlessRefused(measureOpen(channel, handle, at)),
      hasBytesAt(channel, handle, info.size),
    ]);
    const length = range.end - range.start + 1;
    const body = this.#source({ channel, handle, path, info }, { start: range.start, length, isToEnd: false });
    // It may fail before it is read.
    body.on('error', () => undefined).read(0);
    let isRight = false;
    try {
      const [opened, isLonger] = await facts;
      isRight = !isLonger && isSameFile(opened, found) && body.errored === null;
      return isRight ? { info, range, body } : undefined;
    } finally {
      if (!isRight) body.destroy();
    }
  }

  async #readMeasured(
    tree: Tree,
    { at, handle, path }: OpenedFile,
    select: SelectRange | undefined,
  ): Promise<OpenFile> {
    const { channel } = tree;
    const giveBack = (): void => tree.giveBack(handle);
    let opened: Opened;
    let choice: RangeChoice | undefined;
    try {
      // The first bytes are requested together with the file's facts: most files are small and cost only one round
      // trip.
      const [attributes, head] = await Promise.all([
        // Some servers report no size at all: the content shows it.
        unlessRefused(measureOpen(channel, handle, at)),
        readHead(channel, handle),
      ]);
      // STAT and READ are refused: the login may not read the file, which is not the same as an empty file.
      if (attributes === undefined && head.bytes === undefined) await measureOpen(channel, handle, at);
      if (attributes?.isFolder === true) throw isAFolder(path);
      const info = attributes === undefined ? fileInfo(path, 0, EPOCH) : infoOf(path, attributes);
      opened = { channel, handle, path, info, head, giveBack };
      choice = chooseRange(info, select);
      this.#ending.throwIfAborted();
    } catch (error) {
      giveBack();
      throw error;
    }
    if (choice !== undefined && select !== undefined) return this.#readRange(opened, choice, select);
    const { info, head } = opened;
    const { size } = info;
    if (size > WHOLE_BYTES || !isWholeFile(head, size))
      return {
        info,
        range: undefined,
        body: this.#source(opened, { start: 0, length: size, isToEnd: true }),
        hasGrown: () => this.stat(path).then((now) => hasGrown(info, now)),
      };
    giveBack();
    return { info, range: undefined, whole: head.bytes };
  }

  /**
   * The bytes of a range, and whether there are any, depend on the size: a read after the reported end, sent together
   * with the first ones of the range, shows whether the size is right.
   */
  async #readRange(opened: Opened, { range, refusal }: RangeChoice, select: SelectRange): Promise<OpenFile> {
    const { channel, handle, path, info, head, giveBack } = opened;
    const { size } = info;
    const length = range === undefined ? 0 : range.end - range.start + 1;
    const here = range?.start === 0 && length <= WHOLE_BYTES ? head.bytes : undefined;
    const isHere = here !== undefined && here.length >= length;
    const isLonger =
      isWholeFile(head, size) || (head.bytes?.length ?? 0) > size
        ? Promise.resolve(!isWholeFile(head, size))
        : hasBytesAt(channel, handle, size);
    const isStreamed = range !== undefined && !isHere;
    const body = isStreamed ? this.#source(opened, { start: range.start, length, isToEnd: false }) : undefined;
    // It may fail before it is read.
    body?.on('error', () => undefined).read(0);
    const outcome = await isLonger.then(
      (found) => (found ? 'longer' : 'whole'),
      (failure: unknown) => ({ failure }),
    );
    if (body !== undefined && outcome === 'whole' && body.errored === null) return { info, range, body };
    if (body === undefined) giveBack();
    else body.destroy();
    if (typeof outcome === 'object') throw outcome.failure;
    if (outcome === 'longer') return this.read(path, chooseAgain(info, select));
    if (body?.errored !== null && body?.errored !== undefined) throw body.errored;
    if (range === undefined) throw refusal;
    return { info, range, whole: here?.subarray(0, length) ?? Buffer.alloc(0) };
  }

  #source(
    { channel, handle, path, info, head }: Omit<Opened, 'head' | 'giveBack'> & Partial<Pick<Opened, 'head'>>,
    part: Pick<SourcePlan, 'start' | 'length' | 'isToEnd'>,
  ): SftpSource {
    const open = (other: SftpChannel): Promise<Buffer | undefined> => this.#openSame(other, info);
    const body = new SftpSource({
      lanes: this.#lanes({ channel, handle }, { direction: 'down', channels: 0, open }),
      path,
      ...part,
      maxRequests: this.#deps.tuning.sftpInFlight,
      memory: this.#memory,
      hold: this.#context.hold?.() ?? UNCOUNTED,
      head: part.start === 0 ? head?.bytes : undefined,
    });
    destroyOnAbort(body, this.#ending);
    return body;
  }

  /** Opens the file again, if it is certainly still the same one. */
  async #openSame(channel: SftpChannel, info: FileInfo): Promise<Buffer | undefined> {
    // A file written in this moment may be replaced by one of the same time and size.
    if (Math.abs(Date.now() - info.modifiedAt.getTime()) < SETTLED_MS) return undefined;
    const { at, answer: handle } = await this.#confinement.ask(
      channel,
      info.path,
      ({ raw }) => channel.open(raw, OPEN.READ),
      (late) => void channel.close(late).catch(() => undefined),
    );
    const found = await measureOpen(channel, handle, at).catch(() => undefined);
    if (found?.size === info.size && isSameTime(found.modifiedAt, info.modifiedAt)) return handle;
    channel.close(handle).catch(() => undefined);
    return undefined;
  }

  #lanes(own: OpenHandle, plan: Pick<LanesPlan, 'direction' | 'channels' | 'open'> | undefined): Lanes {
    const lease = this.#lease;
    const memory = this.#memory;
    return new Lanes(own, lease.session, plan && { ...plan, more: this.#more, lease, memory });
  }

  async write(path: RemotePath, options: WriteOptions): Promise<RemoteWriter> {
    return this.#writer(await this.#openUpload(path, options), options.size);
  }

  /** If the server does not keep the order, or fails with several requests under way, the stream handles both. */
  get put(): Remote['put'] {
    return this.#isOpenSsh && this.#atomicUploads && !this.#memory.oneRequestAtATime
      ? (path, bytes, options) => this.#put(path, bytes, options)
      : undefined;
  }

  async #put(path: RemotePath, bytes: Buffer, options: PutOptions): Promise<FileInfo> {
    const { exclusive = false, modifiedAt, opened, sent } = options;
    const upload = await this.#openUpload(path, { size: bytes.length, exclusive });
    try {
      opened?.();
      this.#ending.throwIfAborted();
      return await orAbort(upload.put(bytes, { size: bytes.length, exclusive, modifiedAt }, sent), this.#ending);
    } catch (error) {
      await upload.takeBack();
      throw error;
    }
  }

  append(path: RemotePath): Promise<RemoteWriter | undefined> {
    return this.#run(path, 'open', async (tree) => {
      const { channel } = tree;
      const file = await this.#confinement.target(channel, path);
      if ((await this.#writesOn(tree, file, path)) === 'nowhere') return undefined;
      const [found, opened, readable] = await Promise.allSettled([
        channel.stat(file.raw),
        channel.open(file.raw, OPEN.WRITE),
        // The login may be one that can only write.
        unlessRefused(channel.open(file.raw, OPEN.READ)),
      ]);
      const reading = readable.status === 'fulfilled' ? readable.value : undefined;
      let start: number | undefined;
      try {
        if (found.status === 'rejected') throw found.reason;
        if (found.value.isFolder) throw isAFolder(path);
        if (opened.status === 'rejected') throw opened.reason;
        // Writes at explicit offsets: servers differ in what the append flag does with many writes under way.
        start = await this.#endOf(tree, file, found.value.size, reading);
      } catch (error) {
        if (opened.status === 'fulfilled') tree.giveBack(opened.value);
        throw error;
      } finally {
        if (reading !== undefined) tree.giveBack(reading);
      }
      if (start === undefined) {
        tree.giveBack(opened.value);
        return undefined;
      }
      const writer: SftpWriter = this.#writer(
        this.#upload(channel, opened.value, file, path, {
          start,
          mode: undefined,
          publish: async (measuring) => {
            try {
              return infoOf(path, await measuring);
            } catch (error) {
              // A client that appends again would append twice.
              const end = start + writer.sentBytes;
              const stored = isAnswerLost(error) ? await this.#statAfresh(tree, file) : undefined;
              if (stored?.size !== end) throw error;
              return infoOf(path, stored);
            }
          },
          takeBack: async (stillOpen) => {
            const handle = stillOpen ?? (await channel.open(file.raw, OPEN.WRITE));
            // Cuts only our own bytes: what others have appended meanwhile follows them and would also be cut off.
            const { size } = await channel.fstat(handle);
            if (size !== undefined && size <= start + writer.sentBytes) await channel.setSize(handle, start);
            await channel.close(handle);
          },
          leaveBehind: () => this.#deps.log('an append that failed could not be taken back', { path }),
        }),
      );
      return writer;
    });
  }

  /** Undefined if nothing can be learned. */
  #statAfresh(tree: Tree, { raw }: ServerPath): Promise<Attributes | undefined> {
    return tree.afresh(({ channel }) => channel.stat(raw)).catch(() => undefined);
  }

  /**
   * Where a file really ends: appending at a reported size that is too small would overwrite bytes. Undefined if
   * unknown.
   */
  async #endOf(
    { channel }: Tree,
    file: ServerPath,
    reported: number | undefined,
    reading: Buffer | undefined,
  ): Promise<number | undefined> {
    let end = reported;
    while (end !== undefined && reading !== undefined && (await hasBytesAt(channel, reading, end))) {
      // Others may also append to it.
      const { size } = await channel.stat(file.raw);
      end = size !== undefined && size > end ? size : undefined;
    }
    return end;
  }

  async #writesOn({ channel }: Tree, file: ServerPath, path: RemotePath): Promise<WritesOn> {
    if (this.#isOpenSsh) return 'anywhere';
    const { leftovers } = this.#context;
    if (this.#memory.writesOn === undefined) {
      const { isFolder } = await channel.stat(file.raw);
      if (isFolder) throw isAFolder(path);
      const trial = joinPath(parentOf(path), leftovers.temporaryName('append'));
      await leftovers.expect(parentOf(path));
      const place = await this.#confinement.entry(channel, trial);
      let isThere = true;
      try {
        const found = await tryWritingOn(channel, place);
        isThere = found !== undefined;
        this.#memory.writesOn = found;
      } finally {
        if (isThere) await closeAndRemove(channel, undefined, place).catch(() => leftovers.removeLater(trial));
      }
    }
    return this.#memory.writesOn ?? 'anywhere';
  }

  get pieces(): Pieces {
    return new SftpPieces({
      context: this.#context,
      memory: this.#memory,
      atomicUploads: this.#atomicUploads,
      isOrderly: this.#isOpenSsh,
      maxRequests: this.#deps.tuning.sftpInFlight,
      session: this.#lease.session,
      run: (path, step, work) => this.#run(path, step, work),
      read: (path) => this.read(path),
      writesOn: (tree, file, path) => this.#writesOn(tree, file, path),
    });
  }

  setTime(path: RemotePath, modifiedAt: Date): Promise<FileInfo> {
    return this.#run(path, 'publish', async ({ channel }) => {
      const { at, answer } = await this.#confinement.ask(channel, path, ({ raw }) => channel.stat(raw));
      if (answer.isFolder) throw isAFolder(path);
      await unlessRefused(channel.setTimesAt(at.raw, modifiedAt));
      return infoOf(path, await channel.stat(at.raw));
    });
  }

  move(from: RemotePath, to: RemotePath, { replace }: MoveOptions): Promise<FileInfo> {
    return this.#run(from, 'publish', async (tree) => {
      const { channel } = tree;
      const [{ at: source, answer: attributes }, known] = await Promise.all([
        this.#confinement.askOfEntry(channel, from, ({ raw }) => channel.lstat(raw)),
        tree.lookUpIfThere(to),
      ]);
      const target = known?.at ?? (await tree.entryInNewFolder(to));
      if (from === to) return infoOf(to, attributes);
      const { isFolder, size } = attributes;
      const existing = known?.answer;
      await movePlace(tree, source, target, { isFolder, size, replace, existing, context: this.#context });
      return infoOf(to, attributes.isLink ? await channel.stat(target.raw).catch(() => attributes) : attributes);
    });
  }

  remove(path: RemotePath): Promise<void> {
    return this.#run(path, 'publish', (tree) => {
      this.#context.irrevocable?.();
      return tree.removeFile(path);
    });
  }

  async removeFolder(path: RemotePath): Promise<void> {
    refuseRoot(path);
    await this.#run(path, 'publish', (tree) =>
      tree.removeFolder(path, this.#isOpenSsh, () => this.#context.irrevocable?.()),
    );
  }

  makeFolder(path: RemotePath): Promise<{ readonly created: boolean }> {
    return this.#run(path, 'publish', (tree) => tree.makeFolder(path));
  }

  exec(command: string, options: ExecOptions): Promise<ExecResult> {
    return runCommand(this.#lease, command, options, this.#context.signal);
  }

  get #ending(): EndSignal {
    return this.#context.ending ?? this.#context.signal;
  }

  get #isOpenSsh(): boolean {
    return this.#lease.session.software.startsWith('OpenSSH');
  }

  /** Runs `work` on the lease's channel: the end of the operation ends the wait, and replies become GatewayErrors. */
  async #run<T>(path: RemotePath, step: Step, work: (tree: Tree) => Promise<T>): Promise<T> {
    const ending = this.#ending;
    ending.throwIfAborted();
    const running = this.#lease.channel().then((channel) => work(this.#tree(channel)));
    try {
      return await orAbort(running, ending);
    } catch (error) {
      // A stream that opens after the end of the operation has no owner.
      if (ending.aborted) running.then(disown, () => undefined);
      throw translate(error, path, step);
    }
  }

  #tree(channel: SftpChannel): Tree {
    return new Tree(channel, this.#confinement, this.#memory, this.#context.places, this.#modes, this.#lease);
  }

  #openUpload(path: RemotePath, options: WriteOptions): Promise<SftpUpload> {
    if (path === ROOT) return Promise.reject(isAFolder(path));
    return isWrittenBeside(this.#atomicUploads, options)
      ? this.#openBeside(path, options)
      : this.#openInPlace(path, options);
  }

  /** Opens a file under a hidden name in the target's folder; it is renamed when it is published. */
  #openBeside(path: RemotePath, options: WriteOptions): Promise<SftpUpload> {
    const { leftovers } = this.#context;
    const { path: hidden, noted } = hiddenBeside(path, leftovers);
    return this.#run(path, 'open', async (tree) => {
      const { channel } = tree;
      const [file] = await Promise.all([tree.entryInNewFolder(hidden), noted]);
      this.#ending.throwIfAborted();
      const opening = tree.openForWriting(file, path, OPEN.WRITE | OPEN.CREATE | OPEN.TRUNCATE);
      // Checked now, it avoids sending all the bytes in vain.
      const lookup = options.provisional === true ? undefined : findTarget(channel, tree.beside(file, baseName(path)));
      const [handle, existing] = await Promise.all([opening, lookup]).catch((error: unknown) => {
        // Without a reply, the file may still have been made.
        if (!isRefusal(error)) leftovers.removeLater(hidden);
        throw error;
      });
      const upload = this.#upload(channel, handle, file, path, {
        publish: async (measuring, expected) => {
          const target = expected.path ?? path;
          const { size, exclusive = false } = expected;
          // The folder's real path is asked for together with the file's size.
          const asked = tree.entryIfThere(target);
          asked.catch(() => undefined);
          const attributes = await measuring;
          await readBack(this.#context, expected.check, () => this.read(hidden));
          const to = (await asked) ?? (await tree.entryInNewFolder(target));
          if (options.provisional === true) {
            // Its name was not known before.
            const late = obstacleAt(target, await findTarget(channel, to), expected);
            if (late !== undefined) throw late;
          }
          this.#ending.throwIfAborted();
          await publishUpload(tree, file, to, { exclusive, size, context: this.#context });
          return infoOf(target, attributes);
        },
        takeBack: (stillOpen) => closeAndRemove(channel, stillOpen, file),
        leaveBehind: () => leftovers.removeLater(hidden),
        isHidden: true,
      });
      const obstacle = obstacleAt(path, existing, options);
      if (obstacle === undefined) return upload;
      await upload.takeBack();
      throw obstacle;
    });
  }

  /** For servers that do not allow renaming: the bytes go to the final path at once. */
  #openInPlace(path: RemotePath, options: WriteOptions): Promise<SftpUpload> {
    return this.#run(path, 'open', async (tree) => {
      const { channel } = tree;
      const file = await this.#confinement.writable(channel, await tree.entryInNewFolder(path));
      const flags = OPEN.WRITE | OPEN.CREATE | (options.exclusive === true ? OPEN.EXCLUSIVE : OPEN.TRUNCATE);
      const mode = options.exclusive === true ? this.#modes.file : await this.#modeInPlace(channel, file, path);
      const handle = await tree.openForWriting(file, path, flags).catch(async (error: unknown) => {
        if (options.exclusive !== true || !isRefusal(error)) throw error;
        throw obstacleAt(path, await findEntry(channel, file), options) ?? error;
      });
      return this.#upload(channel, handle, file, path, {
        mode,
        publish: async (measuring, { check }) => {
          const attributes = await measuring;
          await readBack(this.#context, check, () => this.read(path));
          return infoOf(path, attributes);
        },
        takeBack: (stillOpen) => closeAndRemove(channel, stillOpen, file),
        leaveBehind: () => this.#deps.log('half a file could not be removed', { path }),
      });
    });
  }

  /**
   * The rights that a file still has to get once it is written. One that exists gets them first: a server that refuses
   * them, since the file belongs to another user, must not have emptied it.
   */
  async #modeInPlace(channel: SftpChannel, file: ServerPath, path: RemotePath): Promise<number | undefined> {
    const { file: mode } = this.#modes;
    const existing = mode === undefined ? undefined : await findTarget(channel, file);
    if (existing === undefined || existing.isFolder) return mode;
    if (rightsIn(existing.mode ?? 0) === mode) return undefined;
    await setFileMode(channel, { file, path }, mode);
    return mode;
  }

  #upload(
    channel: SftpChannel,
    handle: Buffer,
    file: ServerPath,
    path: RemotePath,
    job: Pick<UploadPlan, 'publish' | 'takeBack' | 'leaveBehind' | 'isHidden' | 'mode'> & { readonly start?: number },
  ): SftpUpload {
    return new SftpUpload({
      channel,
      handle,
      file,
      path,
      start: 0,
      isOrderly: this.#isOpenSsh,
      mode: this.#modes.file,
      memory: this.#memory,
      context: this.#context,
      ...job,
    });
  }

  #writer(upload: SftpUpload, size?: number): SftpWriter {
    const { channel, handle, file, path, start, isHidden = false } = upload.plan;
    const open = (other: SftpChannel): Promise<Buffer> => other.open(file.raw, OPEN.WRITE);
    // Other servers may lock the file for its opener, or store it only when that one closes it. What others can see may
    // be another file by now.
    const isShared = this.#isOpenSsh && isHidden;
    const plan = {
      lanes: this.#lanes(
        { channel, handle },
        isShared ? { direction: 'up', channels: MORE_CHANNELS, open } : undefined,
      ),
      path,
      start,
      size,
      maxRequests: this.#deps.tuning.sftpInFlight,
      memory: this.#memory,
      hold: this.#context.hold?.() ?? UNCOUNTED,
    };
    return new SftpWriter(plan, upload, this.#ending);
  }
}

/** Whether the file that was opened is the one that was found at its path, unchanged. */
function isSameFile(opened: Attributes | undefined, found: Attributes): boolean {
  return opened?.size === found.size && opened?.isFolder === false && isSameTime(opened.modifiedAt, found.modifiedAt);
}

/** Closes what was opened too late to be used. */
function disown(late: unknown): void {
  if (late instanceof SftpUpload) void late.takeBack();
  else if (late instanceof SftpWriter) void late.abort(new GatewayError('client_gone', 'the operation has ended'));
  else if (late instanceof SftpSink) late.destroy(new GatewayError('client_gone', 'the operation has ended'));
  else if (typeof late === 'object' && late !== null && 'body' in late) (late as OpenFile).body?.destroy();
}
