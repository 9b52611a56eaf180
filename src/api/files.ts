/** The other file endpoints: read, write, append, delete, move, mkdir, list, exists, copy, exec (interface 4.3 to 4.12). */
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { GatewayError } from '../base/errors.js';
import { json } from '../http/answer.js';
import { readJsonBody, type StreamedJson } from '../http/body/json-body.js';
import { createChecker } from '../http/schema-check.js';
import type { HttpAnswer, RequestContext } from '../http/types.js';
import type { Connection } from '../connections/connection.js';
import { baseName } from '../remotes/path.js';
import { appendToFile } from '../operations/append.js';
import { deleteFile, listFolder, moveFile, requireShell, runCommand } from '../operations/change.js';
import { copyFile } from '../operations/copy.js';
import { checkTemplate } from '../operations/names.js';
import { readFile } from '../operations/get.js';
import { referTo, requireActive } from '../operations/operation.js';
import { parseContentDigest } from '../operations/pump.js';
import { putFile } from '../operations/put.js';
import type { SortedListing } from '../operations/sorted-listing.js';
import { encodedLength } from '../workers/base64.js';
import { jsonOf, jsonString, through } from './content-stream.js';
import { fileInfoOf } from './files/file-info.js';
import { contentFields } from './schemas.js';
import { connectionOf, connectionSummary, operationFor, type ApiServices } from './services.js';

type Encoding = 'text' | 'base64';

function routeConnection(services: ApiServices, context: RequestContext): Promise<Connection> {
  return connectionOf(services, context.caller, context.params['connectionId'] ?? '');
}

