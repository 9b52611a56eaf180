import { Type } from 'typebox';
import { refusal } from '../../base/errors.js';
import { base64, count, object, oneOf, oneOrMore, success, text, withDefault } from '../../contract/schema.js';
import { connectionParameter, fileParameters } from '../../contract/file-request.js';
import type { Connection } from '../../connections/connection.js';
import { attachment, fileHeaders, isNotModified, NO_PAGE, rangeChooser, type Validators } from '../../http/answer.js';
import { reprDigest } from '../../http/repr-digest.js';
import type { HttpAnswer, RequestContext } from '../../http/types.js';
import { openArchive } from '../../operations/archive/archive.js';
import { openDownload, type Download, type DownloadOptions } from '../../operations/get.js';
import { referTo } from '../../operations/path-reference.js';
import { baseName, type RemotePath } from '../../remotes/path.js';
import type { FileInfo } from '../../remotes/remote.js';
import { encodedLength } from '../../workers/base64.js';
import { endpoint } from '../endpoint.js';
import { FILE_NAME } from '../../contract/words.js';
import { answeredPath, BINARY } from '../fields.js';
import { connectionIn, operationFor, type Services, type OperationContext } from '../services.js';
import { framed } from './content-stream.js';

/** Paths in one archive. */
const MAX_PATHS = 100;

