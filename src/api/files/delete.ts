import { Type } from 'typebox';
import { object, success } from '../../base/schema.js';
import * as changes from '../../operations/change.js';
import { referTo } from '../../operations/operation.js';
import { endpoint } from '../endpoint.js';
import { answeredPath, connectionParameter, rawName, remotePath } from '../fields.js';
import { atConnection, connectionIn, operationFor, type ApiServices } from '../services.js';

export const deleteFile = endpoint({
  method: 'POST',
  path: '/api/delete/:connectionId',
  access: 'write',
  operationId: 'deleteFile',
  tag: 'Files',
  summary: 'Delete a file',
  description: 'Deletes one file. A missing file is 404, a folder 409.',
  params: connectionParameter,
  body: object('DeleteRequest', { path: remotePath(), rawName: Type.Optional(rawName()) }),
  bodyExamples: { file: { path: '/upload/report.pdf' } },
  idempotent: atConnection,
  answer: {
    description: 'The file is gone.',
    schema: object('DeleteAnswer', { success: success(), path: answeredPath() }),
    example: { success: true, path: '/upload/report.pdf' },
  },
  isRemote: true,
  errors: ['quota_exceeded', 'not_found', 'is_a_folder', 'not_empty'],
}).handle(async (input, services: ApiServices) => {
  const { path, rawName } = input.body;
  const connection = await connectionIn(input, services);
  const reference = referTo(connection, path, 'path', rawName);
  const { result } = await services.operations.run(operationFor(input, connection, 'delete', path), (operation) =>
    changes.deleteFile(operation, reference),
  );
  return { success: true, path: result.toWellFormed() };
});
