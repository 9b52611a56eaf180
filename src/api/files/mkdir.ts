import { flag, object, success } from '../../contract/schema.js';
import { connectionParameter, folderFields } from '../../contract/file-request.js';
import * as changes from '../../operations/change.js';
import { referTo } from '../../operations/path-reference.js';
import { endpoint } from '../endpoint.js';
import { answeredPath } from '../fields.js';
import { atConnection, connectionOf, type OperationContext, operationFor, type Services } from '../services.js';

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
}).handle((input, services: Services) => mkdir(input, services, input.params.connectionId, input.body.path));

/** Makes it, for the first time or again. */
export async function mkdir(input: OperationContext, services: Services, connectionId: string, path: string) {
  const connection = await connectionOf(services, input.caller, connectionId);
  const folder = referTo(connection, path, 'path');
  const { result } = await services.operations.run(operationFor(input, connection, 'mkdir', path), (operation) =>
    changes.makeFolder(operation, folder),
  );
  return { success: true as const, path: result.path, created: result.created };
}
