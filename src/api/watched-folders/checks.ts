/** The checks of a watched folder, and its known files. */
import { Type } from 'typebox';
import { limit } from '../../contract/paging.js';
import { base64, count, dateTime, flag, listOf, object, oneOf, text } from '../../contract/schema.js';
import { shownFields } from '../../contract/thing.js';
import { checkExample, checkFields, entryCounts, KNOWN_FILE_STATES } from '../../contract/watch-check.js';
import { answeredPath, CLOSED } from '../fields.js';
import { ID, TIME } from '../../contract/examples.js';
import { FOLDER_ERRORS, folderAt, note, withDate } from './folder.js';
import { endpoints, itemParameter } from '../endpoint.js';

const endpoint = endpoints('Watched folders');
export const checkEndpoints = endpoint.all;

export const queuedAnswer = object('QueuedAnswer', { queued: flag('False when it was queued already.') });

endpoint('POST /manage/watched-folders/:id/check', {
  operationId: 'checkFolder',
  summary: 'Check now',
  description: '`queued` is false when a check waits already; one that runs is followed by another.',
  answer: { status: 202, description: 'It is due.', schema: queuedAnswer, example: { queued: true } },
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  const { accountId, id } = await folderAt(services, input);
  return services.watching.checkNow(accountId, id);
});

endpoint('POST /manage/watched-folders/:id/dry-run', {
  operationId: 'dryRunFolder',
  summary: 'What would a check report?',
  description: 'Looks into the folder now; nothing is written or sent. `counts` has every entry, by reason.',
  answer: {
    schema: object('DryRunAnswer', {
      counts: entryCounts,
      files: listOf(
        Type.Object({
          name: text('Name of the file.'),
          path: answeredPath(),
          size: count('Bytes.'),
          modifiedAt: dateTime('Time of the last change, UTC.'),
          event: oneOf(['new', 'modified'], '`new`, or `modified` where its size or date changed.'),
          rawName: Type.Optional(base64('The exact bytes of a name that is not UTF-8, as base64.')),
        }),
        'The files.',
      ),
    }),
    example: {
      counts: { new: 1, unchanged: 4 },
      files: [{ name: 'orders.csv', path: '/incoming/orders.csv', size: 1024, modifiedAt: TIME, event: 'new' }],
    },
  },
  isRemote: true,
  errors: [...FOLDER_ERRORS, 'not_found'],
}).handle(async (input, services) => {
  const { accountId, id } = await folderAt(services, input);
  const { counts, files } = await services.watching.dryRun(accountId, id, input.request.signal);
  return { counts, files: files.map(withDate) };
});

endpoint('GET /manage/watched-folders/:id/checks', {
  operationId: 'listChecks',
  summary: 'List checks',
  description: 'The last ones, newest first. `counts` has every entry, by reason.',
  answer: {
    schema: object('ChecksAnswer', {
      checks: listOf(object('Check', shownFields(checkFields, 'owner')), 'The last checks, newest first.'),
    }),
    example: { checks: [checkExample] },
  },
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  const { accountId, id } = await folderAt(services, input);
  return { checks: await services.watching.checks(accountId, id) };
});

endpoint('GET /manage/watched-folders/:id/checks/:checkId', {
  operationId: 'showCheck',
  summary: 'Show a check',
  description: 'Why each entry was reported, or was not.',
  params: { ...itemParameter, checkId: text('Id of a check.', { minLength: 1, examples: [ID] }) },
  answer: {
    schema: object('CheckEntriesAnswer', {
      entries: listOf(
        Type.Object({
          path: text('Path below the watched folder.'),
          reason: text('Why it is reported, or not.'),
          size: Type.Optional(count('Bytes.')),
          sizeBefore: Type.Optional(count('Bytes when it was last seen.')),
        }),
        'Every entry with its reason.',
      ),
    }),
    example: {
      entries: [{ path: 'orders.csv', reason: 'growing', size: 2048, sizeBefore: 1024 }],
    },
  },
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  const { accountId, id } = await folderAt(services, input);
  return { entries: await services.watching.reasons(accountId, id, input.params.checkId) };
});

endpoint('GET /manage/watched-folders/:id/files', {
  operationId: 'listKnownFiles',
  summary: 'List the files that are known',
  description: 'By path; `after` is the last path of the page before.',
  query: Type.Object(
    {
      after: Type.Optional(
        text('The last path of the page before.', { minLength: 1, maxLength: 4096, examples: ['orders.csv'] }),
      ),
      limit: limit(1000, 100, 20),
    },
    CLOSED,
  ),
  answer: {
    schema: object('KnownFilesAnswer', {
      files: listOf(
        Type.Object({
          path: text('Path below the watched folder.'),
          rawName: Type.Optional(base64('The exact bytes of a name that is not UTF-8, as base64.')),
          state: oneOf(KNOWN_FILE_STATES, '`known`, `waiting` until it has settled, or `changing`.'),
          size: count('Bytes.'),
          modifiedAt: dateTime('Time of the last change, UTC.'),
        }),
        'The files.',
      ),
      total: count('How many there are.'),
    }),
    example: {
      files: [{ path: 'orders.csv', state: 'known', size: 1024, modifiedAt: TIME }],
      total: 1,
    },
  },
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  const { accountId, id } = await folderAt(services, input);
  const { files, total } = await services.watching.knownFiles(accountId, id, input.query);
  return { files: files.map(withDate), total };
});

endpoint('POST /manage/watched-folders/:id/forget', {
  operationId: 'forgetFiles',
  summary: 'Forget known files',
  description: 'What is there at the next check is new. Without `path` all are forgotten.',
  body: object(
    'ForgetRequest',
    { path: Type.Optional(text('Path below the folder.', { minLength: 1, maxLength: 4096 })) },
    CLOSED,
  ),
  bodyExamples: { body: { path: 'orders.csv' } },
  answer: {
    schema: object('ForgottenAnswer', { forgotten: count('How many files were forgotten.') }),
    example: { forgotten: 1 },
  },
  errors: FOLDER_ERRORS,
}).handle(async (input, services) => {
  const folder = await folderAt(services, input);
  const { path } = input.body;
  const result = await services.watching.forget(folder.accountId, folder.id, path);
  await note(services, input, 'watched_folder.forget', folder, { path: path ?? null, ...result });
  return result;
});
