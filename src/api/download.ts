/** GET and HEAD /api/download/:connectionId (interface 4.2). */
import { fileHeaders, isNotModified, NO_SNIFFING, selectRange, type Validators } from '../http/answer.js';
import type { HttpAnswer, RequestContext } from '../http/types.js';
import type { Connection } from '../connections/connection.js';
import { baseName, type RemotePath } from '../remotes/path.js';
import type { FileInfo } from '../remotes/remote.js';
import { openDownload, type Download, type DownloadOptions } from '../operations/get.js';
import { referTo } from '../operations/operation.js';
import { placeName } from '../operations/put.js';
import { encodedLength } from '../workers/base64.js';
import { framed } from './content-stream.js';
import { connectionOf, operationFor, type ApiServices } from './services.js';

interface DownloadQuery {
  readonly path: string;
  readonly rawName?: string;
  readonly format: 'binary' | 'json';
}

export async function download(services: ApiServices, context: RequestContext): Promise<HttpAnswer> {
  const { path, rawName, format } = context.query as unknown as DownloadQuery;
  const connection = await connectionOf(services, context.caller, context.params['connectionId'] ?? '');
  const reference = referTo(connection, path, 'path', rawName);
  const isHead = context.request.method === 'HEAD';
  const request = operationFor(context, connection, isHead ? 'exists' : 'download', path);
  const validators = (info: FileInfo): Validators => validatorsOf(services, connection, info);
  const options =
    format === 'json' ? { skipBody: isHead ? () => true : undefined } : conditions(context, isHead, validators);
  const file = await openDownload(services.operations, request, reference, options);
  return format === 'json' ? asJson(services, file) : asFile(context, file, validators(file.info));
}

/** Range and the conditional fields (RFC 9110, 13 and 14). */
function conditions(
  { request }: RequestContext,
  isHead: boolean,
  validators: (info: FileInfo) => Validators,
): DownloadOptions {
  const { headers } = request;
  const range = headers.get('range');
  const conditional = headers.has('if-none-match') || headers.has('if-modified-since');
  return {
    select:
      range === undefined || isHead ? undefined : (info) => selectRange(headers, info.size, validators(info).entityTag),
    skipBody: isHead ? () => true : conditional ? (info) => isNotModified(headers, validators(info)) : undefined,
  };
}

function asFile({ request }: RequestContext, file: Download, validators: Validators): HttpAnswer {
  const { path, info, range, body, length } = file;
  const headers = fileHeaders(baseName(path).toWellFormed(), validators);
  if (body === undefined) {
    // A GET without a body was found to be not modified; a HEAD is looked at now.
    const isSame = request.method !== 'HEAD' || isNotModified(request.headers, validators);
    return isSame ? { status: 304, headers } : { status: 200, headers, headLength: info.size };
  }
  const partial: Record<string, string> =
    range === undefined ? {} : { 'Content-Range': `bytes ${range.start}-${range.end}/${info.size}` };
  return {
    status: range === undefined ? 200 : 206,
    headers: { ...headers, ...partial },
    body: { stream: body, length },
  };
}

function asJson(services: ApiServices, file: Download): HttpAnswer {
  const { info, body, path } = file;
  const [prefix, suffix] = frame(path, info.size);
  const length = prefix.length + encodedLength(info.size) + suffix.length;
  const headers = { 'Content-Type': 'application/json', ...NO_SNIFFING };
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
