/** Deliveries to webhooks, and their state. */
import { Type } from 'typebox';
import { count, flag, listOf, object, oneOf, withDefault } from '../../contract/schema.js';
import { type DeliveryFilter, MOST_REPLAYED } from '../../storage/storage.js';
import {
  deliveryDetailFields,
  deliveryExample,
  deliveryFields,
  receiverExample,
  receiverFields,
} from '../../contract/delivery.js';
import { deliveryFilters, deliveryListFilters, queryOf } from '../../contract/filters.js';
import { askedPage } from '../../contract/paging.js';
import { shownFields, viewOf } from '../../contract/thing.js';
import { isUuid } from '../../base/uuid.js';
import { CLOSED, periodOf } from '../fields.js';
import { ID } from '../../contract/examples.js';
import { actorOf, badField, type Services } from '../services.js';
import { queuedAnswer } from './checks.js';
import { FOLDER_ERRORS } from './folder.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Watched folders');
export const deliveryEndpoints = endpoint.all;

const ENDED = ['dead', 'delivered', 'cancelled'] as const;

const delivery = object('Delivery', shownFields(deliveryFields, 'owner'));

endpoint('GET /manage/deliveries', {
  operationId: 'listDeliveries',
  summary: 'List deliveries',
  description: 'Events and what became of them, newest first.',
  query: Type.Object(queryOf(deliveryListFilters), CLOSED),
  answer: {
    schema: object('DeliveriesAnswer', {
      deliveries: listOf(delivery, 'Newest first.'),
      ...askedPage,
    }),
    example: { deliveries: [deliveryExample], limit: 50, offset: 0 },
  },
  errors: FOLDER_ERRORS,
}).handle(async ({ caller: { accountId }, query }, services) => {
  const { limit, offset, state, ...given } = query;
  const filter = { ...(await filterOf(services, accountId, given)), state };
  const rows = await services.events.deliveries.list(accountId, filter, { limit, offset });
  return { deliveries: rows.map((row) => viewOf(deliveryFields, row, 'owner')), limit, offset };
});

endpoint('GET /manage/deliveries/:id', {
  operationId: 'showDelivery',
  summary: 'Show a delivery',
  description: 'With what is sent: the bytes that are signed, together with the `webhook-id` and the time of a try.',
  answer: {
    schema: object('DeliveryDetail', shownFields(deliveryDetailFields, 'owner')),
    example: { ...deliveryExample, body: '{"type":"watched_folder.files_detected","data":{}}' },
  },
  errors: ['not_found'],
}).handle(async ({ caller: { accountId }, params: { id } }, { events }) =>
  viewOf(deliveryDetailFields, await events.deliveries.get(accountId, id), 'owner'),
);

endpoint('POST /manage/deliveries/:id/replay', {
  operationId: 'replayDelivery',
  summary: 'Send a delivery again',
  description: 'Under its old id, so that a receiver that has it knows.',
  answer: { status: 202, description: 'It is on its way.', schema: queuedAnswer, example: { queued: true } },
  errors: ['not_found', ...FOLDER_ERRORS],
}).handle(async (input, services) => {
  const id = input.params.id;
  const result = await services.events.deliveries.replay(input.caller.accountId, id);
  const target = { kind: 'delivery', id, name: '' };
  await services.storage.management.audit.add(actorOf(input), { action: 'delivery.replay', target });
  return result;
});

endpoint('POST /manage/deliveries/replay', {
  operationId: 'replayDeliveries',
  summary: 'Send many deliveries again',
  description: `Those that match, under their old ids and the oldest first; at most ${MOST_REPLAYED} a request. Those without a receiver are left out. With \`dryRun\` they are only counted.`,
  body: object(
    'ReplayRequest',
    {
      ...queryOf(deliveryFilters),
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
  const matching = await services.events.deliveries.countReplayable(accountId, filter);
  const isMore = matching > MOST_REPLAYED;
  if (dryRun) return { count: Math.min(matching, MOST_REPLAYED), isMore };
  const replayed = await services.events.deliveries.replayAll(accountId, filter);
  // If nothing was sent, the requested id may belong to another account.
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
      receivers: listOf(object('Receiver', shownFields(receiverFields, 'owner')), 'One for each.'),
    }),
    example: { receivers: [receiverExample] },
  },
}).handle(async ({ caller }, { events }) => ({
  receivers: await events.deliveries.receivers(caller.accountId),
}));

type Given = { readonly [Name in Exclude<keyof DeliveryFilter, 'state'>]?: string };

/** @throws GatewayError unknown_watched_folder: an id of another account must look like an unknown one */
async function filterOf({ watching }: Services, accountId: string, given: Given): Promise<DeliveryFilter> {
  const { watchedFolderId, since, until, ...rest } = given;
  for (const field of ['webhookId', 'jobId'] as const) {
    if (rest[field] !== undefined && !isUuid(rest[field])) throw badField(field, 'must be the id of one');
  }
  const folder = watchedFolderId === undefined ? undefined : await watching.get(accountId, watchedFolderId);
  return {
    ...rest,
    watchedFolderId: folder?.id,
    ...periodOf({ since, until }),
  };
}