const FILE_HEADERS = [
  'Content-Disposition',
  'Last-Modified',
  'ETag',
  'Accept-Ranges',
  'X-Content-Type-Options',
  'Content-Security-Policy',
];

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
  summary: 'Download a file, or folders as an archive',
  description:
    'Streams a file from the remote server; with `format=zip` a ZIP archive of a folder, or of several paths. A failure after the head of the answer cuts the connection, so that a short body never looks complete. An archive is made for each request: it has no length and no ETag, and `HEAD`, ranges and conditions are 400.',
  params: connectionParameter,
  headers: ['Want-Repr-Digest', 'Range', 'If-Range', 'If-None-Match', 'If-Modified-Since'],
  query: Type.Object({
    ...fileParameters,
    path: oneOrMore(fileParameters.path, MAX_PATHS, 'May be repeated with `format=zip`.'),
    format: withDefault(
      oneOf(
        ['binary', 'json', 'zip'],
        '`binary` is the file itself, `json` an object that holds it as base64, `zip` an archive: each path is one entry at its top, with its own name, a folder with all below it.',
        { examples: ['binary'] },
      ),
      'binary',
    ),
  }),
  answers: {
    200: {
      description:
        'The file; with `format=json` an object that holds it as base64, without the header fields of a file; with `format=zip` the archive, of unknown length.',
      headers: [...FILE_HEADERS.map((name) => `${name}?`), 'Content-Length?', 'Repr-Digest?'],
      content: {
        'application/octet-stream': {
          schema: BINARY,
          examples: { bytes: { summary: 'The file', value: '(bytes)' } },
        },
        'application/zip': { schema: BINARY, examples: { zip: { summary: 'format=zip', value: '(bytes)' } } },
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
}).handle(async (input, services: Services) => {
  const { path: given, rawName, format } = input.query;
  const [path, ...others] = [given].flat() as [string, ...string[]];
  if (format === 'zip') return asArchive(input, services, [path, ...others]);
  if (others.length > 0) throw refusal('bad_request', 'the query parameter path appears twice');
  const connection = await connectionIn(input, services);
  const reference = referTo(connection, path, 'path', rawName);
  const isHead = input.request.method === 'HEAD';
  const request = operationFor(input, connection, isHead ? 'exists' : 'download', path);
  const validators = (info: FileInfo): Validators => validatorsOf(services, connection, info);
  const options = format === 'json' ? { factsOnly: isHead } : conditions(input, isHead, validators);
  const file = await openDownload(services.operations, request, reference, options);
  return format === 'json' ? asJson(services, file) : asFile(input, file, validators(file.info));
});

/** Archives cannot honour these: they are made while they are sent. */
const NOT_OF_ARCHIVES = ['range', 'if-range', 'if-none-match', 'if-modified-since'];

type Asked = OperationContext & {
  readonly params: { readonly connectionId: string };
  readonly query: { readonly rawName?: string };
};

async function asArchive(input: Asked, services: Services, paths: readonly [string, ...string[]]): Promise<HttpAnswer> {
  const { request } = input;
  const { rawName } = input.query;
  const field = NOT_OF_ARCHIVES.find((name) => request.headers.has(name));
  if (request.method === 'HEAD')
    throw refusal('bad_request', 'HEAD is not for format=zip: nothing is known before it is made');
  if (field !== undefined)
    throw refusal('bad_request', `${field} is not for format=zip: the archive is made for each request`);
  if (rawName !== undefined && paths.length > 1) throw refusal('bad_request', 'rawName is for a single path');
  const connection = await connectionIn(input, services);
  const references = paths.map((path) => referTo(connection, path, 'path', rawName));
  const operation = operationFor(input, connection, 'download', paths[0]);
  const { filename, body } = await openArchive(services.operations, operation, references, connection.id);
  const headers = { 'Content-Type': 'application/zip', 'Content-Disposition': attachment(filename), ...NO_PAGE };
  return { status: 200, headers, body: { stream: body, length: undefined } };
}

type Given = Pick<RequestContext, 'request'>;

/** Range and the conditional fields (RFC 9110, 13 and 14). */
export function conditions(
  { request }: { readonly request: Pick<Given['request'], 'headers'> },
  isHead: boolean,
  validators: (info: FileInfo) => Validators,
): DownloadOptions {
  const { headers } = request;
  const conditional = headers.has('if-none-match') || headers.has('if-modified-since');
  return {
    select: isHead ? undefined : rangeChooser(headers, (info: FileInfo) => validators(info).entityTag),
    factsOnly: isHead,
    skipBody: conditional && !isHead ? (info) => isNotModified(headers, validators(info)) : undefined,
  };
}

/** `name`: the file name for saving. */
export function asFile(
  { request }: Given,
  file: Download,
  validators: Validators,
  name = baseName(file.path).toWellFormed(),
): HttpAnswer {
  const { info, range, body, whole, length, digest } = file;
  const headers = fileHeaders(name, validators);
  const bytes = whole ?? (body && { stream: body, length });
  if (bytes === undefined) {
    // A GET without a body is not modified; a HEAD is checked here.
    const isSame = request.method !== 'HEAD' || isNotModified(request.headers, validators);
    return isSame ? { status: 304, headers } : { status: 200, headers, headLength: length ?? 'unknown' };
  }
  const partial: Record<string, string> =
    range === undefined ? {} : { 'Content-Range': `bytes ${range.start}-${range.end}/${info.size}` };
  return {
    status: range === undefined ? 200 : 206,
    headers: { ...headers, ...partial, ...reprDigest(digest) },
    body: bytes,
  };
}

async function asJson(services: Services, file: Download): Promise<HttpAnswer> {
  const { info, body, whole, path } = file;
  if (whole === undefined && file.length === undefined) return asCounted(services, file);
  const [prefix, suffix] = frame(path, info.size);
  const length = prefix.length + encodedLength(info.size) + suffix.length;
  const headers = { 'Content-Type': 'application/json', ...NO_PAGE };
  if (whole !== undefined) {
    return { status: 200, headers, body: Buffer.concat([prefix, await services.base64.encodeAll(whole), suffix]) };
  }
  if (body === undefined) return { status: 200, headers, headLength: length };
  return {
    status: 200,
    headers,
    body: { stream: framed(prefix, body, services.base64.encode(), () => suffix), length },
  };
}

/** A file that is longer than its server reports has its size after the content. */
function asCounted(services: Services, { path, body, sentBytes }: Download): HttpAnswer {
  const headers = { 'Content-Type': 'application/json', ...NO_PAGE };
  if (body === undefined) return { status: 200, headers, headLength: 'unknown' };
  const [prefix] = frame(path);
  const suffix = (): Buffer => Buffer.from(`","size":${sentBytes()}}`);
  const stream = framed(prefix, body, services.base64.encode(), suffix);
  return { status: 200, headers, body: { stream, length: undefined } };
}

function frame(path: RemotePath, size?: number): [Buffer, Buffer] {
  const names = { filename: baseName(path).toWellFormed(), path: path.toWellFormed() };
  const head = JSON.stringify({ success: true, ...names, ...(size === undefined ? {} : { size }), encoding: 'base64' });
  return [Buffer.from(`${head.slice(0, -1)},"content":"`), Buffer.from('"}')];
}

/**
 * The store's own tag; otherwise a weak one from size and time, but none while the file could change without changing
 * them.
 */
export function validatorsOf(
  { operations }: Pick<Services, 'operations'>,
  connection: Connection,
  info: FileInfo,
): Validators {
  const { etag, size, modifiedAt, path } = info;
  const { ages, remotes } = operations;
  const isSettled = ages.isSettled(remotes.server(connection), remotes.place(connection, path), info);
  const weak = isSettled ? `W/"${size.toString(16)}-${modifiedAt.getTime().toString(16)}"` : undefined;
  return {
    entityTag: etag === undefined ? weak : `"${etag}"`,
    lastModified: modifiedAt.getTime() === 0 ? undefined : modifiedAt,
    isSettled,
  };
}
