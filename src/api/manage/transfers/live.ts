/** The transfers that run now. */
import { listOf, object } from '../../../base/schema.js';
import { endpoint } from '../../endpoint.js';
import { successAnswer } from '../../fields.js';
import { itemParameter, TIME } from '../fields.js';
import { actorOf, itemId, type ManageServices, refusal, unknownItem } from '../services.js';
import { managedTransfer, sample } from './transfer.js';

const running = {
  ...sample,
  status: 'pending',
  live: { bytes: 16384, totalBytes: 48213, bytesPerSecond: 8192, step: 'transfer', startedAt: TIME },
} as const;

export const listLiveTransfers = endpoint({
  method: 'GET',
  path: '/manage/transfers/live',
  access: 'owner',
  operationId: 'listLiveTransfers',
  tag: 'Transfers',
  summary: 'List running transfers',
  description: 'Those that run now, on all nodes.',
  answer: {
    schema: object('LiveTransfersAnswer', { transfers: listOf(managedTransfer, 'Newest first.') }),
    example: { transfers: [running] },
  },
}).handle(async ({ caller }, { board }: ManageServices) => {
  return { transfers: await board.list(caller.accountId) };
});

export const cancelTransfer = endpoint({
  method: 'POST',
  path: '/manage/transfers/:id/cancel',
  access: 'owner',
  operationId: 'cancelTransfer',
  tag: 'Transfers',
  summary: 'Cancel a transfer',
  description: 'It ends within a second or two as failed, with `errorCode` `cancelled`.',
  params: itemParameter,
  answer: { status: 202, description: 'It is told to end.', schema: successAnswer, example: { success: true } },
  errors: ['unknown_item', 'not_running'],
}).handle(async (input, { storage, board }: ManageServices) => {
  const id = itemId(input, 'transfer');
  const { accountId } = input.caller;
  const { audit, transfers } = storage.management;
  if (!(await board.cancel(accountId, id))) {
    if ((await transfers.find(accountId, id)) === undefined) throw unknownItem('transfer', id);
    throw refusal('not_running', `transfer ${id} does not run, or has only just begun`);
  }
  await audit.add(actorOf(input), { action: 'transfer.cancel', target: { kind: 'transfer', id, name: '' } });
  return { success: true };
});

export const watchTransfers = endpoint({
  method: 'GET',
  path: '/manage/events',
  access: 'owner',
  isEssential: false,
  operationId: 'watchTransfers',
  tag: 'Transfers',
  summary: 'Watch running transfers',
  // Server-sent events: HTML Standard, 9.2.
  description:
    'Server-sent events: `transfers` with all that run, at once and then at most once a second; `finished` with one that has ended.',
  answers: {
    200: {
      description: 'The stream, without an end.',
      headers: ['X-Accel-Buffering'],
      content: {
        'text/event-stream': {
          schema: { type: 'string' },
          examples: { event: { value: 'event: transfers\ndata: {"transfers":[]}\n\n' } },
        },
      },
    },
  },
}).handle(async ({ caller, request, stillOpens }, { board, owners }: ManageServices) => {
  // A look keeps no session alive.
  const stillAllowed = (): Promise<boolean> =>
    caller.session === undefined ? stillOpens() : owners.stillLives(request);
  return {
    status: 200,
    // No proxy in between may gather events.
    headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' },
    body: { stream: board.watch(caller.accountId, stillAllowed), length: undefined },
  };
});
