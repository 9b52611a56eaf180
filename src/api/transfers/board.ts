/**
 * The running transfers of all nodes. Once a second each node publishes the progress of its own through the database
 * and reads which ones to cancel; watchers get the changes.
 */
import type { Readable } from 'node:stream';
import { Periodic } from '../../base/periodic.js';
import type { EventHub, EventStream } from '../../http/event-hub.js';
import type { LiveTransfer, LiveTransfers } from '../../operations/live.js';
import type { ManagedTransfer } from '../../contract/transfer.js';
import type { Management, RunningRow } from '../../storage/storage.js';

interface TransferBoardOptions {
  readonly live: LiveTransfers;
  readonly storage: Pick<Management, 'running' | 'transfers'>;
  readonly hub: EventHub;
  readonly log: (level: 'debug', message: string, facts?: Record<string, unknown>) => void;
}

const TICK_MS = 1000;
/** Shorter ones end before a watcher could see them. */
const PUBLISH_AFTER_MS = 1000;
/** An ended transfer may take this long to appear in the history. */
const ENDED_PATIENCE_TICKS = 10;
/** Weight of the last second in the displayed speed. */
const SMOOTHING = 0.4;

/** A running transfer in the form of the API. */
type RunningTransfer = Omit<ManagedTransfer, 'createdAt'> & {
  readonly repeatable: false;
  readonly createdAt: string;
  readonly live: Pick<RunningRow, 'bytes' | 'totalBytes' | 'bytesPerSecond' | 'step'> & { readonly startedAt: string };
};

interface Speed {
  bytes: number;
  perSecond: number;
}

export class TransferBoard {
  readonly #options: TransferBoardOptions;
  readonly #watchers = new Set<Watcher>();
  readonly #speeds = new Map<string, Speed>();
  readonly #ticking = new Periodic(() => this.#tick(), TICK_MS);
  #isStopped = false;
  #hasPublished = false;

  constructor(options: TransferBoardOptions) {
    this.#options = options;
  }

  start(): void {
    this.#options.live.onBusy(() => this.#keepTicking());
  }

