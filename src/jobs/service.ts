/**
 * Everything that the API asks about jobs. Each function takes the account and answers unknown_item for another
 * account's jobs.
 */
import { type Caller, connectionsFor, apiKeyIdOf, mayUse } from '../base/caller.js';
import { SCOPES } from '../contract/scopes.js';
import { type GatewayError, hasCode, refusal, unknown } from '../base/errors.js';
import { isUuid, uuidv7 } from '../base/uuid.js';
import { abortSignalOf, type EndSignal } from '../base/ending.js';
import type { Connection } from '../connections/connection.js';
import { requireCommonHours } from '../connections/require.js';
import {
  isFiltered,
  type JobDefinition,
  type JobFileState,
  type JobPlace,
  type JobSource,
  type OrderDefinition,
  type UrlUpload,
} from '../contract/job.js';
import { seeOneTree } from '../operations/copy.js';
import { type ClientPlace, knownPath } from '../operations/known-path.js';
import type { Intent } from '../base/intent.js';
import type { Operations } from '../operations/operation.js';
import { rawNamesOf, ROOT, type RemotePath } from '../remotes/path.js';
import type { Job, JobFileItem, JobHolder, NewJobRow } from '../storage/storage.js';
import type { JobEnding, JobFilter, Jobs } from '../storage/storage.js';
import { createFileFilter } from './file-filter.js';
import type { RowBudget } from './row-budget.js';
import type { RunningJobs } from './running-jobs.js';
import { hasEnded, type JobChange } from '../contract/job-states.js';

export interface JobServiceOptions {
  readonly rows: Jobs;
  readonly operations: Operations;
  readonly running: RunningJobs;
  readonly limits: JobEnding;
  readonly budget: Pick<RowBudget, 'makeRoom'>;
  /** Errors: bad_request, address_denied */
  readonly checkTarget: (webhookUrl: string, owner: string, signal: AbortSignal) => Promise<URL>;
}

/** The work, with its connections found and allowed. */
export interface JobOrder extends Omit<OrderDefinition, 'source' | 'destination' | 'upload'> {
  readonly name: string | null;
  readonly source: ClientPlace;
  readonly destination: Omit<ClientPlace, 'rawName'> | undefined;
}

/** A file that is fetched from a url. */
interface UploadOrder {
  readonly definition: Omit<JobDefinition, 'type' | 'source' | 'destination' | 'upload'>;
  readonly destination: NonNullable<JobOrder['destination']>;
  readonly url: URL;
  readonly upload: UrlUpload;
}

/** The request that asks. */
interface Asking {
  readonly signal: EndSignal;
  readonly intent?: Intent | undefined;
}

/** The fields of a job that its rights depend on. */
interface JobEnds extends Pick<JobDefinition, 'type'> {
  readonly source: Pick<JobPlace, 'connectionId'>;
  readonly destination: Pick<JobPlace, 'connectionId'> | null;
}

/** A cancellation that takes longer to be stored already ends the work. */
const CANCEL_PATIENCE_MS = 300;

export class JobService {
  readonly #options: JobServiceOptions;

  constructor(options: JobServiceOptions) {
    this.#options = options;
  }

  /** Errors: bad_request, bad_path, connection_inactive, plan_required, scope_missing, share_exceeded. */
  async create(caller: Caller, order: JobOrder, asking: Asking): Promise<Job> {
    const definition = await this.define(caller, order, asking.signal);
    return this.#begin(caller, { name: order.name, definition }, asking);
  }

  /** Errors: bad_path, connection_inactive, share_exceeded. */
  async upload(caller: Caller, { definition, destination, url, upload }: UploadOrder, asking: Asking): Promise<Job> {
    const { connection } = destination;
    const place = {
      connectionId: connection.id,
      path: await knownPath(this.#options.operations, destination, 'path', asking.signal),
    };
    const all = { ...definition, type: 'upload', source: place, destination: place, upload } as const;
    return this.#begin(caller, { name: null, definition: all, url: url.href }, asking);
  }

  async #begin(caller: Caller, row: Pick<NewJobRow, 'name' | 'definition' | 'url'>, { intent }: Asking): Promise<Job> {
    const { rows, limits } = this.#options;
    const id = uuidv7();
    await this.#options.budget.makeRoom(caller.accountId);
    await intent?.begin(id);
    const { accountId } = caller;
    return rows
      .create({ ...row, id, accountId, keyId: apiKeyIdOf(caller), scheduleId: null }, limits)
      .catch((error: unknown) => {
        // It may have been created nevertheless.
        if (hasCode(error, 'database_away')) intent?.lose();
        throw error;
      });
  }

