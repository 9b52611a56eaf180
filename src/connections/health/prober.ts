/**
 * Checks every connection that is switched on, one after the other: whether its server answers, how fast, and what it
 * shows about itself. No operation waits for that: a probe takes a free session, or another one below the limit, and is
 * skipped if there is none. It is not an operation: neither the history nor the plan counts it.
 */
import { HOUR_MS } from '../../contract/units.js';
import { withDeadline } from '../../base/deadline.js';
import { GatewayError, toGatewayError } from '../../base/errors.js';
import { retryDelay, spread } from '../../base/retry-schedule.js';
import { WokenWork } from '../../base/woken-work.js';
import type { Connection } from '../connection.js';
import { summaryOf } from '../../contract/connection/schemas.js';
import { eventBody } from '../../contract/event.js';
import { asOfReaching, isOfReaching } from '../../remotes/reach.js';
import { PoolBusy, type Remotes } from '../../remotes/registry.js';
import type { Leftovers } from '../../remotes/leftovers.js';
import type { Mark } from '../../remotes/remote.js';
import type { ProbeResult } from '../../remotes/probe-result.js';
import {
  type Agenda,
  type CheckBefore,
  type CheckFound,
  type ClaimedTask,
  type ConnectionChecks,
  type Connections,
  QueueWorker,
  type SeenServer,
  type ShownByServer,
  type StorageOptions,
} from '../../storage/storage.js';
import type { ConnectionHealth } from './health.js';
import { shownBy, withState } from './server-changes.js';

interface ProberOptions {
  readonly checks: ConnectionChecks;
  readonly agenda: Agenda;
  readonly connections: Pick<Connections, 'find'>;
  readonly remotes: Pick<Remotes, 'use'>;
  readonly leftovers: (connection: Connection) => Leftovers;
  readonly health: Pick<ConnectionHealth, 'failing' | 'downAfterMs'>;
  /** 0 = never. */
  readonly everySeconds: number;
  readonly log: StorageOptions['log'];
  readonly onProbe: (facts: ProbeFacts) => void;
}

/** For the metrics. */
interface ProbeFacts {
  readonly outcome: CheckFound['outcome'];
  readonly seconds: number;
}

const AT_ONCE = 32;
/** A server may take many logins at once for an attack, and lock the gateway out. */
const OF_ONE_HOST = 2;
/** For new sessions and their first answer, regardless of the pools' limits. */
const LONGEST_MS = 30_000;
/** Notices announce new and changed connections. This interval finds those that had no notice. */
const ENROL_EVERY_MS = 30_000;
const ENROL_REST_MS = 5000;
const ENROL_OVER_SECONDS = 10;
/** A refused login is tried less and less often: servers count such tries, and lock accounts and addresses. */
const REFUSED: ReadonlySet<string> = new Set(['login_refused', 'host_key_mismatch']);
const LONGEST_DELAY_MS = HOUR_MS;
/** Connections that were checked together are not checked together again. */
const SPREAD = [0.9, 1] as const;
/** Delay of the second check after a failure, in addition to the time that makes it an outage. */
const AGAIN_MS = 500;

function noteOf(connection: Connection, shows: ShownByServer, seen: readonly SeenServer[], at: Date) {
  const { seen: next, changes } = withState(seen, shows, at);
  const data = { connection: summaryOf(connection), changes: [...changes] };
  return { seen: next, body: changes.length === 0 ? undefined : eventBody('connection.changed', at, data) };
}

interface Outcome {
  readonly outcome: CheckFound['outcome'];
  readonly connectMs?: number | undefined;
  readonly error?: GatewayError;
  /** For the log, if the server is not the cause. */
  readonly why?: string;
  readonly probed?: ProbeResult;
}

