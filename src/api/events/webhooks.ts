/** Webhooks: the receivers of an account's events. */
import type { TProperties } from 'typebox';
import { exchangeExample, exchangeFields } from '../../contract/delivery.js';
import { WEBHOOK_ID } from '../../contract/examples.js';
import { described, flag, listOf, object, text } from '../../contract/schema.js';
import { changedFields, exampleOf, newFields, shownFields, viewOf } from '../../contract/thing.js';
import { type Webhook, webhookExample, webhookFields } from '../../contract/webhook.js';
import { successAnswer } from '../fields.js';
import { actorOf } from '../services.js';
import { endpoints } from '../endpoint.js';

const parameter = { id: text('Identifier of a webhook.', { minLength: 1, examples: [WEBHOOK_ID] }) };

const webhookSchema = object('Webhook', shownFields(webhookFields, 'key'));

const example = exampleOf(webhookFields, webhookExample, 'key');

const webhookOf = (webhook: Webhook) => viewOf(webhookFields, webhook, 'key');

const webhookAnswer = object('WebhookAnswer', { webhook: described(webhookSchema, 'The webhook, as it is now.') });
const answer = { schema: webhookAnswer, example: { webhook: example } };
const errors = ['unknown_connection', 'address_denied'] as const;

const endpoint = endpoints('Events', parameter);
export const webhookEndpoints = endpoint.all;

endpoint('GET /api/webhooks', {
  access: 'watch',
  isEssential: true,
  operationId: 'listWebhooks',
  summary: 'List webhooks',
  description: 'All webhooks for connections that this API key may use, oldest first.',
  answer: {
    schema: object('WebhooksAnswer', { webhooks: listOf(webhookSchema, 'Oldest first.') }),
    example: { webhooks: [example] },
  },
}).handle(async ({ caller }, { events: { subscriptions } }) => ({
  webhooks: (await subscriptions.list(caller)).map(webhookOf),
}));

endpoint('GET /api/webhooks/:id', {
  access: 'watch',
  isEssential: true,
  operationId: 'getWebhook',
  summary: 'Look at a webhook',
  description: 'A webhook, as it is now.',
  answer,
  errors: ['unknown_item'],
}).handle(async ({ caller, params }, { events: { subscriptions } }) => ({
  webhook: webhookOf(await subscriptions.get(caller, params.id)),
}));

endpoint('POST /api/webhooks', {
  access: 'watch',
  operationId: 'createWebhook',
  summary: 'Subscribe to events',
  description:
    'From now on every event of these types is sent to `url`: signed, at least once, tried again until it is taken or has run out of tries, as the events of watched folders are. Without `connections` it receives the events of all connections of the API key. It stays when the key is revoked.',
  body: object('NewWebhook', newFields(webhookFields)),
  bodyExamples: {
    failures: {
      url: 'https://example.com/hooks/gateway',
      events: webhookExample.events,
    },
  },
  answer: {
    status: 201,
    description: 'It is made.',
    schema: object('CreatedWebhook', {
      webhook: described(webhookSchema, 'The webhook.'),
      secret: text('Signs its events (Standard Webhooks); shown only once.'),
    }),
    example: { webhook: example, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  },
  errors: [...errors, 'share_exceeded'],
}).handle(async (input, { events: { subscriptions } }) => {
  const { webhook, secret } = await subscriptions.create(
    actorOf(input),
    input.caller,
    input.body,
    input.request.signal,
  );
  return { webhook: webhookOf(webhook), secret };
});

endpoint('PATCH /api/webhooks/:id', {
  access: 'watch',
  operationId: 'changeWebhook',
  summary: 'Change a webhook',
  description:
    'Fields that are absent stay. It counts for events from now on; what is on its way goes to the new `url`. A receiver that had answered 410 receives events again with `isActive: true`, or with another `url`.',
  body: object('WebhookChanges', changedFields(webhookFields)),
  bodyExamples: { pause: { isActive: false } },
  answer: { ...answer, description: 'As it is from now on.' },
  errors: [...errors, 'unknown_item'],
}).handle(async (input, { events: { subscriptions } }) => {
  const { caller, params, body, request } = input;
  return { webhook: webhookOf(await subscriptions.edit(actorOf(input), caller, params.id, body, request.signal)) };
});

endpoint('DELETE /api/webhooks/:id', {
  access: 'watch',
  operationId: 'deleteWebhook',
  summary: 'Delete a webhook',
  description: 'Ends its undelivered events, too; `GET /api/events` still has them.',
  answer: { description: 'It is gone.', schema: successAnswer, example: { success: true } },
  errors: ['unknown_item'],
}).handle(async (input, { events: { subscriptions } }) => {
  await subscriptions.remove(actorOf(input), input.caller, input.params.id);
  return { success: true as const };
});

endpoint('POST /api/webhooks/:id/rotate-secret', {
  access: 'watch',
  operationId: 'rotateSecretOfWebhook',
  summary: 'Replace the secret of a webhook',
  description: 'The former one signs along for 24 hours.',
  answer: {
    schema: object('WebhookSecret', { secret: text('The new secret; shown only once.') }),
    example: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  },
  errors: ['unknown_item'],
}).handle(async (input, { events: { subscriptions } }) => ({
  secret: await subscriptions.rotateSecret(actorOf(input), input.caller, input.params.id),
}));

const attempt: TProperties = {
  isDelivered: flag('Whether the answer was one of 200 to 299.'),
  id: text('The `webhook-id` of the message.'),
  body: text('The message: JSON, exactly as it was signed.'),
  ...shownFields(exchangeFields, 'key'),
};

endpoint('POST /api/webhooks/:id/test', {
  access: 'watch',
  operationId: 'testWebhook',
  summary: 'Send a test to a webhook',
  description:
    'Sends one signed message of the type `webhook.test` and waits for the answer. It is no event: it has no `sequence`, is not tried again, and a 410 switches nothing off. What the receiver answered, or why it could not be reached, is the result; the status is 200 all the same.',
  answer: {
    schema: object('WebhookTestAnswer', {
      test: described(object('WebhookTest', attempt), 'What was sent, and what came back.'),
    }),
    example: {
      test: {
        ...exchangeExample,
        isDelivered: true,
        id: WEBHOOK_ID,
        body: '{"type":"webhook.test"}',
        status: 204,
        answer: '',
      },
    },
  },
  errors: ['unknown_item', 'rate_limited'],
}).handle(async ({ caller, params, request }, { events: { subscriptions } }) => {
  const { id, body, isDelivered, attempt } = await subscriptions.test(caller, params.id, request.signal);
  const { startedAt: _at, url: _url, ...result } = attempt;
  return { test: { isDelivered, id, body, ...result } };
});
