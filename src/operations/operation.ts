/**
 * The frame around everything that a client asks for: the check whether it may run, one action of the month, a history
 * item, a lease, the outcome, and the item made durable before the answer (for `list` and `exists`: a moment after).
 */
import type { Memory } from '../budgets/memory.js';
import { onAbort } from '../base/deadline.js';
import { Ending, type EndSignal } from '../base/ending.js';
import { GatewayError, toGatewayError } from '../base/errors.js';
import type { Caller } from '../base/caller.js';
import type { Connection } from '../connections/connection.js';
import { requireActive, requireOpen } from '../connections/require.js';
import type { Intent } from '../base/intent.js';
import type { RemotePath } from '../remotes/path.js';
import type { Attempt, Priority, Remotes, UseOptions, Yielding } from '../remotes/registry.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { Mark, Remote } from '../remotes/remote.js';
import { NO_SPAN, type Span } from '../base/span.js';
import { type Direction, isLookup, LOOKUPS, type TransferType } from '../contract/transfer.js';
import type { OpenTransfer, Storage } from '../storage/storage.js';
import { type End, EndPaces } from './end-paces.js';
import { Evidence } from './evidence.js';
import { FileAges } from './file-ages.js';
import { FolderProofs } from './onto-itself.js';
import type { LiveEntry, LiveTransfer, LiveTransfers } from './live.js';
import { type JobPart, recordOf } from './part.js';
import { Stages, type StageTimes } from './stages.js';

export interface OperationRequest {
  readonly caller: Pick<Caller, 'accountId' | 'plan' | 'keyId'>;
  readonly connection: Connection;
  readonly type: TransferType;
  /** As requested; the operation may learn the final one (`locate`). */
  readonly path: string;
  readonly filename: string;
  /** Absent: no request asked for it. */
  readonly requestId?: string;
  /** Aborted when the client has left or the gateway drains. */
  readonly signal: EndSignal;
  /** Counts what its streams hold; absent = bounded elsewhere. */
  readonly memory?: Memory;
  /** The rate of its client; absent: it waits for no client. */
  readonly client?: Pick<Yielding, 'bytesPerSecond'>;
  /** Replaces being ended while others wait for its session and its client is slow: received bytes are kept. */
  readonly giveWay?: Yielding['giveWay'];
  /** The span of the request. */
  readonly span?: Span;
  /** Called with the stages before they run. */
  readonly timedBy?: (stages: Stages) => void;
  /** Present for a request that must not run twice. */
  readonly intent?: Intent | undefined;
  /** Present for the file of a job, or of a route. */
  readonly job?: JobPart | undefined;
  /** Present for a use of a link, or a look at its file. */
  readonly link?: LinkUse | undefined;
  /** Waits after those of clients if sessions are few. */
  readonly priority?: Priority;
  /** Counts no action of the month. */
  readonly isFree?: boolean;
  /** What fails before `Operation.confirm` is not recorded: it may not be wanted, or is tried again. */
  readonly isTentative?: boolean;
  /** What repeats it, should it fail; absent: nothing but a new request does. */
  readonly repeated?: KeptRequest;
  /** Whether the file's digest is wanted; absent = as its connection says. */
  readonly wantsDigest?: boolean | undefined;
}

/** The parts of a request that the history keeps. */
export interface KeptRequest {
  /** Without secrets. */
  readonly fields: object;
  /** Kept sealed: it may hold a secret. */
  readonly url?: URL;
}

/** The link that a request came by. */
export interface LinkUse {
  readonly id: string;
  /**
   * Takes a use, or refuses: nothing is recorded or counted then. From then on it ends with the history item. Absent:
   * looking does not count as a use. The requests of one upload in pieces take the same use.
   */
  readonly take?: (uploadId?: string) => Promise<void>;
  /** A request has ended that was not the last one of its upload. Never rejects. */
  readonly giveBack?: (uploadId: string) => Promise<void>;
  /** The client has sent bytes of an upload in pieces that become no file; the number of these is limited. */
  readonly countBroken?: () => Promise<void>;
}

export interface OperationResult<T> {
  readonly result: T;
  readonly transferId: string;
  readonly durationMs: number;
  /** SHA-256 of the file, if it was wanted and its bytes have passed. */
  readonly digest: Buffer | undefined;
}

