/** The services of the endpoints, and the first steps that several share. */
import type { AlarmService } from '../alarms/service.js';
import { requireUse } from '../base/caller.js';
import { type GatewayError, refusal, unknown } from '../base/errors.js';
import { isUuid } from '../base/uuid.js';
import type { Budgets } from '../budgets/budgets.js';
import { wantsReprDigest } from '../http/repr-digest.js';
import type { Caller, RequestContext } from '../http/types.js';
import type { Connection } from '../connections/connection.js';
import { requireConnection } from '../connections/require.js';
import type { GuessGuard } from '../http/guess-guard.js';
import type { Limiters } from '../http/rate-limits.js';
import type { Remotes } from '../remotes/registry.js';
import type { Actor, MadeKeyPair, ManagedConnection, Storage } from '../storage/storage.js';
import type { TransferType } from '../contract/transfer.js';
import type { UrlFetcher } from '../operations/fetch-url.js';
import type { OperationRequest, Operations } from '../operations/operation.js';
import type { EventHub } from '../http/event-hub.js';
import type { JobEvents } from './jobs/job-events.js';
import type { S3Listeners } from './account/s3-endpoints.js';
import type { OwnAddress } from './own-address.js';
import type { ConnectionTester } from './connections/connection-test.js';
import type { LoginGuard } from './login/guard.js';
import type { OwnerSessions } from './login/owner-sessions.js';
import type { TransferBoard } from './transfers/board.js';
import type { ScheduleService } from '../jobs/schedules.js';
import type { JobService } from '../jobs/service.js';
import type { SandboxPart } from '../sandbox/sink.js';
import type { LinkService } from '../links/service.js';
import type { UploadService } from '../uploads/service.js';
import type { WatchService } from '../watch/service.js';
import type { EventsPart } from '../events/events.js';
import type { Base64 } from '../workers/base64.js';

export interface Services {
  readonly storage: Storage;
  readonly operations: Operations;
  readonly urls: UrlFetcher;
  readonly base64: Base64;
  readonly uploads: UploadService;
  readonly watching: WatchService;
  readonly jobs: JobService;
  readonly schedules: ScheduleService;
  readonly jobEvents: JobEvents;
  readonly events: Pick<EventsPart, 'deliveries' | 'readers' | 'subscriptions'>;
  readonly eventHub: EventHub;
  /** The gateway's own sandbox, if it runs one. */
  readonly sandbox: SandboxPart | undefined;
  readonly links: LinkServices;
  readonly address: OwnAddress;
  readonly s3: S3Listeners;
  readonly alarms: AlarmService;
  readonly owners: OwnerSessions;
  readonly guard: LoginGuard;
  readonly remotes: Pick<Remotes, 'gaugeOf'>;
  readonly budgets: Budgets;
  readonly tester: ConnectionTester;
  readonly board: TransferBoard;
  readonly log: (level: 'debug' | 'warn', message: string, facts?: Record<string, unknown>) => void;
  readonly makeKeyPair: (comment: string) => Omit<MadeKeyPair, 'name'>;
  readonly limits: {
    readonly readBytes: number;
    /** Entries that one list, or one page of it, may read. */
    readonly listEntries: number;
    readonly jsonBodyBytes: number;
    readonly uploadBytes: number;
    readonly execOutputBytes: number;
  };
}

interface LinkServices {
  readonly service: LinkService;
  /** Counts bad links with bad keys, by address. */
  readonly guard: GuessGuard;
  /** Requests with one link, limited like requests with one key. */
  readonly rate: Limiters['requests'];
  /** The minimum speed of a transfer through a link, in bytes per second; 0 = none. */
  readonly minBytesPerSecond: number;
}

/** The caller's connection. @throws GatewayError unknown_connection; forbidden if the key does not allow it */
export async function connectionOf(
  services: Pick<Services, 'storage'>,
  caller: Caller,
  id: string,
): Promise<Connection> {
  const connection = await requireConnection(services.storage.connections, caller.accountId, id);
  requireUse(caller, connection.id);
  return connection;
}

/** The connection that the path names. Errors: those of `connectionOf` */
export function connectionIn(
  { caller, params }: { readonly caller: Caller; readonly params: { readonly connectionId: string } },
  services: Services,
): Promise<Connection> {
  return connectionOf(services, caller, params.connectionId);
}

/** For endpoints whose path names the connection: what a repeated request must still be allowed to use. */
export function atConnection({ params }: { readonly params: { readonly connectionId: string } }) {
  return { connections: [params.connectionId] };
}

export function operationFor(
  context: OperationContext,
  connection: Connection,
  type: TransferType,
  path: string,
  filename = path.slice(path.lastIndexOf('/') + 1),
): OperationRequest {
  const { caller, requestId, request, span, timedBy, intent } = context;
  const { ending: signal, claims } = request;
  const { memory } = claims;
  const wantsDigest = wantsReprDigest(request.headers);
  const common = { caller, connection, type, path, filename, requestId, signal };
  return { ...common, client: request, memory, span, timedBy, intent, wantsDigest };
}

/** The author of a change, for the audit log. */
export function actorOf({
  caller,
  request,
  requestId,
}: Pick<RequestContext, 'caller' | 'request' | 'requestId'>): Actor {
  return {
    accountId: caller.accountId,
    kind: caller.session === undefined ? 'key' : 'session',
    id: caller.keyId,
    email: caller.email,
    address: request.remoteAddress,
    requestId,
  };
}

/** The context of any request. */
export type OperationContext = Omit<RequestContext, 'params' | 'query' | 'body'>;

/** The caller of any request. */
type Asked = Pick<RequestContext, 'caller' | 'request' | 'requestId'>;

/** A request whose path names an item. */
export interface AtItem extends Asked {
  readonly params: { readonly id: string };
}

/** A connection for its owner to edit. @throws GatewayError unknown_connection, even if another account has it */
export function connectionAt({ storage }: Services, { caller, params: { id } }: AtItem): Promise<ManagedConnection> {
  return requireConnection(storage.management.connections, caller.accountId, id);
}

/** The id in the path. @throws GatewayError unknown_item if it is not a valid id */
export function itemId({ params: { id } }: Pick<AtItem, 'params'>, kind: string): string {
  if (!isUuid(id)) throw unknown(kind, id);
  return id;
}

/** @throws GatewayError from_configuration */
export function refuseConfigured(isConfigured: boolean, what: string): void {
  if (!isConfigured) return;
  throw refusal(
    'from_configuration',
    `${what} comes from the configuration file, whose next start would undo this; change it there`,
  );
}

/** @throws GatewayError bad_request */
export function requireCursor(cursor: string | undefined): void {
  if (cursor !== undefined && !isUuid(cursor)) throw badField('cursor', 'must be a nextCursor of the page before');
}

export function badField(field: string, text: string): GatewayError {
  return refusal('bad_request', `${field} ${text}`);
}