export async function read(services: ApiServices, context: RequestContext): Promise<HttpAnswer> {
  const query = context.query as { path: string; rawName?: string; encoding: Encoding };
  const connection = await routeConnection(services, context);
  const request = operationFor(context, connection, 'read', query.path);
  const reference = referTo(connection, query.path, 'path', query.rawName);
  const isText = query.encoding === 'text';
  // Until the answer has left.
  const memory = context.request.claims.memory.hold();
  const { result } = await readFile(services.operations, request, reference, {
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
}

function utf8(content: Buffer): Buffer {
  if (isUtf8(content)) return content;
  throw new GatewayError('bad_request', 'the file is not UTF-8 text; read it with encoding=base64', {
    step: 'request',
  });
}

interface ContentFields {
  readonly path: string;
  readonly encoding?: Encoding;
  readonly content?: string;
}

interface ContentBody {
  readonly fields: ContentFields;
  /** The content's bytes; ends only when the whole body was well formed. */
  readonly bytes: Readable;
}

const checkContentFields = createChecker<ContentFields>(contentFields, 'the body');
/** Content this short may stand before path and encoding: it is held until they are known. */
const MAX_HELD_BYTES = 1024 * 1024;

/** The body of write and append. */
async function contentOf(services: ApiServices, { request, noteFields }: RequestContext): Promise<ContentBody> {
  const check = (fields: object): ContentFields => {
    noteFields(fields, contentFields);
    return checkContentFields(fields);
  };
  const body = await readJsonBody(request.body, {
    streamField: 'content',
    maxBytes: services.limits.jsonBodyBytes,
    signal: request.signal,
  });
  const { content } = body;
  if (content === undefined) {
    check(await body.rest());
    throw badRequest('content is missing');
  }
  const chunks = (content as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  const isComplete = body.fields['path'] !== undefined && body.fields['encoding'] !== undefined;
  const held = isComplete ? { pieces: [], ended: false } : await hold(chunks);
  if (!held.ended && body.fields['path'] === undefined) {
    content.destroy();
    throw badRequest(`path must stand before a content of more than ${MAX_HELD_BYTES} bytes`);
  }
  const fields = check(held.ended ? await body.rest() : body.fields);
  const text = Readable.from(textOf(held.pieces, held.ended ? undefined : chunks, body, fields, check), {
    objectMode: false,
  });
  return { fields, bytes: fields.encoding === 'base64' ? through(text, services.base64.decode()) : text };
}

async function* textOf(
  held: readonly Buffer[],
  chunks: AsyncIterator<Buffer> | undefined,
  body: StreamedJson,
  known: ContentFields,
  check: (fields: object) => ContentFields,
): AsyncGenerator<Buffer> {
  yield* held;
  if (chunks === undefined) return;
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  const late = check(await body.rest());
  if (late.encoding !== undefined && late.encoding !== (known.encoding ?? 'text')) {
    throw badRequest(`encoding must stand before a content of more than ${MAX_HELD_BYTES} bytes`);
  }
}

/** Takes chunks until they end or are too many to hold. */
async function hold(
  chunks: AsyncIterator<Buffer>,
): Promise<{ readonly pieces: readonly Buffer[]; readonly ended: boolean }> {
  const pieces: Buffer[] = [];
  for (let length = 0; length <= MAX_HELD_BYTES;) {
    const next = await chunks.next();
    if (next.done === true) return { pieces, ended: true };
    length += next.value.length;
    pieces.push(next.value);
  }
  return { pieces, ended: false };
}

function badRequest(text: string): GatewayError {
  return new GatewayError('bad_request', text, { step: 'request' });
}

export async function write(services: ApiServices, context: RequestContext): Promise<HttpAnswer> {
  const connection = await routeConnection(services, context);
  const digest = parseContentDigest(context.request.headers.get('content-digest'));
  const { fields, bytes } = await contentOf(services, context);
  const file = referTo(connection, fields.path, 'path');
  const request = operationFor(context, connection, 'write', fields.path);
  const { result } = await services.operations.run(request, (operation) =>
    putFile(services.operations, operation, {
      connection,
      target: { file, overwrite: true },
      body: bytes,
      digest,
      maxBytes: 0,
    }),
  );
  return json(200, { success: true, path: result.path, size: result.size });
}

export async function append(services: ApiServices, context: RequestContext): Promise<HttpAnswer> {
  const connection = await routeConnection(services, context);
  if (connection.type === 's3') {
    throw new GatewayError('unsupported_operation', 'append is not supported on S3 connections; use write instead', {
      step: 'request',
    });
  }
  const digest = parseContentDigest(context.request.headers.get('content-digest'));
  const { fields, bytes } = await contentOf(services, context);
  const reference = referTo(connection, fields.path, 'path');
  const request = operationFor(context, connection, 'append', fields.path);
  const { result, transferId, durationMs } = await services.operations.run(request, (operation) =>
    appendToFile(services.operations, operation, { connection, file: reference, body: bytes, digest }),
  );
  const { path, appendedBytes } = result;
  return json(200, {
    success: true,
    transfer: {
      id: transferId,
      filename: baseName(path),
      path,
      appendedBytes,
      durationMs,
      connection: connectionSummary(connection),
    },
  });
}

export async function remove(services: ApiServices, context: RequestContext): Promise<HttpAnswer> {
  const { path, rawName } = context.json as { path: string; rawName?: string };
  const connection = await routeConnection(services, context);
  const reference = referTo(connection, path, 'path', rawName);
  const { result } = await services.operations.run(operationFor(context, connection, 'delete', path), (operation) =>
    deleteFile(operation, reference),
  );
  return json(200, { success: true, path: result.toWellFormed() });
}

export async function move(services: ApiServices, context: RequestContext): Promise<HttpAnswer> {
  const body = context.json as { from: string; rawName?: string; to: string; overwrite: boolean };
  const connection = await routeConnection(services, context);
  const from = referTo(connection, body.from, 'from', body.rawName);
  const to = referTo(connection, body.to, 'to');
  const { result, transferId, durationMs } = await services.operations.run(
    operationFor(context, connection, 'move', body.to),
    (operation) => moveFile(operation, from, to, body.overwrite),
  );
  const moved = { from: result.from.toWellFormed(), to: result.to };
  return json(200, { success: true, ...moved, durationMs, transfer: { id: transferId } });
}

export async function list(services: ApiServices, context: RequestContext): Promise<HttpAnswer> {
  const { path } = context.query as { path?: string };
  const connection = await routeConnection(services, context);
  const reference = referTo(connection, path, 'path');
  const { result } = await services.operations.run(operationFor(context, connection, 'list', path ?? ''), (operation) =>
    listFolder(operation, reference, context.request.claims.memory.hold()),
  );
  return jsonStream(listing(result.path, result.files));
}

function* listing(path: string, files: SortedListing): Generator<string> {
  yield `{"success":true,"path":${JSON.stringify(path)},"files":[`;
  let separator = '';
  for (const file of files) {
    yield `${separator}${JSON.stringify(fileInfoOf(file))}`;
    separator = ',';
  }
  yield ']}';
}

interface CopyBody {
  readonly source_connection_id: string;
  readonly source_path: string;
  readonly source_raw_name?: string;
  readonly dest_connection_id: string;
  readonly dest_path?: string;
  readonly filename_template?: string;
  readonly overwrite: boolean;
}

export async function copy(services: ApiServices, context: RequestContext): Promise<HttpAnswer> {
  const body = context.json as CopyBody;
  const { caller } = context;
  if (services.operations.planOf(caller).connections === 1) {
    throw new GatewayError(
      'plan_required',
      `copy needs a plan with more than one connection; this account has ${caller.plan}`,
      { step: 'request' },
    );
  }
  // What a key may write it need not be allowed to read; nor may it learn what is there.
  if (!caller.scopes.includes('read')) {
    throw new GatewayError('scope_missing', 'this API key lacks the scope "read", which the source of a copy needs', {
      step: 'request',
    });
  }
  const source = await connectionOf(services, caller, body.source_connection_id);
  const target = await connectionOf(services, caller, body.dest_connection_id);
  requireActive(source);
  const template = body.filename_template;
  if (template !== undefined) checkTemplate(template);
  const wanted = body.dest_path ?? body.source_path;
  const rawName = body.source_raw_name;
  if (rawName !== undefined && body.dest_path === undefined) {
    throw badRequest('dest_path is needed beside source_raw_name: the copy takes a name that is UTF-8');
  }
  const from = referTo(source, body.source_path, 'source_path', rawName, 'source_raw_name');
  const to = referTo(target, wanted, body.dest_path === undefined ? 'source_path' : 'dest_path');
  const { result, durationMs } = await services.operations.run(
    operationFor(context, target, 'copy', wanted),
    (operation) =>
      copyFile(services.operations, operation, { source, target, from, to, template, overwrite: body.overwrite }),
  );
  return json(200, {
    success: true,
    source: { connectionId: source.id, path: result.from.toWellFormed() },
    destination: { connectionId: target.id, path: result.to },
    fileSize: result.size,
    durationMs,
  });
}

/** Output is gathered, made text of, and made JSON of. */
const OUTPUT_COPIES = 3;

export async function exec(services: ApiServices, context: RequestContext): Promise<HttpAnswer> {
  const { command, timeout } = context.json as { command: string; timeout: number };
  const connection = await routeConnection(services, context);
  requireShell(connection);
  // A shell's command line ends at a NUL: what follows would silently not run.
  if (command.includes('\0')) throw new GatewayError('bad_request', 'command must not hold a NUL', { step: 'request' });
  const memory = context.request.claims.memory.hold();
  const onOutput = (bytes: number): void => memory.require(bytes * OUTPUT_COPIES);
  const options = { timeoutMs: timeout, maxOutputBytes: services.limits.execOutputBytes, onOutput };
  // The command itself may hold secrets: the history shows the program's name alone, and none where the command begins
  // with anything else, such as `PASSWORD=… program`.
  const program = /^\s*([\w./+-]+)(?=\s|$)/.exec(command)?.[1] ?? '';
  const { result, durationMs } = await services.operations.run(
    operationFor(context, connection, 'exec', '', program.slice(0, 255)),
    (operation) => runCommand(operation, command, options),
  );
  // From here on the answer itself counts.
  memory.resize(0);
  return json(200, {
    success: true,
    exitCode: result.exitCode,
    stdout: result.stdout,
    stderr: result.stderr,
    durationMs,
  });
}

function jsonStream(pieces: Iterable<string>): HttpAnswer {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: jsonOf(pieces) };
}