  /** The work, after its checks. Errors: those of `create` except the last */
  async define(caller: Caller, order: JobOrder, signal: EndSignal): Promise<OrderDefinition> {
    const { name: _, source, destination, ...rest } = order;
    createFileFilter(order, Date.now());
    this.checkRights(caller, {
      type: order.type,
      source: { connectionId: source.connection.id },
      destination: destination === undefined ? null : { connectionId: destination.connection.id },
    });
    await this.#checkReceiver(caller, order.webhookUrl, signal);
    const from = {
      connection: source.connection,
      path: await knownPath(this.#options.operations, source, 'source.path', signal, 'source.rawName'),
    };
    const to = destination && {
      connection: destination.connection,
      path: await knownPath(this.#options.operations, destination, 'destination.path', signal),
    };
    this.#checkPlaces(order, from, to);
    return {
      ...rest,
      source: storedSource(from.connection.id, from.path),
      destination: to === undefined ? null : { connectionId: to.connection.id, path: to.path },
    };
  }

  list(caller: Caller, filter: Omit<JobFilter, 'connections'>): Promise<readonly Job[]> {
    return this.#options.rows.list(caller.accountId, { ...filter, connections: connectionsFor(caller) });
  }

  /** @throws GatewayError unknown_item */
  async get(caller: Caller, id: string): Promise<Job> {
    const job = isUuid(id) ? await this.#options.rows.find(caller.accountId, id) : undefined;
    if (job !== undefined && mayUse(caller, connectionsOf(job.definition))) return job;
    throw unknown('job', id);
  }

  async files(
    caller: Caller,
    id: string,
    page: { readonly state?: JobFileState | undefined; readonly after: number; readonly limit: number },
  ): Promise<readonly JobFileItem[]> {
    const job = await this.get(caller, id);
    return this.#options.rows.files(job.id, page);
  }

  /**
   * A change that is done already is repeated without harm. @throws GatewayError unknown_item; not_running for one that
   * has ended
   */
  async change(caller: Caller, id: string, change: JobChange): Promise<Job> {
    const { rows, limits, running } = this.#options;
    const former = await this.get(caller, id);
    const changing = rows[change](caller.accountId, id, limits);
    const before = await (change === 'cancel' ? this.#stopMeanwhile(former, changing) : changing);
    if (before !== undefined && hasEnded(before) && !(change === 'cancel' && before.state === 'cancelled')) {
      throw refusal('not_running', `job ${id} has ended: it is ${before.state}`);
    }
    const job = await this.get(caller, id);
    running.noteChange(id, job);
    return job;
  }

  /** A slow database does not keep the work running during a cancellation: if that fails, the work is continued. */
  async #stopMeanwhile<T>({ id, state }: Job, cancelling: Promise<T>): Promise<T> {
    if (hasEnded({ state })) return cancelling;
    let isOver = (): void => undefined;
    const timer = setTimeout(() => (isOver = this.#options.running.ending(id)), CANCEL_PATIENCE_MS);
    try {
      return await cancelling;
    } finally {
      clearTimeout(timer);
      isOver();
    }
  }

  /**
   * Starts a job for the failed and remaining files, like a new request of the caller. @throws GatewayError
   * unknown_item; plan_required, scope_missing; in_use for one that is still running
   */
  async retry(caller: Caller, id: string): Promise<Job> {
    const { rows, limits } = this.#options;
    const former = await this.get(caller, id);
    if (!hasEnded(former)) throw refusal('in_use', `job ${id} has not ended: it is ${former.state}`);
    this.checkRights(caller, { ...former.definition, type: former.type });
    if (former.state === 'succeeded' || former.definition.dryRun) {
      throw refusal('not_running', `job ${id} has nothing to do again: it is ${former.state}`);
    }
    await this.#options.budget.makeRoom(caller.accountId);
    // Files that had begun when it was cancelled may be done by now, and are then not done again.
    await this.#options.running.hasLeft(id);
    return rows.createRetry(former, apiKeyIdOf(caller), limits);
  }

  async #checkReceiver({ accountId }: Caller, webhookUrl: string | null, signal: EndSignal): Promise<void> {
    if (webhookUrl === null) return;
    const { username, password } = await this.#options.checkTarget(webhookUrl, accountId, abortSignalOf(signal));
    if (username === '' && password === '') return;
    throw refusal('bad_request', 'webhookUrl must hold no login: what is sent there is signed');
  }

  /**
   * Checks the job's holder as if it asked now; `advice` is used if there is none. @throws GatewayError
   * unauthenticated, plan_required, scope_missing
   */
  checkHolder({ keyId, scopes, connections, ...account }: JobHolder, ends: JobEnds, advice: string): void {
    if (keyId !== null && scopes === null) {
      throw refusal('unauthenticated', `the API key that made it was revoked or has expired: ${advice}`);
    }
    const rights = { scopes: scopes ?? SCOPES, connections: connections ?? [] };
    if (!rights.scopes.includes('write')) throw lost('the scope "write"');
    if (!mayUse(rights, connectionsOf(ends))) throw lost(`the connections ${connectionsOf(ends).join(' and ')}`);
    this.checkRights({ ...account, keyId: keyId ?? account.accountId, ...rights }, ends);
  }

  /** @throws GatewayError plan_required, scope_missing */
  checkRights(caller: Caller, { type, source, destination }: JobEnds): void {
    if (destination === null || type === 'upload') return;
    const isRename = type === 'move' && source.connectionId === destination.connectionId;
    if (isRename) return;
    if (this.#options.operations.planOf(caller).connections === 1) {
      throw refusal(
        'plan_required',
        `a job between connections needs a plan with more than one; this account has ${caller.plan}`,
      );
    }
    if (!caller.scopes.includes('read')) {
      throw refusal('scope_missing', 'this API key lacks the scope "read", which the source of a job needs');
    }
  }

  #checkPlaces(
    order: JobOrder,
    from: { readonly connection: Connection; readonly path: RemotePath },
    to: { readonly connection: Connection; readonly path: RemotePath } | undefined,
  ): void {
    const { type } = order;
    if (to === undefined) {
      if (from.path !== ROOT || isFiltered(order)) return;
      throw refusal('bad_path', 'source.path must not be /: name a folder, or say by include or exclude what is to go');
    }
    requireCommonHours(from.connection, to.connection);
    if (!seeOneTree(from.connection, to.connection)) return;
    const { remotes } = this.#options.operations;
    const [source, target] = [from, to].map(({ connection, path }) =>
      remotes.placeInTree(connection, path).replace(/\/$/, ''),
    );
    if (source === target) throw refusal('bad_request', 'source and destination are the same folder');
    if (target?.startsWith(`${source}/`) === true) {
      throw refusal('bad_request', 'destination lies inside source: the tree would grow while it is copied');
    }
    if (type !== 'copy' && source?.startsWith(`${target}/`) === true) {
      throw refusal('bad_request', `source lies inside destination, which a ${type} must not change`);
    }
  }
}

function storedSource(connectionId: string, path: RemotePath): JobSource {
  const rawName = rawNamesOf(path);
  return { connectionId, path: path.toWellFormed(), ...(rawName === undefined ? {} : { rawName }) };
}

/** The connections that a job reads and writes. */
export function connectionsOf({ source, destination }: JobEnds): readonly string[] {
  return [...new Set([source, ...(destination === null ? [] : [destination])].map(({ connectionId }) => connectionId))];
}

function lost(what: string): GatewayError {
  return refusal('scope_missing', `the API key that made it has lost ${what}`);
}
