import { count, object, success } from '../../contract/schema.js';
import { connectionParameter } from '../../contract/file-request.js';
import { json } from '../../http/answer.js';
import { reprDigest } from '../../http/repr-digest.js';
import { referTo } from '../../operations/path-reference.js';
import { promisedDigest } from '../../operations/pump.js';
import { putFile } from '../../operations/put.js';
import { shownTime } from '../../remotes/times.js';
import { endpoint, jsonContent } from '../endpoint.js';
import { answeredPath, keptTimeField, timeOf } from '../fields.js';
import { atConnection, connectionIn, operationFor, type Services } from '../services.js';
import { contentOf, writeRequest } from './content-body.js';

export const writeFile = endpoint({
  method: 'POST',
  path: '/api/write/:connectionId',
  access: 'write',
  operationId: 'writeFile',
  tag: 'Files',
  summary: 'Write a file',
  description:
    'Creates or replaces a file, whole or not at all. Content of more than 1 MiB comes after path, encoding and mtime.',
  params: connectionParameter,
  headers: ['Content-Digest', 'Repr-Digest', 'Want-Repr-Digest'],
  streams: {
    'application/json': {
      schema: writeRequest,
      examples: { text: { value: { path: '/upload/hello.txt', content: 'Hello, world!\n' } } },
    },
  },
  idempotent: atConnection,
  answers: {
    200: {
      description: 'The file is stored.',
      headers: ['Repr-Digest?'],
      content: jsonContent(
        object('WriteAnswer', {
          success: success(),
          path: answeredPath(),
          size: count('Bytes.'),
          modifiedAt: keptTimeField(),
        }),
        { answer: { success: true, path: '/upload/hello.txt', size: 14 } },
      ),
    },
  },
  isRemote: true,
  errors: [
    'bad_base64',
    'digest_mismatch',
    'quota_exceeded',
    'not_found',
    'is_a_folder',
    'no_space',
    'size_mismatch',
    'readback_mismatch',
  ],
}).handle(async (input, services: Services) => {
  const connection = await connectionIn(input, services);
  const digest = promisedDigest(input.request.headers);
  const { fields, bytes } = await contentOf(input, services, 'write');
  const modifiedAt = timeOf(fields.mtime);
  const file = referTo(connection, fields.path, 'path');
  const request = operationFor(input, connection, 'write', fields.path);
  const { result, digest: taken } = await services.operations.run(request, (operation) =>
    putFile(services.operations, operation, {
      connection,
      target: { file, overwrite: true, modifiedAt },
      body: bytes,
      digest,
      maxBytes: 0,
    }),
  );
  const dated = modifiedAt === undefined ? {} : { modifiedAt: shownTime(result) };
  return json(200, { success: true, path: result.path, size: result.size, ...dated }, reprDigest(taken));
});
