/**
 * Tracks which connections are down, from operations and checks (prober.ts): reported once a server was
 * unreachable for a while, and again when it is reached.
 */
import { eventBody } from '../../contract/event.js';
import { toGatewayError, type GatewayError } from '../../base/errors.js';
import type { Connection } from '../connection.js';
import { summaryOf } from '../../contract/connection/schemas.js';
import type { Reach } from '../../remotes/reach.js';
import type { ConnectionOutages, StorageOptions } from '../../storage/storage.js';

/** A server that restarts, or a short interruption, is not an outage. */
const DOWN_AFTER_MS = 10_000;
/** How often the findings of other nodes are read, while connections are used. */
const FRESH_MS = 5000;
/** Connections that fail now, and are not known to be down. */
const MOST_SUSPECTS = 10_000;

interface Suspect {
  readonly since: number;
  failures: number;
}

interface ConnectionHealthOptions {
  readonly outages: ConnectionOutages;
  readonly log: StorageOptions['log'];
  /** Absent = ten seconds. */
  readonly downAfterMs?: number;
}

export class ConnectionHealth implements Reach {
  readonly #options: ConnectionHealthOptions;
  readonly #suspects = new Map<string, Suspect>();
  /** Found to be down by any node. */
  #down: ReadonlySet<string> = new Set();
  /** Reports under way, by connection. */
  readonly #reporting = new Map<string, Promise<void>>();
  #refreshedAt = -Infinity;
  #refreshing: Promise<void> | undefined;
  /** Connections that were reached while the set of those that are down is being read. */
  readonly #reached = new Map<string, Connection>();

  constructor(options: ConnectionHealthOptions) {
    this.#options = options;
  }

  start(): void {
    this.#refresh();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#refreshing, ...this.#reporting.values()]);
  }

  reached(connection: Connection): void {
    const { id } = connection;
    this.#keepFresh();
    if (this.#refreshing !== undefined) this.#reached.set(id, connection);
    if (this.#suspects.size === 0 && this.#down.size === 0) return;
    this.#suspects.delete(id);
    if (this.#down.has(id)) this.#report(connection, () => this.#end(connection));
  }

  failed(connection: Connection, error: GatewayError): void {
    const { id } = connection;
    this.#keepFresh();
    if (this.#down.has(id)) return;
    const now = performance.now();
    const suspect = this.#suspects.get(id) ?? { since: now, failures: 0 };
    suspect.failures += 1;
    if (this.#suspects.size < MOST_SUSPECTS) this.#suspects.set(id, suspect);
    const elapsedMs = now - suspect.since;
    if (suspect.failures < 2 || elapsedMs < this.downAfterMs) return;
    this.#report(connection, () => this.#begin(connection, elapsedMs, error));
  }

  /** The server was unreachable for this long, here or elsewhere. */
  failing(connection: Connection, elapsedMs: number, error: GatewayError): void {
    if (elapsedMs < this.downAfterMs || this.#down.has(connection.id)) return;
    this.#report(connection, () => this.#begin(connection, elapsedMs, error));
  }

  get downAfterMs(): number {
    return this.#options.downAfterMs ?? DOWN_AFTER_MS;
  }

  /** One at a time; a failed report is repeated by the next operation with the same finding. */
  #report({ id }: Connection, act: () => Promise<void>): void {
    if (this.#reporting.has(id)) return;
    const reporting = act()
      .catch((error: unknown) => {
        const { message: reason } = toGatewayError(error);
        this.#options.log('debug', 'the state of a connection could not be noted', { connectionId: id, reason });
      })
      .finally(() => this.#reporting.delete(id));
    this.#reporting.set(id, reporting);
  }

  async #begin(connection: Connection, elapsedMs: number, error: GatewayError): Promise<void> {
    const { outages, log } = this.#options;
    const { code: errorCode, clientText } = error;
    const found = { code: errorCode, text: clientText };
    const isNews = await outages.begin(connection, elapsedMs, found, (since, at) =>
      eventBody('connection.down', at, { connection: summaryOf(connection), since, error: clientText, errorCode }),
    );
    this.#down = new Set([...this.#down, connection.id]);
    this.#suspects.delete(connection.id);
    if (isNews) log('warn', 'a connection is down', { connectionId: connection.id, reason: clientText });
  }

  async #end(connection: Connection): Promise<void> {
    const { outages, log } = this.#options;
    const isNews = await outages.end(connection, (since, at) => {
      const downSeconds = Math.max(0, Math.round((at.getTime() - since.getTime()) / 1000));
      return eventBody('connection.up', at, { connection: summaryOf(connection), since, downSeconds });
    });
    this.#down = new Set([...this.#down].filter((id) => id !== connection.id));
    if (isNews) log('info', 'a connection is up again', { connectionId: connection.id });
  }

  #keepFresh(): void {
    if (performance.now() - this.#refreshedAt >= FRESH_MS) this.#refresh();
  }

  #refresh(): void {
    this.#refreshedAt = performance.now();
    this.#refreshing ??= this.#options.outages
      .list()
      .then((down) => {
        // A connection that other nodes found to be up is no longer a suspect here.
        for (const id of this.#down) if (!down.has(id)) this.#suspects.delete(id);
        this.#down = down;
        for (const [id, connection] of this.#reached)
          if (down.has(id)) this.#report(connection, () => this.#end(connection));
      })
      .catch(() => undefined)
      .finally(() => {
        this.#refreshing = undefined;
        this.#reached.clear();
      });
  }
}
