import { Type } from 'typebox';
import { base64, count, object, oneOf, success, text, withDefault } from '../../base/schema.js';
import type { Connection } from '../../connections/connection.js';
import { fileHeaders, isNotModified, NO_SNIFFING, selectRange, type Validators } from '../../http/answer.js';
import type { HttpAnswer, RequestContext } from '../../http/types.js';
import { openDownload, type Download, type DownloadOptions } from '../../operations/get.js';
import { referTo } from '../../operations/operation.js';
import { placeName } from '../../operations/put.js';
import { baseName, type RemotePath } from '../../remotes/path.js';
import type { FileInfo } from '../../remotes/remote.js';
import { encodedLength } from '../../workers/base64.js';
import { endpoint } from '../endpoint.js';
import { answeredPath, BINARY, connectionParameter, FILE_NAME, fileParameters } from '../fields.js';
import { connectionIn, operationFor, type ApiServices } from '../services.js';
import { framed } from './content-stream.js';

const FILE_HEADERS = ['Content-Disposition', 'Last-Modified', 'ETag', 'Accept-Ranges', 'X-Content-Type-Options'];

const inJson = object('DownloadAnswer', {
  success: success(),
  filename: text(FILE_NAME),
  path: answeredPath(),
  size: count('Bytes.'),
  encoding: Type.Literal('base64', { description: 'How `content` is written.' }),
  content: base64('The file, as base64.'),
});

export const downloadFile = endpoint({
  method: 'GET',
  path: '/api/download/:connectionId',
  access: 'read',
  head: true,
  operationId: 'downloadFile',
  tag: 'Files',
  summary: 'Download a file',
  description:
    'Streams a file from the remote server. A failure after the head of the answer cuts the connection, so that a short body never looks complete.',
  params: connectionParameter,
  headers: ['Range', 'If-Range', 'If-None-Match', 'If-Modified-Since'],
  query: Type.Object({
    ...fileParameters,
    format: withDefault(
      oneOf(['binary', 'json'], '`binary` is the file itself, `json` an object that holds it as base64.', {
        examples: ['binary'],
      }),
      'binary',
    ),
  }),
  answers: {
    200: {
      description:
        'The file; with `format=json` an object that holds it as base64, without the header fields of a file.',
      headers: [...FILE_HEADERS.map((name) => `${name}?`), 'Content-Length'],
      content: {
        'application/octet-stream': {
          schema: BINARY,
          examples: { bytes: { summary: 'The file', value: '(bytes)' } },
        },
        'application/json': {
          schema: inJson,
          examples: {
            json: {
              summary: 'format=json',
              value: {
                success: true,
                filename: 'hello.txt',
                path: '/upload/hello.txt',
                size: 14,
                encoding: 'base64',
                content: 'SGVsbG8sIHdvcmxkIQo=',
              },
            },
          },
        },
      },
    },
    206: {
      description: 'The range that was asked for.',
      headers: [...FILE_HEADERS, 'Content-Range', 'Content-Length'],
      content: { 'application/octet-stream': { schema: BINARY, examples: { bytes: { value: '(bytes)' } } } },
    },
    304: { description: 'The client has it already.', headers: FILE_HEADERS },
  },
  isRemote: true,
  errors: ['quota_exceeded', 'not_found', 'is_a_folder', 'bad_range', 'size_mismatch'],
}).handle(async (input, services: ApiServices) => {
  const { path, rawName, format } = input.query;
  const connection = await connectionIn(input, services);
  const reference = referTo(connection, path, 'path', rawName);
  const isHead = input.request.method === 'HEAD';
  const request = operationFor(input, connection, isHead ? 'exists' : 'download', path);
  const validators = (info: FileInfo): Validators => validatorsOf(services, connection, info);
  const options =
    format === 'json' ? { skipBody: isHead ? () => true : undefined } : conditions(input, isHead, validators);
  const file = await openDownload(services.operations, request, reference, options);
  return format === 'json' ? asJson(services, file) : asFile(input, file, validators(file.info));
});

type Given = Pick<RequestContext, 'request'>;

/** Range and the conditional fields (RFC 9110, 13 and 14). */
function conditions({ request }: Given, isHead: boolean, validators: (info: FileInfo) => Validators): DownloadOptions {
  const { headers } = request;
  const range = headers.get('range');
  const conditional = headers.has('if-none-match') || headers.has('if-modified-since');
  return {
    select:
      range === undefined || isHead ? undefined : (info) => selectRange(headers, info.size, validators(info).entityTag),
    skipBody: isHead ? () => true : conditional ? (info) => isNotModified(headers, validators(info)) : undefined,
  };
}

function asFile({ request }: Given, file: Download, validators: Validators): HttpAnswer {
  const { path, info, range, body, whole, length } = file;
  const headers = fileHeaders(baseName(path).toWellFormed(), validators);
  const bytes = whole ?? (body && { stream: body, length });
  if (bytes === undefined) {
    // A GET without a body was found to be not modified; a HEAD is looked at now.
    const isSame = request.method !== 'HEAD' || isNotModified(request.headers, validators);
    return isSame ? { status: 304, headers } : { status: 200, headers, headLength: info.size };
  }
  const partial: Record<string, string> =
    range === undefined ? {} : { 'Content-Range': `bytes ${range.start}-${range.end}/${info.size}` };
  return {
    status: range === undefined ? 200 : 206,
    headers: { ...headers, ...partial },
    body: bytes,
  };
}

async function asJson(services: ApiServices, file: Download): Promise<HttpAnswer> {
  const { info, body, whole, path } = file;
  const [prefix, suffix] = frame(path, info.size);
  const length = prefix.length + encodedLength(info.size) + suffix.length;
  const headers = { 'Content-Type': 'application/json', ...NO_SNIFFING };
  if (whole !== undefined) {
    return { status: 200, headers, body: Buffer.concat([prefix, await services.base64.encodeAll(whole), suffix]) };
  }
  if (body === undefined) return { status: 200, headers, headLength: length };
  return { status: 200, headers, body: { stream: framed(prefix, body, services.base64.encode(), suffix), length } };
}

function frame(path: RemotePath, size: number): [Buffer, Buffer] {
  const names = { filename: baseName(path).toWellFormed(), path: path.toWellFormed() };
  const head = JSON.stringify({ success: true, ...names, size, encoding: 'base64' });
  return [Buffer.from(`${head.slice(0, -1)},"content":"`), Buffer.from('"}')];
}

/** The store's own tag; else a weak one of size and time, and none while the file could change without a trace in them. */
function validatorsOf({ operations }: ApiServices, connection: Connection, info: FileInfo): Validators {
  const { etag, size, modifiedAt, path } = info;
  const host = operations.remotes.host(connection);
  const isSettled = operations.ages.isSettled(host, placeName(operations, connection, path), info);
  const weak = isSettled ? `W/"${size.toString(16)}-${modifiedAt.getTime().toString(16)}"` : undefined;
  return {
    entityTag: etag === undefined ? weak : `"${etag}"`,
    lastModified: modifiedAt.getTime() === 0 ? undefined : modifiedAt,
    isSettled,
  };
}
