/** POST /api/upload/:connectionId: four request forms become one PutRequest (interface 4.1). */
import { GatewayError } from '../base/errors.js';
import { json } from '../http/answer.js';
import { readJsonBody } from '../http/body/json-body.js';
import { readMultipart } from '../http/body/multipart-body.js';
import { createChecker } from '../http/schema-check.js';
import type { HttpAnswer, RequestContext } from '../http/types.js';
import type { Connection } from '../connections/connection.js';
import { parseFileName } from '../remotes/path.js';
import { parseHttpUrl } from '../operations/fetch-url.js';
import { checkTemplate, nameFromDisposition } from '../operations/names.js';
import { referTo } from '../operations/operation.js';
import { parseContentDigest, type ExpectedDigest } from '../operations/pump.js';
import { putFile, type PutRequest, type Target } from '../operations/put.js';
import { through } from './content-stream.js';
import { formFields, uploadFields } from './schemas.js';
import { connectionOf, connectionSummary, operationFor, type ApiServices } from './services.js';

interface UploadFields {
  readonly path?: string;
  readonly filename?: string;
  readonly overwrite?: boolean;
  readonly filename_template?: string;
}

interface JsonFields extends UploadFields {
  readonly url?: string;
  readonly content?: string;
}

/** Where the bytes come from; `filename` is what the form itself offers when no field names the file. */
interface UploadSource extends Pick<PutRequest, 'body' | 'size'> {
  readonly fields: UploadFields;
  readonly filename: string | undefined;
  /** All fields, once the body has ended; undefined when none can follow the content. */
  readonly lateFields: (() => Promise<UploadFields>) | undefined;
}

const MAX_FIELD_BYTES = 64 * 1024;
const MAX_FIELDS = 32;

const checkJsonFields = createChecker<JsonFields>(uploadFields, 'the body');
/** Form fields arrive as text: "false" is a boolean. */
const checkFormFields = createChecker<UploadFields>(formFields, 'the form', { coerce: true });

export async function upload(services: ApiServices, context: RequestContext): Promise<HttpAnswer> {
  const connection = await connectionOf(services, context.caller, context.params['connectionId'] ?? '');
  const query = context.query as UploadFields;
  const digest = parseContentDigest(context.request.headers.get('content-digest'));
  const form = formOf(context);
  if (form === 'json') return uploadJson(services, context, connection, query, digest);
  const source = form === 'multipart' ? await multipartSource(context) : rawSource(context);
  return store(services, context, connection, query, source, digest);
}

function formOf({ request }: RequestContext): 'multipart' | 'json' | 'raw' {
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'multipart/form-data') return 'multipart';
  if (type === 'application/json') return 'json';
  if (type === 'application/octet-stream') return 'raw';
  throw new GatewayError(
    'unsupported_media_type',
    'an upload is multipart/form-data, application/json or application/octet-stream',
    { step: 'request' },
  );
}

function rawSource({ request, query }: RequestContext): UploadSource {
  const filename = nameFromDisposition(request.headers.get('content-disposition'));
  if (filename === undefined && (query as UploadFields).filename === undefined)
    throw missing('filename (in the query or in Content-Disposition)');
  return {
    fields: {},
    filename,
    body: request.body,
    size: request.contentLength ?? (request.hasBody ? undefined : 0),
    lateFields: undefined,
  };
}

async function multipartSource({ request, noteFields }: RequestContext): Promise<UploadSource> {
  const check = (fields: object): UploadFields => {
    noteFields(fields, formFields);
    return checkFormFields(fields);
  };
  const form = await readMultipart(request.body, request.headers.get('content-type') ?? '', {
    fileField: 'file',
    maxFieldBytes: MAX_FIELD_BYTES,
    maxFields: MAX_FIELDS,
    signal: request.signal,
  });
  return {
    fields: check(form.fields),
    filename: form.file.filename,
    body: form.file.stream,
    lateFields: async () => check(await form.rest()),
  };
}

