import { Type } from 'typebox';
import { flag, object, orNull } from '../../contract/schema.js';
import { connectionParameter, fileParameters } from '../../contract/file-request.js';
import * as changes from '../../operations/change.js';
import { referTo } from '../../operations/path-reference.js';
import { endpoint } from '../endpoint.js';
import { connectionIn, operationFor, type Services } from '../services.js';
import { fileExample } from '../../contract/file.js';
import { fileInfoSchema, fileInfoOf } from './file-info.js';

export const findFile = endpoint({
  method: 'GET',
  path: '/api/exists/:connectionId',
  access: 'read',
  operationId: 'findFile',
  tag: 'Files',
  summary: 'Find a file',
  description: 'Whether a file or folder is there, and what it is.',
  params: connectionParameter,
  query: Type.Object(fileParameters),
  answer: {
    description: 'Found or not.',
    schema: object('ExistsAnswer', {
      exists: flag('Whether a file or folder is there.'),
      file: orNull(fileInfoSchema, 'What is there; null when nothing is.'),
    }),
    examples: { found: { exists: true, file: fileExample }, absent: { exists: false, file: null } },
  },
  isRemote: true,
}).handle(async (input, services: Services) => {
  const { path, rawName } = input.query;
  const connection = await connectionIn(input, services);
  const reference = referTo(connection, path, 'path', rawName);
  const { result } = await services.operations.run(operationFor(input, connection, 'exists', path), (operation) =>
    changes.findFile(operation, reference),
  );
  return { exists: result !== undefined, file: result === undefined ? null : fileInfoOf(result) };
});
