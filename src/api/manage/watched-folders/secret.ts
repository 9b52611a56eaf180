/** What the receiver of a folder's webhooks verifies them with. */
import { object, text } from '../../../base/schema.js';
import { folderAt, FOLDER_ERRORS, note } from './folder.js';
import { ownerEndpoints } from '../services.js';

const endpoint = ownerEndpoints('Watched folders');

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const answer = { schema: object('SecretAnswer', { secret: text('The secret.') }), example: { secret: SECRET } };

export const showSecret = endpoint('GET /manage/watched-folders/:id/secret', {
  operationId: 'showSecret',
  summary: 'Show the webhook secret',
  description: 'What the receiver verifies signatures with. It stands in the audit log.',
  answer,
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  const folder = await folderAt(services, input);
  const secret = await services.watching.secret(folder.accountId, folder.id);
  await note(services, input, 'show_secret', folder);
  return { secret };
});

export const rotateSecret = endpoint('POST /manage/watched-folders/:id/secret/rotate', {
  operationId: 'rotateSecret',
  summary: 'Replace the webhook secret',
  description: 'The former one signs along for 24 hours.',
  answer,
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  const folder = await folderAt(services, input);
  const secret = await services.watching.rotateSecret(folder.accountId, folder.id);
  await note(services, input, 'rotate_secret', folder);
  return { secret };
});