export class ConnectionProber {
  readonly #options: ProberOptions;
  readonly #worker: QueueWorker<'connection-check'>;
  readonly #enrolling: WokenWork;
  #isFirst = true;
  #stopListening = (): void => undefined;

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#worker = new QueueWorker({
      claims: options.checks,
      queue: 'connection-check',
      concurrency: AT_ONCE,
      groupConcurrency: OF_ONE_HOST,
      run: async (task, signal) => {
        await this.#probe(task, signal);
        return 'done';
      },
      log: options.log,
    });
    const failed = (error: unknown): void => {
      options.log('debug', 'connections could not be looked up', { reason: toGatewayError(error).message });
      this.#enrolling.wake();
    };
    const pace = { restMs: ENROL_REST_MS, everyMs: ENROL_EVERY_MS };
    this.#enrolling = new WokenWork(() => this.#enrol(), failed, pace);
  }

  start(): void {
    if (this.#options.everySeconds === 0) return;
    this.#stopListening = this.#options.agenda.on('connections', () => this.#enrolling.wake());
    this.#enrolling.wake();
  }

  async stop(): Promise<void> {
    if (this.#options.everySeconds === 0) return;
    this.#stopListening();
    await this.#enrolling.stop();
    await this.#worker.stop(0);
  }

  async #enrol(): Promise<void> {
    const { checks, everySeconds } = this.#options;
    const isFirst = this.#isFirst;
    if (isFirst) {
      // Before any of them is claimed.
      await checks.spread(everySeconds);
      this.#isFirst = false;
      this.#worker.start();
    }
    await checks.enrol(isFirst ? everySeconds : Math.min(everySeconds, ENROL_OVER_SECONDS));
  }

  async #probe({ key, account, data }: ClaimedTask, signal: AbortSignal): Promise<void> {
    const { checks, connections, health, onProbe, log } = this.#options;
    const { failures, failingMs } = data as CheckBefore;
    const startedAt = performance.now();
    const connection = await connections.find(account, key);
    const found: Outcome = connection === undefined ? { outcome: 'unknown' } : await this.#reach(connection, signal);
    const { outcome, error, why, probed, connectMs } = found;
    // A check that was cut by the end of the gateway is left to the next process.
    signal.throwIfAborted();
    const tookMs = performance.now() - startedAt;
    if (connection !== undefined && outcome === 'failed' && error !== undefined && failingMs !== null) {
      health.failing(connection, failingMs + tookMs, error);
    }
    onProbe({ outcome, seconds: tookMs / 1000 });
    log('debug', 'a connection was checked', {
      connectionId: key,
      outcome,
      ms: tookMs,
      reason: error?.message ?? why,
    });
    await checks.found({
      connectionId: key,
      outcome,
      error: error && { code: error.code, text: error.clientText },
      tookMs,
      connectMs: connectMs ?? probed?.connectMs,
      answerMs: probed?.answerMs,
      hostKey: probed?.hostKey,
      certificate: probed?.certificate,
      server:
        connection === undefined || probed === undefined
          ? undefined
          : { shows: shownBy(probed), note: (seen, at) => noteOf(connection, shownBy(probed), seen, at) },
      nextMs: outcome === 'failed' ? this.#pauseAfter(failures, error) : this.#everyMs,
    });
  }

  async #reach(connection: Connection, signal: AbortSignal): Promise<Outcome> {
    const { remotes, leftovers } = this.#options;
    let openingSince: number | undefined;
    let connectMs: number | undefined;
    const mark: Mark = (stage, at) => {
      if (stage === 'connect') openingSince = at;
      // The end of an opening is marked as the beginning of another wait.
      else if (stage === 'queue' && openingSince !== undefined && at !== undefined) connectMs = at - openingSince;
    };
    const late = (): GatewayError => {
      const text = `connection ${connection.id} gave no answer within ${LONGEST_MS / 1000} s`;
      return new GatewayError('connect_timeout', text, { step: 'connect' });
    };
    try {
      const probed = await withDeadline({ signal, ms: LONGEST_MS, late }, (ended) =>
        remotes.use(connection, { signal: ended, leftovers, priority: 'probe', mark }, (remote) =>
          remote.probe().catch((error: unknown) => Promise.reject(asOfReaching(toGatewayError(error)))),
        ),
      );
      return { outcome: 'reached', connectMs, probed };
    } catch (thrown) {
      if (thrown instanceof PoolBusy) return { outcome: 'unknown', why: thrown.message };
      const error = asOfReaching(toGatewayError(thrown));
      if (isOfReaching(error)) return { outcome: 'failed', error };
      return { outcome: error.remote === undefined ? 'unknown' : 'reached', connectMs, why: error.message };
    }
  }

  /** At most one interval, spread for checks that began together. */
  get #everyMs(): number {
    return spread(this.#options.everySeconds * 1000, SPREAD);
  }

  /** `failures`: before this one. */
  #pauseAfter(failures: number, error: GatewayError | undefined): number {
    // The second check confirms an outage, or shows that it was short.
    if (failures === 0) return Math.min(this.#everyMs, this.#options.health.downAfterMs + AGAIN_MS);
    if (error === undefined || !REFUSED.has(error.code)) return this.#everyMs;
    const firstMs = this.#options.everySeconds * 1000;
    const schedule = { firstMs, longestMs: Math.max(firstMs, LONGEST_DELAY_MS), spread: SPREAD };
    return retryDelay(schedule, failures + 1) ?? firstMs;
  }
}
