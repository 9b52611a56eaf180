/** What a watched folder knows of its files. */
import { Type } from 'typebox';
import { base64, count, dateTime, listOf, object, oneOf, text } from '../../../base/schema.js';
import { CLOSED, limit, TIME } from '../fields.js';
import { folderAt, FOLDER_ERRORS, note, withDate } from './folder.js';
import { ownerEndpoints } from '../services.js';

const endpoint = ownerEndpoints('Watched folders');

export const listFiles = endpoint('GET /manage/watched-folders/:id/files', {
  operationId: 'listKnownFiles',
  summary: 'List the files that are known',
  description: 'By path; `after` is the last path of the page before.',
  query: Type.Object(
    {
      after: Type.Optional(
        text('The last path of the page before.', { minLength: 1, maxLength: 4096, examples: ['orders.csv'] }),
      ),
      limit: limit(1000, 100),
    },
    CLOSED,
  ),
  answer: {
    schema: object('KnownFilesAnswer', {
      files: listOf(
        Type.Object({
          path: text('Path below the watched folder.'),
          rawName: Type.Optional(base64('The exact bytes of a name that is not UTF-8, as base64.')),
          state: oneOf(['known', 'waiting', 'changing'], '`known`, `waiting` until it has settled, or `changing`.'),
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

export const forgetFiles = endpoint('POST /manage/watched-folders/:id/forget', {
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
  await note(services, input, 'forget', folder, { path: path ?? null, ...result });
  return result;
});