/** One running operation. */
export interface Operation {
  readonly transferId: string;
  /**
   * Aborted with the request's signal, or when the owner cancels; never while the remote does something that cannot be
   * undone.
   */
  readonly signal: AbortSignal;
  /** Bytes of the file, for the history; set by the work, and growing while it moves them. */
  fileSize: number;
  /** The final fileSize, once known; for live progress. */
  expectedSize: number | undefined;
  /** Its own span, for requests made on its behalf. */
  readonly span: Span;
  /** The stage that runs from now on; `use` marks the wait for a session and its opening. */
  readonly mark: Mark;
  readonly evidence: Evidence;
  /** How fast its servers move bytes. The work watches them. */
  readonly paces: EndPaces;
  /**
   * Runs work after which the operation can be ended as before: it leaves nothing behind, such as a proof by a hidden
   * file, or a whole copy that a repetition finds.
   */
  stayingEndable<R>(work: () => Promise<R>): Promise<R>;
  /** From here on a failure may leave some of the bytes in the target file. */
  writesInPlace(): void;
  /** A tentative operation is wanted, and begins now. */
  confirm(): void;
  /** The file's final path, once known. */
  locate(path: RemotePath, filename: string): void;
  /** `endsBetween`: each of many changes is done or not, and the end of the operation stops it before the next one. */
  use<R>(
    work: (remote: Remote, attempt: Attempt) => Promise<R>,
    options?: { readonly endsBetween?: boolean },
  ): Promise<R>;
  /** `source` alone, of a move whose target is the operation's own connection. */
  useSource<R>(source: Connection, work: (remote: Remote) => Promise<R>): Promise<R>;
  /** `source` in addition to the operation's own connection, which is the target. */
  useBoth<R>(source: Connection, work: (source: Remote, target: Remote, attempt: Attempt) => Promise<R>): Promise<R>;
}

interface OperationsOptions {
  readonly storage: Pick<Storage, 'history' | 'quota' | 'locks'>;
  readonly remotes: Remotes;
  readonly leftovers: (connection: Connection) => Leftovers;
  readonly live: LiveTransfers;
  readonly plans: Readonly<Record<string, { readonly connections: number; readonly monthlyActions: number }>>;
  readonly onOutcome?: (outcome: OperationOutcome) => void;
}

/** For the log and the metrics. */
export interface OperationOutcome {
  readonly transferId: string;
  readonly requestId: string | undefined;
  readonly type: TransferType;
  readonly protocol: Connection['type'];
  readonly connectionId: string;
  readonly bytes: number;
  readonly durationMs: number;
  readonly direction: Direction;
  readonly error: GatewayError | undefined;
  readonly stages: StageTimes;
  readonly traceId: string | undefined;
}

/** Reading operations bring data in; all others change something outside. */
const INBOUND: ReadonlySet<TransferType> = new Set(['download', 'read', ...LOOKUPS]);

export class Operations {
  readonly #options: OperationsOptions;
  readonly ages = new FileAges();
  readonly folderProofs: FolderProofs;

  constructor(options: OperationsOptions) {
    this.#options = options;

    this.folderProofs = new FolderProofs(options.remotes, options.leftovers);
  }

  get locks(): Storage['locks'] {
    return this.#options.storage.locks;
  }

  get remotes(): Remotes {
    return this.#options.remotes;
  }

  leftoversOf(connection: Connection): Leftovers {
    return this.#options.leftovers(connection);
  }

  /**
   * Runs `work` as one operation. Errors: connection_inactive, quota_exceeded and database_away before anything is
   * begun; outcome_unrecorded for a success that could not be recorded; every error of `work` is recorded in the
   * history as a failure.
   */
  async run<T>(request: OperationRequest, work: (operation: Operation) => Promise<T>): Promise<OperationResult<T>> {
    const running = await this.begin(request);
    try {
      await running.intend();
      const result = await work(running.operation);
      request.job?.worked();
      const { durationMs } = await running.succeed();
      return { result, transferId: running.transferId, durationMs, digest: running.evidence.digest };
    } catch (thrown) {
      throw await running.fail(thrown);
    }
  }

