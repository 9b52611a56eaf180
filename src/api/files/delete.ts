import { Type } from 'typebox';
import { count, object, success } from '../../contract/schema.js';
import { connectionParameter, deleteFields } from '../../contract/file-request.js';
import * as changes from '../../operations/change.js';
import { referTo } from '../../operations/path-reference.js';
import { endpoint } from '../endpoint.js';
import { answeredPath } from '../fields.js';
import { atConnection, connectionIn, operationFor, type Services } from '../services.js';

export const deleteFile = endpoint({
  method: 'POST',
  path: '/api/delete/:connectionId',
  access: 'write',
  operationId: 'deleteFile',
  tag: 'Files',
  summary: 'Delete a file or a folder',
  description:
    'Deletes one file; with `recursive`, a folder with all below it, symbolic links as links. A missing file is 404, a folder without `recursive` 409, and `/` with it 400. ' +
    'An error in the middle has the path and the number of entries that were deleted before it; the same request continues from there.',
  params: connectionParameter,
  body: object('DeleteRequest', deleteFields),
  bodyExamples: { file: { path: '/upload/report.pdf' }, folder: { path: '/upload/2025', recursive: true } },
  idempotent: atConnection,
  answer: {
    description: 'The file, or the folder, is gone.',
    schema: object('DeleteAnswer', {
      success: success(),
      path: answeredPath(),
      deleted: Type.Optional(count('With `recursive`: files, links and folders that were deleted; on S3 objects.')),
    }),
    example: { success: true, path: '/upload/report.pdf' },
  },
  isRemote: true,
  errors: ['quota_exceeded', 'not_found', 'is_a_folder', 'not_empty'],
}).handle(async (input, services: Services) => {
  const { path, rawName, recursive } = input.body;
  const connection = await connectionIn(input, services);
  const reference = referTo(connection, path, 'path', rawName);
  const { result } = await services.operations.run(
    operationFor(input, connection, 'delete', path),
    async (operation) =>
      recursive ? changes.deleteAll(operation, reference) : { path: await changes.deleteFile(operation, reference) },
  );
  return { success: true, ...result, path: result.path.toWellFormed() };
});
