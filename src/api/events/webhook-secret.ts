/** The secret that signs the events of the account's jobs. */
import { object, text } from '../../contract/schema.js';
import { actorOf } from '../services.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Jobs');
export const webhookSecretEndpoints = endpoint.all;

const answer = {
  schema: object('WebhookSecretAnswer', { secret: text('The secret, `whsec_…`.') }),
  example: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
};

endpoint('GET /manage/webhook-secret', {
  operationId: 'showWebhookSecret',
  summary: 'Show the webhook secret of the account',
  description:
    'What receivers verify `job.finished` with. It is made when it is first asked for; the audit log notes each look at it.',
  answer,
}).handle(async (input, { storage }) => {
  const [secret = ''] = await storage.events.accountSecret.current(input.caller.accountId);
  await storage.management.audit.add(actorOf(input), { action: 'webhook_secret.show' });
  return { secret };
});

endpoint('POST /manage/webhook-secret/rotate', {
  operationId: 'rotateWebhookSecret',
  summary: 'Replace the webhook secret of the account',
  description: 'The former one signs along for 24 hours.',
  answer,
}).handle(async (input, { storage }) => {
  const secret = await storage.events.accountSecret.rotate(input.caller.accountId);
  await storage.management.audit.add(actorOf(input), { action: 'webhook_secret.rotate' });
  return { secret };
});
