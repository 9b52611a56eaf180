/** What is delivered to webhooks, and how it goes. */
import { type Static, Type } from 'typebox';
import { unknown } from '../../base/errors.js';
import { DELIVERY_STATES } from '../../contract/watched-folder.js';
import {
  count,
  dateTime,
  dateTimeOrNull,
  flag,
  listOf,
  object,
  oneOf,
  text,
  textOrNull,
  texts,
  withDefault,
} from '../../contract/schema.js';
import { type DeliveryFilter, type DeliveryRow, MOST_REPLAYED } from '../../storage/storage.js';
import { isUuid } from '../../base/uuid.js';
import { parseSince } from '../account/transfers.js';
import { WEBHOOK_ID } from '../events/webhooks.js';
import { CLOSED, ID, id, LATER, limit, TIME } from '../fields.js';
import { actorOf, badField, type Services } from '../services.js';
import { queuedAnswer } from './checks.js';
import { FOLDER_ERRORS } from './folder.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Watched folders');
export const deliveryEndpoints = endpoint.all;

const ENDED = ['dead', 'delivered', 'cancelled'] as const;

const time = (description: string, example: string) =>
  Type.Optional(text(description, { minLength: 1, maxLength: 64, examples: [example] }));

/** Which deliveries are wanted, beside their state. */
const FILTER = {
  watchedFolderId: Type.Optional(text('Id of a watched folder.', { minLength: 1, maxLength: 64, examples: [ID] })),
  webhookId: Type.Optional(text('Id of a webhook.', { minLength: 1, maxLength: 64, examples: [WEBHOOK_ID] })),
  jobId: Type.Optional(text('Id of a job.', { minLength: 1, maxLength: 64, examples: [ID] })),
  connectionId: Type.Optional(
    text('Id of a connection that the event is about.', { minLength: 1, maxLength: 64, examples: ['warehouse'] }),
  ),
  type: Type.Optional(
    text('Kind of event.', { minLength: 1, maxLength: 64, examples: ['watched_folder.files_detected'] }),
  ),
  url: Type.Optional(
    text('A part of the URL of the receiver.', { minLength: 1, maxLength: 200, examples: ['example.com'] }),
  ),
  since: time('Made then or later: an ISO 8601 date-time, or Unix seconds.', TIME),
  until: time('Made before: an ISO 8601 date-time, or Unix seconds.', LATER),
};

const delivery = object('Delivery', {
  id: id(),
  watchedFolderId: textOrNull('Id of a watched folder; null of a job’s event.'),
  jobId: textOrNull('Id of a job; null of a watched folder’s event.'),
  webhookId: textOrNull('Id of the webhook that it goes to; null of the receiver of a watched folder or job.'),
  url: textOrNull('Where it goes, without a login; null where there is no receiver any more.'),
  connectionIds: texts('The connections that the event is about.'),
  eventId: text('The `webhook-id`: the same for all receivers of an event.'),
  type: text('Kind of event.'),
  fileCount: count('Files in the event.'),
  state: oneOf(DELIVERY_STATES, 'State.'),
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
});

const sample: Static<typeof delivery> = {
  id: ID,
  watchedFolderId: ID,
  jobId: null,
  webhookId: null,
  url: 'https://example.com/hooks/files',
  connectionIds: ['warehouse'],
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
};

endpoint('GET /manage/deliveries', {
  operationId: 'listDeliveries',
  summary: 'List deliveries',
  description: 'Events and what became of them, newest first.',
  query: Type.Object(
    {
      ...FILTER,
      state: Type.Optional(oneOf(DELIVERY_STATES, 'State.', { examples: ['dead'] })),
      limit: limit(200, 50, 20),
      offset: withDefault(count('Items to pass over.', { maximum: 1_000_000_000, examples: [0] }), 0),
    },
    CLOSED,
  ),
  answer: {
    schema: object('DeliveriesAnswer', {
      deliveries: listOf(delivery, 'Newest first.'),
      limit: count('Items a page.'),
      offset: count('Items to pass over.'),
    }),
    example: { deliveries: [sample], limit: 50, offset: 0 },
  },
  errors: FOLDER_ERRORS,
}).handle(async ({ caller: { accountId }, query }, services) => {
  const { limit, offset, state, ...given } = query;
  const filter = { ...(await filterOf(services, accountId, given)), state };
  const rows = await services.watching.deliveries(accountId, filter, { limit, offset });
  return { deliveries: rows.map(deliveryView), limit, offset };
});

endpoint('GET /manage/deliveries/:id', {
  operationId: 'showDelivery',
  summary: 'Show a delivery',
  description: 'With what is sent: the bytes that are signed, together with the `webhook-id` and the time of a try.',
  answer: {
    schema: object('DeliveryDetail', {
      ...delivery.properties,
      body: text('The event: JSON, exactly as it is signed.'),
    }),
    example: { ...sample, body: '{"type":"watched_folder.files_detected","data":{}}' },
  },
  errors: ['not_found'],
}).handle(async ({ caller: { accountId }, params: { id } }, { storage }) => {
  const found = isUuid(id) ? await storage.watching.deliveries.find(accountId, id) : undefined;
  if (found === undefined) throw unknown('webhook event', id);
  return { ...deliveryView(found), body: found.body };
});

