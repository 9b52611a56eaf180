import { isUtf8 } from 'node:buffer';
import { Type } from 'typebox';
import { refusal } from '../../base/errors.js';
import { count, object, success, text, withDefault } from '../../contract/schema.js';
import { connectionParameter, CONTENT, encoding, fileParameters } from '../../contract/file-request.js';
import * as operations from '../../operations/get.js';
import { referTo } from '../../operations/path-reference.js';
import { encodedLength } from '../../workers/base64.js';
import { endpoint, jsonContent } from '../endpoint.js';
import { answeredPath } from '../fields.js';
import { connectionIn, operationFor, type Services } from '../services.js';
import { jsonStream, jsonString } from './content-stream.js';

export const readFile = endpoint({
  method: 'GET',
  path: '/api/read/:connectionId',
  access: 'read',
  operationId: 'readFile',
  tag: 'Files',
  summary: 'Read a small file',
  description: 'Content of a file as text or base64, up to the read limit (10 MiB unless configured otherwise).',
  params: connectionParameter,
  headers: ['Want-Repr-Digest'],
  query: Type.Object({ ...fileParameters, encoding: withDefault(encoding({ examples: ['text'] }), 'text') }),
  answers: {
    200: {
      description: 'The content.',
      content: jsonContent(
        object('ReadAnswer', {
          success: success(),
          content: text(CONTENT),
          encoding: encoding(),
          size: count('Bytes.'),
          path: answeredPath(),
        }),
        {
          text: { success: true, content: 'Hello, world!\n', encoding: 'text', size: 14, path: '/upload/hello.txt' },
        },
      ),
    },
  },
  isRemote: true,
  errors: ['quota_exceeded', 'not_found', 'is_a_folder', 'too_large', 'size_mismatch'],
}).handle(async (input, services: Services) => {
  const { query } = input;
  const connection = await connectionIn(input, services);
  const request = operationFor(input, connection, 'read', query.path);
  const reference = referTo(connection, query.path, 'path', query.rawName);
  const isText = query.encoding === 'text';
  // Held until the answer is sent.
  const memory = input.request.claims.memory.hold();
  const { result } = await operations.readFile(services.operations, request, reference, {
    maxBytes: services.limits.readBytes,
    memory,
    decodedBytes: isText ? () => 0 : encodedLength,
    decode: async (content) => (isText ? utf8(content) : services.base64.encodeAll(content, { move: true })),
  });
  const { path, size, content } = result;
  memory.resize(content.length);
  const tail = JSON.stringify({ encoding: query.encoding, size, path: path.toWellFormed() }).slice(1);
  const pieces = function* (): Generator<string> {
    yield '{"success":true,"content":';
    yield* jsonString(content);
    yield `,${tail}`;
  };
  return jsonStream(pieces());
});

function utf8(content: Buffer): Buffer {
  if (isUtf8(content)) return content;
  throw refusal('bad_request', 'the file is not UTF-8 text; read it with encoding=base64');
}