async function uploadJson(
  services: ApiServices,
  context: RequestContext,
  connection: Connection,
  query: UploadFields,
  digest: ExpectedDigest | undefined,
): Promise<HttpAnswer> {
  const { request, noteFields } = context;
  const check = (fields: object): JsonFields => {
    noteFields(fields, uploadFields);
    return checkJsonFields(fields);
  };
  const body = await readJsonBody(request.body, {
    streamField: 'content',
    maxBytes: services.limits.jsonBodyBytes,
    signal: request.signal,
  });
  const fields = check(body.fields);
  if (body.content === undefined) {
    await body.rest();
    return uploadUrl(services, context, connection, { ...query, ...fields });
  }
  if (fields.url !== undefined) throw urlWithContent();
  const source: UploadSource = {
    fields,
    filename: undefined,
    body: through(body.content, services.base64.decode()),
    lateFields: async () => {
      const all = check(await body.rest());
      if (all.url !== undefined) throw urlWithContent();
      return all;
    },
  };
  return store(services, context, connection, query, source, digest);
}

async function uploadUrl(
  services: ApiServices,
  context: RequestContext,
  connection: Connection,
  fields: JsonFields,
): Promise<HttpAnswer> {
  if (fields.url === undefined) throw missing('content (base64) or url');
  const url = parseHttpUrl(fields.url, 'url');
  checkFields(connection, fields);
  const request = operationFor(context, connection, 'upload', fields.path ?? '', fields.filename ?? '');
  const { result, transferId, durationMs } = await services.operations.run(request, async (operation) => {
    operation.mark('fetch');
    const asked = { owner: connection.accountId, signal: operation.signal };
    const { body, size, filename } = await services.urls.fetch(url, asked, operation.span.headers);
    try {
      const target = targetOf(connection, fields, filename);
      return await putFile(services.operations, operation, {
        connection,
        target,
        body,
        size,
        maxBytes: services.limits.uploadBytes,
      });
    } finally {
      body.destroy();
    }
  });
  return answer(connection, transferId, result, durationMs);
}

async function store(
  services: ApiServices,
  context: RequestContext,
  connection: Connection,
  query: UploadFields,
  source: UploadSource,
  digest: ExpectedDigest | undefined,
): Promise<HttpAnswer> {
  const fields = { ...query, ...source.fields };
  checkFields(connection, fields);
  const { lateFields } = source;
  const early = earlyTarget(connection, fields, source);
  const request = operationFor(
    context,
    connection,
    'upload',
    fields.path ?? '',
    'filename' in early ? early.filename : '',
  );
  const { result, transferId, durationMs } = await services.operations.run(request, (operation) =>
    putFile(services.operations, operation, {
      connection,
      target: early,
      lateTarget:
        lateFields === undefined
          ? undefined
          : async () => targetOf(connection, { ...query, ...(await lateFields()) }, source.filename),
      body: source.body,
      size: source.size,
      digest,
      maxBytes: services.limits.uploadBytes,
    }),
  );
  return answer(connection, transferId, result, durationMs);
}

/** A name to begin with, when the real one may still follow the content. */
function earlyTarget(connection: Connection, fields: UploadFields, source: UploadSource): Target {
  const named = fields.filename !== undefined || (source.filename ?? '') !== '';
  if (named || source.lateFields === undefined) return targetOf(connection, fields, source.filename);
  return { ...targetOf(connection, { ...fields, filename: 'unnamed' }, undefined), overwrite: true };
}

function targetOf(connection: Connection, fields: UploadFields, offered: string | undefined): Target {
  const name = fields.filename ?? offered;
  if (name === undefined || name === '') throw missing('filename');
  checkFields(connection, fields);
  return {
    folder: referTo(connection, fields.path, 'path'),
    filename: parseFileName(name, 'filename'),
    template: fields.filename_template,
    overwrite: fields.overwrite ?? true,
  };
}

/** What can be refused before a byte is read. */
function checkFields(connection: Connection, fields: UploadFields): void {
  referTo(connection, fields.path, 'path');
  if (fields.filename !== undefined) parseFileName(fields.filename, 'filename');
  if (fields.filename_template !== undefined) checkTemplate(fields.filename_template);
}

function answer(
  connection: Connection,
  id: string,
  file: { name: string; path: string; size: number },
  durationMs: number,
): HttpAnswer {
  const { name: filename, path, size } = file;
  return json(200, {
    success: true,
    transfer: { id, filename, path, size, durationMs, connection: connectionSummary(connection) },
  });
}

function missing(field: string): GatewayError {
  return new GatewayError('bad_request', `${field} is missing`, { step: 'request' });
}

function urlWithContent(): GatewayError {
  return new GatewayError('bad_request', 'url and content exclude each other', { step: 'request' });
}
