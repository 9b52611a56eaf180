import { flag, object, success } from '../../contract/schema.js';
import { connectionParameter, folderFields } from '../../contract/file-request.js';
import * as changes from '../../operations/change.js';
import { referTo } from '../../operations/path-reference.js';
import { endpoint } from '../endpoint.js';
import { answeredPath } from '../fields.js';
import { atConnection, connectionIn, operationFor, type Services } from '../services.js';

export const makeFolder = endpoint({
  method: 'POST',
  path: '/api/mkdir/:connectionId',
  access: 'write',
  operationId: 'makeFolder',
  tag: 'Folders',
  summary: 'Create a folder',
  description: 'Creates a folder with its parents. Safe when it exists.',
  params: connectionParameter,
  body: object('MkdirRequest', folderFields),
  bodyExamples: { folder: { path: '/upload/archive' } },
  idempotent: atConnection,
  answer: {
    description: 'The folder is there.',
    schema: object('MkdirAnswer', {
      success: success(),
      path: answeredPath(),
      created: flag('False when the folder was there already.'),
    }),
    example: { success: true, path: '/upload/archive', created: true },
  },
  isRemote: true,
  errors: ['quota_exceeded', 'not_found', 'already_exists', 'no_space'],
}).handle(async (input, services: Services) => {
  const { path } = input.body;
  const connection = await connectionIn(input, services);
  const folder = referTo(connection, path, 'path');
  const { result } = await services.operations.run(operationFor(input, connection, 'mkdir', path), (operation) =>
    changes.makeFolder(operation, folder),
  );
  return { success: true, path: result.path, created: result.created };
});
