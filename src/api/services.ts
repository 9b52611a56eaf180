/** What the endpoints stand on, and the first steps they share. */
import { refusal } from '../base/errors.js';
import { wantsReprDigest } from '../http/repr-digest.js';
import type { Repeated } from './endpoint.js';
import type { Caller, RequestContext } from '../http/types.js';
import type { Connection } from '../connections/connection.js';
import type { GuessGuard } from '../http/guess-guard.js';
import type { Limiters } from '../http/rate-limits.js';
import type { Actor, Storage, TransferType } from '../storage/storage.js';
import type { UrlFetcher } from '../operations/fetch-url.js';
import type { OperationRequest, Operations } from '../operations/operation.js';
import type { JobEvents } from './jobs/job-events.js';
import type { ScheduleService } from '../jobs/schedules.js';
import type { JobService } from '../jobs/service.js';
import type { SandboxPart } from '../sandbox/sink.js';
import type { LinkService } from '../links/service.js';
import type { UploadService } from '../uploads/service.js';
import type { WatchService } from '../watch/service.js';
import type { FeedReaders } from '../webhooks/feed-readers.js';
import type { Subscriptions } from '../webhooks/subscriptions.js';
import type { Base64 } from '../workers/base64.js';

export interface ApiServices {
  readonly storage: Storage;
  readonly operations: Operations;
  readonly urls: UrlFetcher;
  readonly base64: Base64;
  readonly uploads: UploadService;
  readonly watching: WatchService;
  readonly jobs: JobService;
  readonly schedules: ScheduleService;
  readonly jobEvents: JobEvents;
  readonly feedReaders: FeedReaders;
  readonly webhooks: Subscriptions;
  /** The gateway's own, where it runs one. */
  readonly sandbox: SandboxPart | undefined;
  readonly links: LinkServices;
  readonly limits: {
    readonly readBytes: number;
    /** That one list, or one page of it, may read. */
    readonly listEntries: number;
    readonly jsonBodyBytes: number;
    readonly uploadBytes: number;
    readonly execOutputBytes: number;
  };
}

export interface LinkServices {
  readonly service: LinkService;
  /** Counts bad links with bad keys, by address. */
  readonly guard: GuessGuard;
  /** Of requests with one link, as with one key. */
  readonly rate: Limiters['requests'];
  /** The least speed of a transfer through a link, in bytes per second; 0 = none. */
  readonly minBytesPerSecond: number;
  /** What URLs begin with; "" = as the request that makes a link did. */
  readonly publicUrl: string;
  readonly isTls: boolean;
}

/** The caller's connection. @throws GatewayError unknown_connection; forbidden when the key is not for it */
export async function connectionOf(
  services: Pick<ApiServices, 'storage'>,
  caller: Caller,
  id: string,
): Promise<Connection> {
  const connection = await services.storage.connections.find(caller.accountId, id);
  if (connection === undefined) {
    throw refusal('unknown_connection', `there is no connection ${id.slice(0, 64)}`);
  }
  if (caller.connections.length > 0 && !caller.connections.includes(connection.id)) {
    throw refusal('forbidden', `this API key is not for connection ${connection.id}`);
  }
  return connection;
}

/** The connection that the path names. Errors: those of `connectionOf` */
export function connectionIn(
  { caller, params }: { readonly caller: Caller; readonly params: { readonly connectionId: string } },
  services: ApiServices,
): Promise<Connection> {
  return connectionOf(services, caller, params.connectionId);
}

/** Of endpoints whose path names the connection: what a repeated request must still be allowed to use. */
export function atConnection({ params }: { readonly params: { readonly connectionId: string } }): Repeated {
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

/** Who changes what the account keeps, as the audit log has it. */
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

/** Of a request, whatever its query and body are. */
export type OperationContext = Omit<RequestContext, 'params' | 'query' | 'body'>;
