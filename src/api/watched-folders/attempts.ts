/** The attempts of a delivery, and the copies that it waits for; and a test event. */
import { attemptExample, attemptFields, copyExample, copyFields, type RouteCopy } from '../../contract/delivery.js';
import { listOf, object, text } from '../../contract/schema.js';
import { shownFields, viewOf } from '../../contract/thing.js';
import { ID } from '../../contract/examples.js';
import { folderAt, FOLDER_ERRORS } from './folder.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Watched folders');
export const attemptEndpoints = endpoint.all;

endpoint('POST /manage/watched-folders/:id/test-event', {
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

endpoint('GET /manage/deliveries/:id/attempts', {
  operationId: 'listAttempts',
  summary: 'List the tries of a delivery',
  description:
    'With what was sent and what the receiver answered: headers, status and the first 4 KiB. Logins and cookies are removed.',
  answer: {
    schema: object('AttemptsAnswer', {
      attempts: listOf(object('Attempt', shownFields(attemptFields, 'owner')), 'The tries, oldest first.'),
    }),
    example: { attempts: [attemptExample] },
  },
  errors: ['not_found'],
}).handle(async (input, { events }) => {
  return { attempts: await events.deliveries.attempts(input.caller.accountId, input.params.id) };
});

endpoint('GET /manage/deliveries/:id/copies', {
  operationId: 'listCopies',
  summary: 'List the copies of a delivery',
  description: 'What became of each file of the event of a folder with `copyTo`; empty for all other events.',
  answer: {
    schema: object('CopiesAnswer', {
      copies: listOf(object('Copy', shownFields(copyFields, 'owner')), 'In the order of the event.'),
    }),
    example: { copies: [copyExample] },
  },
  errors: ['not_found'],
}).handle(async (input, { events }) => ({
  copies: (await events.deliveries.copies(input.caller.accountId, input.params.id)).map(copyView),
}));

function copyView(copy: RouteCopy) {
  const { state, targetPath, size } = copy;
  const isThere = state === 'done' || state === 'skipped';
  const shown = { ...copy, target: isThere ? targetPath : null, size: state === 'done' ? size : null };
  return viewOf(copyFields, shown, 'owner');
}
