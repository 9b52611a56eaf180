/** What is delivered to webhooks, and how it went. */
import { Type } from 'typebox';
import { validate as isUuid } from 'uuid';
import {
  count,
  countOrNull,
  dateTime,
  dateTimeOrNull,
  listOf,
  object,
  oneOf,
  text,
  textOrNull,
  withDefault,
} from '../../../base/schema.js';
import { COPY_STATES, type RouteCopy, type WebhookEvent } from '../../../storage/storage.js';
import { WEBHOOK_ID } from '../../events/webhooks.js';
import { durationMs } from '../../fields.js';
import { CLOSED, ID, id, LATER, limit, TIME } from '../fields.js';
import { actorOf, badField, ownerEndpoints } from '../services.js';
import { queuedAnswer } from './checks.js';
import { ERROR_CODE, folderAt, FOLDER_ERRORS } from './folder.js';

const endpoint = ownerEndpoints('Watched folders');

const STATES = ['pending', 'delivered', 'dead', 'cancelled'] as const;

export const sendTestEvent = endpoint('POST /manage/watched-folders/:id/test-event', {
  operationId: 'sendTestEvent',
  summary: 'Send a test event',
  description: 'An event without files, delivered like any other.',
  answer: {
    status: 202,
    description: 'It is on its way.',
    schema: object('EventAnswer', { eventId: text('Its `webhook-id`.') }),
    example: { eventId: ID },
  },
  errors: [...FOLDER_ERRORS, 'unknown_connection'],
}).handle(async (input, services) => {
  const { accountId, id } = await folderAt(services, input);
  return services.watching.sendTest(accountId, id);
});

export const listDeliveries = endpoint('GET /manage/deliveries', {
  operationId: 'listDeliveries',
  summary: 'List deliveries',
  description: 'Events and what became of them, newest first.',
  query: Type.Object(
    {
      watchedFolderId: Type.Optional(text('Id of a watched folder.', { minLength: 1, maxLength: 64, examples: [ID] })),
      webhookId: Type.Optional(text('Id of a webhook.', { minLength: 1, maxLength: 64, examples: [WEBHOOK_ID] })),
      state: Type.Optional(oneOf(STATES, 'State.', { examples: ['dead'] })),
      limit: limit(200, 50),
      offset: withDefault(count('Items to pass over.', { maximum: 1_000_000_000, examples: [0] }), 0),
    },
    CLOSED,
  ),
  answer: {
    schema: object('DeliveriesAnswer', {
      deliveries: listOf(
        object('Delivery', {
          id: id(),
          watchedFolderId: textOrNull('Id of a watched folder; null of a job’s event.'),
          jobId: textOrNull('Id of a job; null of a watched folder’s event.'),
          webhookId: textOrNull('Id of the webhook that it goes to; null of the receiver of a watched folder or job.'),
          eventId: text('The `webhook-id`: the same for all receivers of an event.'),
          type: text('Kind of event.'),
          fileCount: count('Files in the event.'),
          state: oneOf(STATES, 'State.'),
          attempts: count('How many tries there were.'),
          nextAttemptAt: dateTimeOrNull('When it is tried next; while files are copied, when those are.'),
          copyState: oneOf(
            ['none', 'pending', 'done'],
            'Of a folder with `copyTo`: nothing is sent while its files are being copied.',
          ),
          copiesFailed: count('Files that could not be copied.'),
          afterAction: oneOf(['none', 'pending', 'done'], 'What is done with the files after the delivery.'),
          deliveredAt: dateTimeOrNull('When the receiver took it.'),
          createdAt: dateTime('When it was made.'),
        }),
        'Newest first.',
      ),
      limit: count('Items a page.'),
      offset: count('Items to pass over.'),
    }),
    example: {
      deliveries: [
        {
          id: ID,
          watchedFolderId: ID,
          jobId: null,
          webhookId: null,
          eventId: ID,
          type: 'watched_folder.files_detected',
          fileCount: 1,
          state: 'delivered',
          attempts: 1,
          nextAttemptAt: null,
          copyState: 'none',
          copiesFailed: 0,
          afterAction: 'none',
          deliveredAt: LATER,
          createdAt: TIME,
        },
      ],
      limit: 50,
      offset: 0,
    },
  },
  errors: FOLDER_ERRORS,
}).handle(async ({ caller: { accountId }, query }, { watching }) => {
  const { watchedFolderId, webhookId, state, limit, offset } = query;
  if (webhookId !== undefined && !isUuid(webhookId)) throw badField('webhookId', 'must be the id of a webhook');
  // An id that is not this account's must look like one that never was.
  const folder = watchedFolderId === undefined ? undefined : await watching.get(accountId, watchedFolderId);
  const events = await watching.deliveries(accountId, { limit, offset, state, folderId: folder?.id, webhookId });
  return { deliveries: events.map(deliveryView), limit, offset };
});

