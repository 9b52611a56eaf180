import { Type } from 'typebox';
import { listOf, object, success } from '../../base/schema.js';
import * as changes from '../../operations/change.js';
import { referTo } from '../../operations/operation.js';
import type { SortedListing } from '../../operations/sorted-listing.js';
import { endpoint, jsonContent } from '../endpoint.js';
import { answeredPath, connectionParameter, remotePath } from '../fields.js';
import { connectionIn, operationFor, type ApiServices } from '../services.js';
import { jsonStream } from './content-stream.js';
import { fileExample, fileInfo, fileInfoOf } from './file-info.js';

const folderExample = {
  name: 'archive',
  path: '/upload/archive',
  size: 0,
  isDirectory: true,
  modifiedAt: '2026-01-30T08:15:00.000Z',
};

export const listFolder = endpoint({
  method: 'GET',
  path: '/api/list/:connectionId',
  access: 'read',
  operationId: 'listFolder',
  tag: 'Folders',
  summary: 'List a folder',
  description: 'Files and folders of one folder: folders first, then by name in code-point order.',
  params: connectionParameter,
  query: Type.Object({
    path: Type.Optional(
      remotePath("Remote folder; the connection's default path when absent.", { examples: ['/upload'] }),
    ),
  }),
  answers: {
    200: {
      description: 'What the folder holds.',
      content: jsonContent(
        object('ListAnswer', {
          success: success(),
          path: answeredPath(),
          files: listOf(fileInfo, 'Folders first, then by name.'),
        }),
        { answer: { success: true, path: '/upload', files: [folderExample, fileExample] } },
      ),
    },
  },
  isRemote: true,
  errors: ['not_found'],
}).handle(async (input, services: ApiServices) => {
  const { path } = input.query;
  const connection = await connectionIn(input, services);
  const reference = referTo(connection, path, 'path');
  const { result } = await services.operations.run(operationFor(input, connection, 'list', path ?? ''), (operation) =>
    changes.listFolder(operation, reference, input.request.claims.memory.hold()),
  );
  return jsonStream(listing(result.path, result.files));
});

function* listing(path: string, files: SortedListing): Generator<string> {
  yield `{"success":true,"path":${JSON.stringify(path)},"files":[`;
  let separator = '';
  for (const file of files) {
    yield `${separator}${JSON.stringify(fileInfoOf(file))}`;
    separator = ',';
  }
  yield ']}';
}
