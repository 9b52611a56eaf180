/** The transfers that run now. */
import { Type } from 'typebox';
import { refusal, unknown } from '../../base/errors.js';
import { listOf, object } from '../../contract/schema.js';
import { successAnswer } from '../fields.js';
import { CLOSED } from '../fields.js';
import { TIME } from '../../contract/examples.js';
import { actorOf, itemId } from '../services.js';
import { managedTransfer } from './history.js';
import { endpoints, eventsAnswers, eventStream } from '../endpoint.js';

const endpoint = endpoints('Transfers');
export const liveTransferEndpoints = endpoint.all;

const running = {
  ...managedTransfer.example,
  status: 'pending',
  live: { bytes: 16384, totalBytes: 48213, bytesPerSecond: 8192, step: 'transfer', startedAt: TIME },
} as const;

endpoint('GET /manage/transfers/live', {
  operationId: 'listLiveTransfers',
  summary: 'List running transfers',
  description: 'Those that run now, on all nodes.',
  answer: {
    schema: object('LiveTransfersAnswer', { transfers: listOf(managedTransfer.schema, 'Newest first.') }),
    example: { transfers: [running] },
  },
}).handle(async ({ caller }, { board }) => {
  return { transfers: await board.list(caller.accountId) };
});

endpoint('POST /manage/transfers/:id/cancel', {
  operationId: 'cancelTransfer',
  summary: 'Cancel a transfer',
  description: 'It ends within a second or two as failed, with `errorCode` `cancelled`.',
  answer: { status: 202, description: 'It is being ended.', schema: successAnswer, example: { success: true } },
  errors: ['unknown_item', 'not_running'],
}).handle(async (input, { storage, board }) => {
  const id = itemId(input, 'transfer');
  const { accountId } = input.caller;
  const { audit } = storage.management;
  if (!(await board.cancel(accountId, id))) {
    if ((await storage.history.find(accountId, id)) === undefined) throw unknown('transfer', id);
    throw refusal('not_running', `transfer ${id} does not run, or has only just begun`);
  }
  await audit.add(actorOf(input), { action: 'transfer.cancel', target: { kind: 'transfer', id, name: '' } });
  return { success: true };
});

endpoint('GET /manage/events', {
  isEssential: false,
  operationId: 'watchTransfers',
  summary: 'Watch running transfers',
  // Server-sent events: HTML Standard, 9.2.
  description:
    'Server-sent events: `transfers` with all that run, at once and then at most once a second; `finished` with one that has ended. With `batch=true`, `ended` with all that have ended since the last one, at most once a second, in place of `finished`.',
  query: Type.Object(
    {
      batch: Type.Optional(
        Type.Boolean({ description: 'true = `ended` events in place of `finished`.', examples: [true] }),
      ),
    },
    CLOSED,
  ),
  answers: eventsAnswers('The stream, without an end.', 'event: transfers\ndata: {"transfers":[]}\n\n'),
}).handle(async ({ caller, query, stillOpens }, { board }) =>
  eventStream(board.watch(caller.accountId, stillOpens, query.batch)),
);