export const listAttempts = endpoint('GET /manage/deliveries/:id/attempts', {
  operationId: 'listAttempts',
  summary: 'List the tries of a delivery',
  description: 'With the status and the first 4 kB of what the receiver answered.',
  answer: {
    schema: object('AttemptsAnswer', {
      attempts: listOf(
        object('Attempt', {
          id: id(),
          startedAt: dateTime('When it began.'),
          durationMs: durationMs(),
          status: Type.Unsafe<number | null>({
            type: ['integer', 'null'],
            description: 'HTTP status of the answer; null when there was none.',
          }),
          errorCode: textOrNull(ERROR_CODE),
          errorMessage: textOrNull('What went wrong.'),
          answer: textOrNull('The first 4 kB of the answer.'),
        }),
        'The tries, oldest first.',
      ),
    }),
    example: {
      attempts: [
        {
          id: ID,
          startedAt: TIME,
          durationMs: 120,
          status: 500,
          errorCode: null,
          errorMessage: null,
          answer: 'Internal Server Error',
        },
      ],
    },
  },
  errors: ['not_found'],
}).handle(async (input, { watching }) => {
  return { attempts: await watching.attempts(input.caller.accountId, input.params.id) };
});

export const listCopies = endpoint('GET /manage/deliveries/:id/copies', {
  operationId: 'listCopies',
  summary: 'List the copies of a delivery',
  description: 'What became of each file of the event of a folder with `copyTo`; empty for all other events.',
  answer: {
    schema: object('CopiesAnswer', {
      copies: listOf(
        object('Copy', {
          path: text('Path of the file in the watched folder.'),
          state: oneOf(COPY_STATES, '`skipped`: `onConflict` left alone what stands there.'),
          tries: count('Tries that failed, and were not the last.'),
          connectionId: text('Connection of the copy.'),
          target: textOrNull('Where the copy is.'),
          size: countOrNull('Bytes of the copy.'),
          errorCode: textOrNull(ERROR_CODE),
          errorMessage: textOrNull('What went wrong.'),
        }),
        'In the order of the event.',
      ),
    }),
    example: {
      copies: [
        {
          path: '/outgoing/orders.csv',
          state: 'done',
          tries: 0,
          connectionId: 'lake',
          target: '/from-warehouse/orders.csv',
          size: 1024,
          errorCode: null,
          errorMessage: null,
        },
      ],
    },
  },
  errors: ['not_found'],
}).handle(async (input, { watching }) => ({
  copies: (await watching.copies(input.caller.accountId, input.params.id)).map(copyView),
}));

function copyView({ path, state, tries, targetConnection: connectionId, targetPath, ...copy }: RouteCopy) {
  const { size, errorCode, errorMessage } = copy;
  const isThere = state === 'done' || state === 'skipped';
  const place = { connectionId, target: isThere ? targetPath : null, size: state === 'done' ? size : null };
  return { path, state, tries, ...place, errorCode, errorMessage };
}

export const replayDelivery = endpoint('POST /manage/deliveries/:id/replay', {
  operationId: 'replayDelivery',
  summary: 'Send a delivery again',
  description: 'Under its old id, so that a receiver that has it knows.',
  answer: { status: 202, description: 'It is on its way.', schema: queuedAnswer, example: { queued: true } },
  errors: ['not_found', ...FOLDER_ERRORS],
}).handle(async (input, services) => {
  const id = input.params.id;
  const result = await services.watching.replay(input.caller.accountId, id);
  const target = { kind: 'delivery', id, name: '' };
  await services.storage.management.audit.add(actorOf(input), { action: 'delivery.replay', target });
  return result;
});

/** The body is what the receiver was sent; it may be long and is not asked for in a list. */
function deliveryView(event: WebhookEvent) {
  const {
    accountId: _account,
    body: _body,
    files: _files,
    readAt: _readAt,
    webhookUrl: _url,
    folderId,
    ...view
  } = event;
  return { ...view, watchedFolderId: folderId };
}