endpoint('POST /manage/deliveries/:id/replay', {
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

endpoint('POST /manage/deliveries/replay', {
  operationId: 'replayDeliveries',
  summary: 'Send many deliveries again',
  description: `Those that match, under their old ids and the oldest first; at most ${MOST_REPLAYED} a request. Left out are those that nobody receives any more. With \`dryRun\` they are only counted.`,
  body: object(
    'ReplayRequest',
    {
      ...FILTER,
      state: oneOf(ENDED, 'Those that ended so.'),
      dryRun: withDefault(flag('Only count them.'), false),
    },
    CLOSED,
  ),
  bodyExamples: { body: { state: 'dead', watchedFolderId: ID, dryRun: true } },
  answer: {
    status: 202,
    description: 'They are on their way, or were counted.',
    schema: object('ReplayAnswer', {
      count: count('How many are sent, or would be.', { maximum: MOST_REPLAYED }),
      isMore: flag('Whether more match than one request sends; ask again for those.'),
    }),
    example: { count: 12, isMore: false },
  },
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  const { accountId } = input.caller;
  const { dryRun, state, ...given } = input.body;
  const filter = { ...(await filterOf(services, accountId, given)), state };
  const matching = await services.storage.watching.deliveries.countReplayable(accountId, filter);
  const isMore = matching > MOST_REPLAYED;
  if (dryRun) return { count: Math.min(matching, MOST_REPLAYED), isMore };
  const replayed = await services.watching.replayAll(accountId, filter);
  // Where nothing was sent, an id that was asked for may be anybody's.
  if (replayed === 0) return { count: 0, isMore };
  const details = { ...given, state, count: replayed };
  await services.storage.management.audit.add(actorOf(input), { action: 'delivery.replay_all', details });
  return { count: replayed, isMore };
});

endpoint('GET /manage/receivers', {
  operationId: 'listReceivers',
  summary: 'List receivers',
  description: 'How the deliveries to each watched folder’s receiver, and to each webhook, go.',
  answer: {
    schema: object('ReceiversAnswer', {
      receivers: listOf(
        object('Receiver', {
          watchedFolderId: textOrNull('Id of the watched folder; null of a webhook.'),
          webhookId: textOrNull('Id of the webhook; null of the receiver of a watched folder.'),
          dead: count('Deliveries that were given up.'),
          retrying: count('Deliveries that have failed and are tried again.'),
          lastDeliveredAt: dateTimeOrNull('When the receiver last took one.'),
          failingSince: dateTimeOrNull('Since when nothing of what was tried has arrived; null = the last try did.'),
          lastStatus: Type.Unsafe<number | null>({
            type: ['integer', 'null'],
            description: 'What the receiver answered to the last failed delivery that was not taken since.',
          }),
          lastErrorMessage: textOrNull('What went wrong with that.'),
        }),
        'One for each.',
      ),
    }),
    example: {
      receivers: [
        {
          watchedFolderId: ID,
          webhookId: null,
          dead: 2,
          retrying: 1,
          lastDeliveredAt: TIME,
          failingSince: LATER,
          lastStatus: 503,
          lastErrorMessage: null,
        },
      ],
    },
  },
}).handle(async ({ caller }, { storage }) => {
  const receivers = await storage.watching.deliveries.receivers(caller.accountId);
  return { receivers: receivers.map(({ folderId, ...rest }) => ({ watchedFolderId: folderId, ...rest })) };
});

type Given = { readonly [Name in Exclude<keyof DeliveryFilter, 'folderId' | 'state'>]?: string } & {
  readonly watchedFolderId?: string;
};

/** @throws GatewayError unknown_watched_folder: an id that is not this account's must look like one that never was */
async function filterOf({ watching }: Services, accountId: string, given: Given): Promise<DeliveryFilter> {
  const { watchedFolderId, since, until, ...rest } = given;
  for (const field of ['webhookId', 'jobId'] as const) {
    if (rest[field] !== undefined && !isUuid(rest[field])) throw badField(field, 'must be the id of one');
  }
  const folder = watchedFolderId === undefined ? undefined : await watching.get(accountId, watchedFolderId);
  return {
    ...rest,
    folderId: folder?.id,
    since: since === undefined ? undefined : parseSince(since),
    until: until === undefined ? undefined : parseSince(until),
  };
}

function deliveryView({ folderId, ...row }: DeliveryRow): Static<typeof delivery> {
  return { ...row, watchedFolderId: folderId, connectionIds: [...row.connectionIds] };
}
