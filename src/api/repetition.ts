/** Checks and answers of a request that is repeated with its Idempotency-Key, before its stored answer. */
import { withDeadline } from '../base/deadline.js';
import { type GatewayError, hasCode, refusal, toGatewayError } from '../base/errors.js';
import type { RequestContext, Route } from '../http/types.js';
import type { TransferItem } from '../contract/transfer.js';
import { findFile } from '../operations/change.js';
import { referTo } from '../operations/path-reference.js';
import type { Repeated } from './endpoint.js';
import { connectionOf, operationFor, type Services } from './services.js';

const STAT_TIMEOUT_MS = 5_000;

type Repetition = Pick<Route, 'permit' | 'recall'>;

/** For an endpoint that honours Idempotency-Key. */
export function repetitionOf(services: Services, named: (context: RequestContext) => Repeated): Repetition {
  return {
    permit: (context) => permitConnections(services, context, named(context)),
    recall: (context, transferId) => recall(services, context, named(context), transferId),
  };
}

/** A key may have been limited to other connections since the first request. Errors: those of `connectionOf` */
async function permitConnections(
  services: Services,
  { caller }: RequestContext,
  { connections }: Repeated,
): Promise<void> {
  if (caller.connections.length === 0) return;
  for (const id of connections) await connectionOf(services, caller, id);
}

/** The transfer in the history, and the current state of its files if that can be found out. */
async function recall(
  services: Services,
  context: RequestContext,
  { from }: Repeated,
  transferId: string,
): Promise<string> {
  const item = await services.storage.history.find(context.caller.accountId, transferId);
  if (item === undefined)
    return (await recallJob(services, context, transferId)) ?? `it is not known how transfer ${transferId} ended`;
  const paths = [...(item.type === 'move' && from !== undefined ? [from] : []), item.path];
  const seen: string[] = [];
  for (const path of paths) seen.push(await stateOf(services, context, item, path));
  const name = `transfer ${transferId} (${item.type})`;
  // The history has its success, and only the answer was lost; an unfinished transfer of a dead node is failed in the
  // history.
  const end = item.status === 'success' ? `${name} was done` : `it is not known whether ${name} was done`;
  return [end, ...seen].join('; ');
}

/** A request that began a job has stored that job's id. */
async function recallJob({ jobs }: Services, { caller }: RequestContext, id: string): Promise<string | undefined> {
  try {
    const job = await jobs.get(caller, id);
    return `job ${id} was begun, and is ${job.state}`;
  } catch (error) {
    if (hasCode(error, 'unknown_item')) return undefined;
    throw error;
  }
}

async function stateOf(
  services: Services,
  context: RequestContext,
  { connectionId }: TransferItem,
  path: string,
): Promise<string> {
  const late = (): GatewayError => refusal('stall_timeout', `no answer within ${STAT_TIMEOUT_MS} ms`);
  try {
    const connection = await connectionOf(services, context.caller, connectionId);
    const { intent: _, ...request } = operationFor(context, connection, 'exists', path);
    const reference = referTo(connection, path, 'path');
    const { result } = await withDeadline({ signal: request.signal, ms: STAT_TIMEOUT_MS, late }, (signal) =>
      services.operations.run({ ...request, signal }, (operation) => findFile(operation, reference)),
    );
    if (result === undefined) return `there is nothing at ${path} now`;
    const { isDirectory, size, modifiedAt } = result;
    if (isDirectory) return `${path} is a folder now`;
    return `${path} is a file of ${size} bytes now, changed ${modifiedAt.toISOString()}`;
  } catch (error) {
    return `${path} could not be checked (${toGatewayError(error).clientText})`;
  }
}
