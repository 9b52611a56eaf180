/** How an endpoint of the management API is written, what it stands on, and the first steps that several share. */
import type { Static, TObject, TSchema } from 'typebox';
import type { AlarmService } from '../../alarms/service.js';
import type { Budgets } from '../../budgets/budgets.js';
import { type GatewayError, refusal } from '../../base/errors.js';
import { isUuid } from '../../base/uuid.js';
import type { Caller, RequestContext, Route } from '../../http/types.js';
import type { Connection } from '../../connections/connection.js';
import type { Remotes } from '../../remotes/registry.js';
import type { ScheduleService } from '../../jobs/schedules.js';
import type { JobService } from '../../jobs/service.js';
import type { MadeKeyPair, ManagedConnection, Management, Storage } from '../../storage/storage.js';
import type { UploadService } from '../../uploads/service.js';
import type { WatchService } from '../../watch/service.js';
import {
  type Answering,
  type Details,
  endpoint,
  type Endpoint,
  type Input,
  type NoFields,
  type ParameterOf,
  type PathParameters,
  type WholeAnswer,
} from '../endpoint.js';
import type { JobEvents } from '../jobs/job-events.js';
import type { ConnectionTester } from './connection-test.js';
import { itemParameter } from './fields.js';
import type { LoginGuard } from './login/guard.js';
import type { OwnerSessions } from './login/owner-sessions.js';
import type { TransferBoard } from './transfers/board.js';

export interface PlanLimits {
  readonly connections: number;
  readonly monthlyActions: number;
}

export type ManageStorage = Storage & { readonly management: Management };

export interface ManageServices {
  readonly storage: ManageStorage;
  readonly alarms: AlarmService;
  readonly owners: OwnerSessions;
  readonly guard: LoginGuard;
  readonly remotes: Pick<Remotes, 'gaugeOf'>;
  readonly budgets: Budgets;
  readonly tester: ConnectionTester;
  readonly board: TransferBoard;
  readonly watching: WatchService;
  readonly jobs: JobService;
  readonly schedules: ScheduleService;
  readonly jobEvents: JobEvents;
  readonly uploads: Pick<UploadService, 'endAll'>;
  readonly log: (level: 'debug' | 'warn', message: string, facts?: Record<string, unknown>) => void;
  readonly makeKeyPair: (comment: string) => Omit<MadeKeyPair, 'name'>;
  readonly planOf: (plan: string) => PlanLimits;
}

interface Unhandled<Given, Answer> {
  handle(handler: (input: Given, services: ManageServices) => Promise<Answer>): Endpoint<ManageServices>;
}

type Parameter<Path extends string> = [ParameterOf<Path>] extends ['id'] ? unknown : PathParameters<Path>;

/**
 * `endpoint` for those of an account's owner under one tag: `endpoint('GET /manage/account', { … }).handle(…)`. Only a
 * login has another `access`.
 */
export function ownerEndpoints(tag: string) {
  return <
    Path extends string,
    Answer extends TSchema = WholeAnswer,
    Query extends TObject = NoFields,
    Body extends TSchema = NoFields,
  >(
    at: `${Route['method']} ${Path}`,
    definition: Details<Path, Query, Body> &
      Parameter<Path> &
      Answering<Answer> & { readonly access?: Route['access'] },
  ): Unhandled<Input<Path, Query, Body>, Static<Answer>> => {
    const [method, path] = at.split(' ', 2) as [Route['method'], Path];
    const params = path.includes('/:id') ? { params: itemParameter } : {};
    const whole = { method, path, access: 'owner', tag, ...params, ...definition };
    return endpoint(whole as unknown as Parameters<typeof endpoint<Path, Answer, Query, Body>>[0]);
  };
}

export { actorOf } from '../services.js';

/** Of a request, whatever its path, query and body are. */
type Asked = Pick<RequestContext, 'caller' | 'request' | 'requestId'>;

/** Of a request whose path names an item. */
export interface AtItem extends Asked {
  readonly params: { readonly id: string };
}

/** @throws GatewayError unknown_connection, also for another account's */
export async function connectionAt(
  { storage }: ManageServices,
  { caller, params: { id } }: AtItem,
): Promise<ManagedConnection> {
  const connection = await storage.management.connections.find(caller.accountId, id);
  if (connection === undefined) throw unknownConnection(id);
  return connection;
}

/** With its secrets. @throws GatewayError unknown_connection */
export async function openedConnection(
  { storage }: ManageServices,
  { accountId }: Pick<Caller, 'accountId'>,
  id: string,
): Promise<Connection> {
  const connection = await storage.connections.find(accountId, id);
  if (connection === undefined) throw unknownConnection(id);
  return connection;
}

export function unknownConnection(id: string): GatewayError {
  return refusal('unknown_connection', `there is no connection ${id.slice(0, 64)}`);
}

/** The id of the path. @throws GatewayError unknown_item when it cannot be one */
export function itemId({ params: { id } }: Pick<AtItem, 'params'>, kind: string): string {
  if (!isUuid(id)) throw unknownItem(kind, id);
  return id;
}

export function unknownItem(kind: string, id: string): GatewayError {
  return refusal('unknown_item', `there is no ${kind} ${id.slice(0, 64)}`);
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
