/** What a webhook is sent to try it out. */
import { eventDefinition } from '../base/events.js';
import { described, group, object, text, texts } from '../contract/schema.js';

const ID = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1f001';

export const webhookTest = eventDefinition(
  'webhook.test',
  'WebhookTestEvent',
  {
    operationId: 'webhookTested',
    summary: 'Somebody tries the webhook out; it is no event of the feed and has no sequence',
  },
  group(
    {
      webhook: described(
        object('TestedWebhook', {
          id: text('Identifier of the webhook.'),
          events: texts('Types of events that it is told.'),
        }),
        'The webhook that is tried out.',
      ),
    },
    'What the event is about.',
  ),
  { webhook: { id: ID, events: ['transfer.failed'] } },
);

export function testBody(
  { id: webhookId, events }: { readonly id: string; readonly events: readonly string[] },
  id: string,
  at: Date,
): string {
  return JSON.stringify({
    id,
    type: webhookTest.name,
    timestamp: at.toISOString(),
    data: { webhook: { id: webhookId, events } },
  });
}
