/** What the receiver of a folder's webhooks verifies them with. */
import { object, text } from '../../../base/schema.js';
import { endpoint } from '../../endpoint.js';
import { itemParameter } from '../fields.js';
import type { ManageServices } from '../services.js';
import { folderAt, FOLDER_ERRORS, note } from './folder.js';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const answer = { schema: object('SecretAnswer', { secret: text('The secret.') }), example: { secret: SECRET } };

export const showSecret = endpoint({
  method: 'GET',
  path: '/manage/watched-folders/:id/secret',
  access: 'owner',
  operationId: 'showSecret',
  tag: 'Watched folders',
  summary: 'Show the webhook secret',
  description: 'What the receiver verifies signatures with. It stands in the audit log.',
  params: itemParameter,
  answer,
  errors: FOLDER_ERRORS,
}).handle(async (input, services: ManageServices) => {
  const folder = await folderAt(services, input);
  const secret = await services.watching.secret(folder.accountId, folder.id);
  await note(services, input, 'show_secret', folder);
  return { secret };
});

export const rotateSecret = endpoint({
  method: 'POST',
  path: '/manage/watched-folders/:id/secret/rotate',
  access: 'owner',
  operationId: 'rotateSecret',
  tag: 'Watched folders',
  summary: 'Replace the webhook secret',
  description: 'The former one signs along for 24 hours.',
  params: itemParameter,
  answer,
  errors: FOLDER_ERRORS,
}).handle(async (input, services: ManageServices) => {
  const folder = await folderAt(services, input);
  const secret = await services.watching.rotateSecret(folder.accountId, folder.id);
  await note(services, input, 'rotate_secret', folder);
  return { secret };
});
