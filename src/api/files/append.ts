import { refusal } from '../../base/errors.js';
import { definitionOf } from '../../contract/connection/types.js';
import { count, described, object, success, text } from '../../contract/schema.js';
import { connectionParameter } from '../../contract/file-request.js';
import { connectionSummary, summaryOf } from '../../contract/connection/schemas.js';
import * as operations from '../../operations/append.js';
import { referTo } from '../../operations/path-reference.js';
import { parseContentDigest } from '../../operations/pump.js';
import { baseName } from '../../remotes/path.js';
import { endpoint } from '../endpoint.js';
import { FILE_NAME } from '../../contract/words.js';
import { answeredPath, durationMs, TRANSFER } from '../fields.js';
import { CONNECTION_EXAMPLE, TRANSFER_ID } from '../../contract/examples.js';
import { atConnection, connectionIn, operationFor, type Services } from '../services.js';
import { contentOf, contentRequest } from './content-body.js';

const appendTransfer = object('AppendTransfer', {
  id: text('Identifier.'),
  filename: text(FILE_NAME),
  path: answeredPath(),
  appendedBytes: count('Bytes that were added.'),
  durationMs: durationMs(),
  connection: described(connectionSummary, 'The connection that the file went to.'),
});

export const appendToFile = endpoint({
  method: 'POST',
  path: '/api/append/:connectionId',
  access: 'write',
  operationId: 'appendToFile',
  tag: 'Files',
  summary: 'Append to a file',
  description:
    'Adds content to the end of an existing file, as given: no line end is added. The file stays as it is until the whole request has come and is known to be valid. Not on S3 connections.',
  params: connectionParameter,
  headers: ['Content-Digest', 'Want-Repr-Digest'],
  streams: {
    'application/json': {
      schema: contentRequest,
      examples: { line: { value: { path: '/upload/log.txt', content: 'one more line\n' } } },
    },
  },
  idempotent: atConnection,
  answer: {
    description: 'The content is added.',
    schema: object('AppendAnswer', { success: success(), transfer: described(appendTransfer, TRANSFER) }),
    example: {
      success: true,
      transfer: {
        id: TRANSFER_ID,
        filename: 'log.txt',
        path: '/upload/log.txt',
        appendedBytes: 14,
        durationMs: 31,
        connection: CONNECTION_EXAMPLE,
      },
    },
  },
  isRemote: true,
  errors: [
    'bad_base64',
    'digest_mismatch',
    'unsupported_operation',
    'quota_exceeded',
    'not_found',
    'is_a_folder',
    'no_space',
    'size_mismatch',
  ],
}).handle(async (input, services: Services) => {
  const connection = await connectionIn(input, services);
  const { title, can } = definitionOf(connection);
  if (!can.append) {
    const text = `append is not supported on ${title} connections; use write instead`;
    throw refusal('unsupported_operation', text);
  }
  const digest = parseContentDigest(input.request.headers.get('content-digest'));
  const { fields, bytes } = await contentOf(input, services, 'append');
  const file = referTo(connection, fields.path, 'path');
  const request = operationFor(input, connection, 'append', fields.path);
  const { result, transferId, durationMs } = await services.operations.run(request, (operation) =>
    operations.appendToFile(services.operations, operation, { connection, file, body: bytes, digest }),
  );
  const { path, appendedBytes } = result;
  const transfer = { id: transferId, filename: baseName(path), path, appendedBytes, durationMs };
  return { success: true, transfer: { ...transfer, connection: summaryOf(connection) } };
});