  /** For operations that outlive the call that started them (a streamed download): the caller ends it, exactly once. */
  async begin(request: OperationRequest): Promise<RunningOperation> {
    const { caller, connection, type } = request;
    requireActive(connection);
    requireOpen(connection);
    request.signal.throwIfAborted();
    // An operation that cannot be recorded is not begun.
    await this.#options.storage.history.admit();
    const countsAction = request.isFree !== true && !isLookup(type);
    if (countsAction) await this.#options.storage.quota.take(caller.accountId, this.planOf(caller).monthlyActions);
    const untake = (): void => {
      if (countsAction) this.#options.storage.quota.giveBack(caller.accountId, this.planOf(caller).monthlyActions);
    };
    const record = recordOf(request.job);
    try {
      await request.link?.take?.(record.uploadId);
    } catch (error) {
      untake();
      throw error;
    }
    const direction: Direction = INBOUND.has(type) ? 'inbound' : 'outbound';
    const transfer = this.#options.storage.history.begin({
      accountId: caller.accountId,
      connectionId: connection.id,
      // Empty if neither a key nor a session asks: a job that was begun without a key.
      keyId: caller.keyId === '' ? undefined : caller.keyId,
      requestId: request.requestId,
      type,
      direction,
      filename: request.filename,
      path: request.path,
      countsAction,
      linkId: request.link?.id,
      isTentative: request.isTentative,
      ...keptOf(request.repeated),
      ...record,
    });
    return new RunningOperation(request, direction, transfer, this.#options, untake);
  }

  /** An account whose plan is no longer configured gets the smallest plan. */
  planOf({ plan }: Pick<Caller, 'plan'>): { readonly connections: number; readonly monthlyActions: number } {
    return this.#options.plans[plan] ?? { connections: 1, monthlyActions: 1 };
  }
}

/** Longer requests are not kept: the history has many rows. */
const MAX_KEPT_CHARACTERS = 8_192;

function keptOf(repeated: KeptRequest | undefined): { readonly request?: string; readonly url?: string } {
  if (repeated === undefined) return {};
  const request = JSON.stringify(repeated.fields);
  if (request.length > MAX_KEPT_CHARACTERS) return {};
  return { request, ...(repeated.url === undefined ? {} : { url: repeated.url.href }) };
}

const UNRECORDED_TEXT =
  'the operation was performed, but could not be recorded: the database of the gateway is not reachable or takes no writes; look at the remote before you repeat it';

export class RunningOperation implements Operation, LiveEntry, Yielding {
  readonly #request: OperationRequest;
  readonly #direction: Direction;
  readonly #transfer: OpenTransfer;
  readonly #options: OperationsOptions;
  /** Returns the action of the month. */
  readonly #untake: () => void;
  readonly transferId: string;
  readonly operation: Operation = this;
  readonly span: Span;
  readonly evidence: Evidence;
  fileSize = 0;
  expectedSize: number | undefined;
  readonly paces = new EndPaces();
  readonly #ending = new Ending();
  readonly #stopListening: () => void;
  readonly #leaveLive: () => void;
  #isIrrevocable = false;
  #reasonToEnd: Error | undefined;
  #isInPlace = false;
  #isConfirmed: boolean;
  readonly #stages: Stages;
  #final: { path: string; filename: string } | undefined;
  readonly #startedAt = performance.now();
  #recorded = false;

