/** What became of a delivery: its tries, the copies that it waits for; and a test event. */
import { count, countOrNull, dateTime, listOf, object, oneOf, text, textOrNull } from '../../contract/schema.js';
import { ERROR_CODE } from '../../contract/words.js';
import { COPY_STATES, type RouteCopy } from '../../storage/storage.js';
import { ATTEMPT_FIELDS, ATTEMPT_SAMPLE } from '../events/attempt.js';
import { ID, id, TIME } from '../fields.js';
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
    'With what was sent and what the receiver answered: headers, status and the first 4 kB. Logins and cookies are removed.',
  answer: {
    schema: object('AttemptsAnswer', {
      attempts: listOf(
        object('Attempt', {
          id: id(),
          startedAt: dateTime('When it began.'),
          ...ATTEMPT_FIELDS,
          url: textOrNull('Where it went, without a login; null of tries before version 1.1.'),
        }),
        'The tries, oldest first.',
      ),
    }),
    example: {
      attempts: [
        {
          id: ID,
          startedAt: TIME,
          ...ATTEMPT_SAMPLE,
          url: 'https://example.com/hooks/files',
        },
      ],
    },
  },
  errors: ['not_found'],
}).handle(async (input, { watching }) => {
  return { attempts: await watching.attempts(input.caller.accountId, input.params.id) };
});

endpoint('GET /manage/deliveries/:id/copies', {
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