  /** Ticks as long as there is something to publish or to show. */
  #keepTicking(): void {
    if (!this.#isStopped) this.#ticking.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ticking.stop();
    if (this.#hasPublished) await this.#options.storage.running.publish([]).catch(() => undefined);
  }

  /** In the order in which they began, on all nodes. */
  async list(accountId: string): Promise<readonly RunningTransfer[]> {
    const elsewhere = await this.#options.storage.running.elsewhere([accountId]);
    return this.#viewsOf(accountId, elsewhere);
  }

  /** Whether a node runs it. */
  async cancel(accountId: string, id: string): Promise<boolean> {
    return this.#options.live.cancel(accountId, id) || (await this.#options.storage.running.askCancel(accountId, id));
  }

  /**
   * A body of server-sent events. `stillOpens` is asked before anything is shown; false ends it.
   * With `isBatched`, all transfers that have ended in a tick are one event.
   * @throws GatewayError rate_limited
   */
  watch(accountId: string, stillOpens: () => Promise<boolean>, isBatched = false): Readable {
    const stream = this.#options.hub.open('transfers', accountId, stillOpens);
    const watcher = new Watcher(accountId, stream, isBatched);
    this.#watchers.add(watcher);
    stream.once('close', () => this.#watchers.delete(watcher));
    this.#keepTicking();
    void this.#show([watcher]).catch(() => undefined);
    return stream;
  }

  async #tick(): Promise<void> {
    try {
      const local = this.#options.live.list();
      this.#measure(local);
      await this.#publish(local);
      if (this.#watchers.size === 0) {
        if (local.length > 0 || this.#hasPublished) return;
        void this.#ticking.stop();
        // A transfer that has begun meanwhile.
        if (this.#options.live.list().length > 0) this.#keepTicking();
        return;
      }
      await Promise.all([...this.#watchers].map(({ stream }) => stream.goesOn()));
      await this.#show([...this.#watchers]);
    } catch (error) {
      // Without the database nothing is shown for a while; the transfers themselves continue.
      this.#options.log('debug', 'the progress of transfers was not published', { reason: String(error) });
    }
  }

  #measure(local: readonly LiveTransfer[]): void {
    const ids = new Set(local.map(({ id }) => id));
    for (const id of this.#speeds.keys()) if (!ids.has(id)) this.#speeds.delete(id);
    for (const { id, bytes } of local) {
      const speed = this.#speeds.get(id);
      if (speed === undefined) {
        this.#speeds.set(id, { bytes, perSecond: bytes });
        continue;
      }
      const now = ((bytes - speed.bytes) * 1000) / TICK_MS;
      speed.perSecond = Math.max(0, Math.round(speed.perSecond * (1 - SMOOTHING) + now * SMOOTHING));
      speed.bytes = bytes;
    }
  }

  async #publish(local: readonly LiveTransfer[]): Promise<void> {
    const before = Date.now() - PUBLISH_AFTER_MS;
    const rows = local.filter(({ startedAt }) => startedAt.getTime() <= before).map((one) => this.#rowOf(one));
    if (rows.length === 0 && !this.#hasPublished) return;
    this.#hasPublished = rows.length > 0;
    const wanted = new Set(await this.#options.storage.running.publish(rows));
    for (const { id, accountId } of rows) if (wanted.has(id)) this.#options.live.cancel(accountId, id);
  }

  async #show(watchers: readonly Watcher[]): Promise<void> {
    const accountIds = [...new Set(watchers.map(({ accountId }) => accountId))];
    const elsewhere = await this.#options.storage.running.elsewhere(accountIds);
    for (const accountId of accountIds) {
      const views = this.#viewsOf(accountId, elsewhere);
      const watching = watchers.filter((watcher) => watcher.accountId === accountId);
      const gone = new Set(watching.flatMap((watcher) => watcher.update(views)));
      if (gone.size === 0) continue;
      const ended = await this.#options.storage.transfers.ended(accountId, [...gone]);
      for (const watcher of watching) watcher.sendEnded(ended);
    }
  }

  #viewsOf(accountId: string, elsewhere: readonly RunningRow[]): readonly RunningTransfer[] {
    const local = this.#options.live.list().map((one) => this.#rowOf(one));
    return [...local, ...elsewhere]
      .filter((row) => row.accountId === accountId)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map(viewOf);
  }

  #rowOf(live: LiveTransfer): RunningRow {
    const { id, accountId, bytes, totalBytes, step, startedAt, job = null, linkId, ...facts } = live;
    return {
      id,
      accountId,
      bytes,
      totalBytes: totalBytes ?? null,
      bytesPerSecond: this.#speeds.get(id)?.perSecond ?? 0,
      step,
      job,
      facts: { ...facts, ...(linkId === undefined ? {} : { linkId }), startedAt: startedAt.toISOString() },
    };
  }
}

function viewOf({ id, bytes, totalBytes, bytesPerSecond, step, job, facts }: RunningRow): RunningTransfer {
  const { startedAt, linkId = null, ...rest } = facts as RunningFacts;
  return {
    id,
    ...rest,
    linkId,
    fileSize: bytes,
    status: 'pending',
    jobId: job?.id ?? null,
    repeatable: false,
    errorMessage: null,
    errorCode: null,
    durationMs: Math.max(0, Date.now() - Date.parse(startedAt)),
    createdAt: startedAt,
    live: { bytes, totalBytes, bytesPerSecond, step, startedAt },
  };
}

/** Facts of a transfer, except its progress: `rowOf` writes them, on any node. */
type RunningFacts = Pick<RunningTransfer, 'connectionId' | 'type' | 'direction' | 'filename' | 'path'> & {
  readonly linkId?: string;
  readonly startedAt: string;
};

/** One stream. It sends only differences from what it has sent before. */
class Watcher {
  readonly #isBatched: boolean;
  #last = '';
  #shown = new Set<string>();
  /** Transfers that were shown and have ended, with the ticks that writing their end may still take. */
  readonly #gone = new Map<string, number>();

  constructor(
    readonly accountId: string,
    readonly stream: EventStream,
    isBatched: boolean,
  ) {
    this.#isBatched = isBatched;
  }

  /** Resolves to the ids whose end must be sent. */
  update(views: readonly RunningTransfer[]): readonly string[] {
    // A change of only the time is not sent.
    const key = JSON.stringify(views, (name, value: unknown) => (name === 'durationMs' ? 0 : value));
    if (key !== this.#last) this.stream.send('transfers', { transfers: views });
    this.#last = key;
    const ids = new Set(views.map(({ id }) => id));
    for (const id of this.#shown) if (!ids.has(id)) this.#gone.set(id, ENDED_PATIENCE_TICKS);
    this.#shown = ids;
    for (const [id, left] of this.#gone) {
      if (left === 0) this.#gone.delete(id);
      else this.#gone.set(id, left - 1);
    }
    return [...this.#gone.keys()];
  }

  sendEnded(transfers: readonly ManagedTransfer[]): void {
    const own = transfers.filter(({ id }) => this.#gone.delete(id));
    if (!this.#isBatched) for (const transfer of own) this.stream.send('finished', transfer);
    else if (own.length > 0) this.stream.send('ended', { transfers: own });
  }
}