  constructor(
    request: OperationRequest,
    direction: Direction,
    transfer: OpenTransfer,
    options: OperationsOptions,
    untake: () => void,
  ) {
    this.#request = request;
    this.#direction = direction;
    this.#transfer = transfer;
    this.#options = options;
    this.#untake = untake;

    this.transferId = transfer.id;
    this.#isConfirmed = request.isTentative !== true;
    this.evidence = new Evidence(request.connection, request.wantsDigest === true);
    this.#stopListening = onAbort(request.signal, (reason) => this.end(reason));
    this.span = this.#beginSpan();
    this.#stages = new Stages(this.span.isRecorded);
    request.timedBy?.(this.#stages);
    this.#leaveLive = options.live.add(this);
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  readonly mark: Mark = (stage, at) => this.#stages.mark(stage, at);

  writesInPlace(): void {
    this.#isInPlace = true;
  }

  confirm(): void {
    if (this.#isConfirmed) return;
    this.#isConfirmed = true;
    this.#transfer.confirm();
  }

  async stayingEndable<R>(work: () => Promise<R>): Promise<R> {
    const wasIrrevocable = this.#isIrrevocable;
    try {
      return await work();
    } finally {
      this.#isIrrevocable = wasIrrevocable;
      if (this.#reasonToEnd !== undefined) this.end(this.#reasonToEnd);
    }
  }

  locate(path: RemotePath, filename: string): void {
    this.#final = { path: path.toWellFormed(), filename: filename.toWellFormed() };
    this.#transfer.locate(this.#final.path, this.#final.filename);
  }

  use<R>(
    work: (remote: Remote, attempt: Attempt) => Promise<R>,
    { endsBetween = false }: { readonly endsBetween?: boolean } = {},
  ): Promise<R> {
    const { irrevocable, ...others } = this.#useOptions();
    const options = endsBetween ? others : { ...others, irrevocable };
    return this.#options.remotes.use(this.#request.connection, options, (remote, attempt) =>
      this.evidence.witness(remote, undefined, () => work(remote, attempt)),
    );
  }

  useSource<R>(source: Connection, work: (remote: Remote) => Promise<R>): Promise<R> {
    // The known folders are those of the target.
    return this.#options.remotes.use(source, { ...this.#useOptions(), places: undefined }, work);
  }

  useBoth<R>(source: Connection, work: (source: Remote, target: Remote, attempt: Attempt) => Promise<R>): Promise<R> {
    this.evidence.reads(source);
    const waitingFor = (end: End): Yielding => ({
      bytesPerSecond: (overMs) => this.paces.bytesPerSecond(end, overMs),
      giveWay: (error) => this.giveWay(error),
    });
    const yielding = { yielding: waitingFor('source'), sourceYielding: waitingFor('target') };
    const options = { ...this.#useOptions(), ...yielding };
    return this.#options.remotes.useBoth(source, this.#request.connection, options, (from, to, attempt) =>
      this.evidence.witness(to, from, () => work(from, to, attempt)),
    );
  }

  #useOptions(): UseOptions & Required<Pick<UseOptions, 'irrevocable'>> {
    return {
      signal: this.#ending,
      leftovers: this.#options.leftovers,
      mark: this.mark,
      irrevocable: () => {
        this.#ending.throwIfAborted();
        this.#isIrrevocable = true;
      },
      unverified: (why) => this.evidence.unverified(why),
      memory: this.#request.memory,
      priority: this.#request.priority ?? 'request',
      places: this.#request.job?.places,
      yielding: this,
      linkId: this.#request.link?.id,
    };
  }

  /** For a request that must not run twice: resolves when it is recorded in the history and in the intent. */
  async intend(): Promise<void> {
    const { intent } = this.#request;
    if (intent === undefined) return;
    await this.#transfer.recordPending();
    await intent.begin(this.#transfer.id);
  }

  /** Resolves when the success is durable; rejects with outcome_unrecorded if it could not be recorded. */
  async succeed(): Promise<{ readonly durationMs: number }> {
    try {
      return await this.#record(undefined);
    } catch (error) {
      // It is done, but its client gets a failure: a repetition must not run again.
      this.#request.intent?.lose();
      throw new GatewayError('outcome_unrecorded', UNRECORDED_TEXT, { step: 'history', cause: error });
    }
  }

  /** Records the failure and resolves with the error for the answer: always the first one, as a GatewayError. */
  async fail(thrown: unknown): Promise<GatewayError> {
    const error = this.#ownError(thrown);
    if (!this.#recorded && (!this.#isConfirmed || this.#request.job?.passesOver(error) === true)) {
      await this.drop(error);
      return error;
    }
    // The answer to the one request that counts is lost, or some bytes may be in the target file.
    if ((this.#isIrrevocable && !error.keepsSession) || this.#isInPlace) this.#request.intent?.lose();
    // A failure of the history must not hide the original error; the storage tries again, and logs it.
    await this.#record(error).catch(() => undefined);
    return error;
  }

  /** The slowest of the ends that its bytes come from, or go to. */
  bytesPerSecond(overMs: number): number | undefined {
    const rates = [this.#request.client?.bytesPerSecond(overMs), this.paces.bytesPerSecond('source', overMs)].flatMap(
      (rate) => rate ?? [],
    );
    return rates.length === 0 ? undefined : Math.min(...rates);
  }

  giveWay(error: GatewayError): void {
    if (this.#request.giveWay === undefined) this.end(error);
    else this.#request.giveWay(error);
  }

  end(reason: Error): void {
    this.#reasonToEnd ??= reason;
    if (!this.#isIrrevocable) this.#ending.abort(reason);
  }

  snapshot(): LiveTransfer {
    const request = this.#request;
    return {
      id: this.transferId,
      accountId: request.caller.accountId,
      connectionId: request.connection.id,
      type: request.type,
      direction: this.#direction,
      startedAt: this.#transfer.startedAt,
      filename: this.#final?.filename ?? request.filename,
      path: this.#final?.path ?? request.path,
      job: recordOf(request.job).job,
      linkId: request.link?.id,
      bytes: this.fileSize,
      totalBytes: this.expectedSize,
      step: this.#stages.current ?? 'queue',
    };
  }

  #ownError(thrown: unknown): GatewayError {
    const ending = this.#ending;
    // An abort appears as some error of the stream; the signal has the cause.
    if (ending.aborted && !(thrown instanceof GatewayError)) return toGatewayError(ending.reason);
    return toGatewayError(thrown);
  }

  async #record(error: GatewayError | undefined): Promise<{ readonly durationMs: number }> {
    const request = this.#request;
    if (this.#recorded) return { durationMs: 0 };
    this.#recorded = true;
    this.#stages.mark('record');
    try {
      return await this.#transfer.finish({
        status: error === undefined ? 'success' : 'failed',
        fileSize: this.fileSize,
        errorMessage: error?.clientText ?? null,
        errorCode: error?.code ?? null,
        digest: (error === undefined && this.evidence.digest) || null,
        noDigest: (error === undefined && this.evidence.gap) || null,
        digestReadBytes: error === undefined ? (this.evidence.readBytes ?? null) : null,
        unverified: (error === undefined && this.evidence.whyUnverified) || null,
        stages: this.#stages.byName,
        receipt: error === undefined ? this.evidence.receiptOf(request.type, this.#options.remotes) : undefined,
        ...this.#final,
      });
    } finally {
      this.#close(error);
      this.#options.onOutcome?.({
        transferId: this.#transfer.id,
        requestId: request.requestId,
        type: request.type,
        protocol: request.connection.type,
        connectionId: request.connection.id,
        bytes: this.fileSize,
        durationMs: performance.now() - this.#startedAt,
        direction: this.#direction,
        error,
        stages: this.#stages,
        traceId: this.span.traceId,
      });
    }
  }

  /** For a part that is not the last one: ends it without a trace in the history. */
  async drop(error?: GatewayError): Promise<void> {
    this.#recorded = true;
    this.#transfer.drop();
    this.#untake();
    this.#close(error);
    const { link, job } = this.#request;
    const { uploadId } = recordOf(job);
    if (uploadId !== undefined) await link?.giveBack?.(uploadId);
  }

  #close(error: GatewayError | undefined): void {
    this.#leaveLive();
    this.#stopListening();
    this.#stages.end();
    this.#endSpan(error);
  }

  #beginSpan(): Span {
    const { connection, type, span = NO_SPAN } = this.#request;
    const { type: protocol } = connection;
    if (!span.isRecorded) return span;
    const [, address, port] = /^(.*):(\d+)$/.exec(this.#options.remotes.host(connection)) ?? [];
    return span.child(`${type} ${protocol}`, {
      kind: 'client',
      at: this.#startedAt,
      attributes: {
        'server.address': address,
        'server.port': port === undefined ? undefined : Number(port),
        'network.protocol.name': protocol,
        'ftg.operation.type': type,
        'ftg.connection.id': connection.id,
        'ftg.transfer.id': this.#transfer.id,
      },
    });
  }

  /** Its children are made now, from the recorded stages: while it ran they cost nothing. */
  #endSpan(error: GatewayError | undefined): void {
    const { span } = this;
    const stages = this.#stages;
    if (!span.isRecorded) return;
    for (const { stage, from, to } of stages.stretches) span.child(stage, { at: from }).end({ at: to });
    span.end({ error: error?.code, attributes: { 'file.size': this.fileSize, 'ftg.error.step': error?.step } });
  }
}
