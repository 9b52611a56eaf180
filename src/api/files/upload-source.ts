/** The four forms of an upload: the source of its bytes, and its fields. */
import { buffer } from 'node:stream/consumers';
import { Type, type Static } from 'typebox';
import { type GatewayError, refusal } from '../../base/errors.js';
import { object, text } from '../../contract/schema.js';
import {
  fileName,
  namingFields,
  uploadQueryFields,
  uploadRequestFields,
  uploadUrlField,
} from '../../contract/file-request.js';
import { parseJsonBody, readJsonBody } from '../../http/body/json-body.js';
import { readMultipart } from '../../http/body/multipart-body.js';
import { createChecker } from '../../base/schema-check.js';
import type { RequestContext } from '../../http/types.js';
import { isAnnouncedShort, isHereWhole, takeShort } from '../../http/whole-body.js';
import { parseHttpUrl } from '../../operations/fetch-url.js';
import { nameFromDisposition } from '../../operations/names.js';
import type { PutRequest } from '../../operations/put.js';
import { BINARY } from '../fields.js';
import type { BodyForm } from '../endpoint.js';
import type { Services } from '../services.js';
import { through } from './content-stream.js';

const content = text('The file, as base64.');

export const uploadQuery = Type.Object(uploadQueryFields);
export type UploadQuery = Static<typeof uploadQuery>;
export const uploadFormFields = Type.Object(namingFields);
const jsonFields = Type.Object({
  url: Type.Optional(uploadUrlField),
  content: Type.Optional(content),
  ...namingFields,
});

export type UploadFields = Static<typeof uploadFormFields>;

export const uploadForms: Readonly<Record<string, BodyForm>> = {
  'multipart/form-data': {
    schema: object('UploadMultipart', {
      file: Type.Unsafe({ ...BINARY, description: 'The file.' }),
      ...uploadRequestFields,
    }),
    examples: {
      file: {
        summary: 'A file, and where to put it',
        value: { file: '(bytes)', path: '/upload', overwrite: false },
      },
    },
  },
  'application/json': {
    schema: {
      oneOf: [
        object('UploadBase64', { content, ...uploadRequestFields, filename: fileName }),
        object('UploadFromUrl', { url: uploadUrlField, ...uploadRequestFields }),
      ],
    },
    examples: {
      base64: {
        summary: 'Content as base64',
        value: { filename: 'hello.txt', content: 'SGVsbG8sIHdvcmxkIQo=', path: '/upload' },
      },
      url: {
        summary: 'Fetched from a URL',
        value: { url: 'https://example.com/report.pdf', path: '/upload', filename_template: '{date}-{filename}' },
      },
    },
  },
  'application/octet-stream': { schema: BINARY, examples: { bytes: { summary: 'The bytes', value: '(bytes)' } } },
};

/** `filename` is the name that the form itself offers if no field names the file. */
export interface UploadSource extends Pick<PutRequest, 'body' | 'size'> {
  readonly fields: UploadFields;
  readonly filename: string | undefined;
  /** All fields, after the body has ended; undefined if none can follow the content. */
  readonly lateFields: (() => Promise<UploadFields>) | undefined;
}

/** The whole body was read, and has the URL of the bytes. */
export interface UrlSource {
  readonly fields: UploadFields;
  readonly url: URL;
}

interface Given extends Pick<RequestContext, 'request' | 'noteFields'> {
  readonly query: UploadFields;
}

const MAX_FIELD_BYTES = 64 * 1024;
const MAX_FIELDS = 32;

const checkJsonFields = createChecker(jsonFields, 'the body');
/** Form fields arrive as text: "false" is a boolean. */
const checkFormFields = createChecker(uploadFormFields, 'the form', { coerce: true });

export async function sourceOf(input: Given, services: Services): Promise<UploadSource | UrlSource> {
  const type = (input.request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'multipart/form-data') return multipartSource(input);
  if (type === 'application/json') return jsonSource(input, services);
  if (type === 'application/octet-stream') return rawSource(input);
  throw refusal(
    'unsupported_media_type',
    'an upload is multipart/form-data, application/json or application/octet-stream',
  );
}

function rawSource({ request, query }: Given): UploadSource {
  const filename = nameFromDisposition(request.headers.get('content-disposition'));
  if (filename === undefined && query.filename === undefined)
    throw missing('filename (in the query or in Content-Disposition)');
  return {
    fields: {},
    filename,
    body: isAnnouncedShort(request) ? () => takeShort(request) : request.body,
    size: request.contentLength ?? (request.hasBody ? undefined : 0),
    lateFields: undefined,
  };
}

async function multipartSource({ request, noteFields }: Given): Promise<UploadSource> {
  const check = (fields: object): UploadFields => {
    noteFields(fields, uploadFormFields);
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

async function jsonSource({ request, noteFields }: Given, services: Services): Promise<UploadSource | UrlSource> {
  const check = (fields: object): Static<typeof jsonFields> => {
    noteFields(fields, jsonFields);
    return checkJsonFields(fields);
  };
  const withoutUrl = (given: Static<typeof jsonFields>): UploadFields => {
    if (given.url === undefined) return given;
    throw refusal('bad_request', 'url and content exclude each other');
  };
  const fromUrl = (fields: Static<typeof jsonFields>): UrlSource => {
    if (fields.url === undefined) throw missing('content (base64) or url');
    return { fields, url: parseHttpUrl(fields.url, 'url') };
  };
  const bounds = { streamField: 'content', maxBytes: services.limits.jsonBodyBytes };
  const isShort = isAnnouncedShort(request);
  if (isShort && isHereWhole(request)) {
    const { fields: given, content } = parseJsonBody(await takeShort(request), bounds);
    const fields = check(given);
    if (content === undefined) return fromUrl(fields);
    const body = (): Promise<Buffer> => services.base64.decodeAll(content);
    return { fields: withoutUrl(fields), filename: undefined, body, lateFields: undefined };
  }
  const body = await readJsonBody(request.body, { ...bounds, signal: request.signal });
  const fields = check(body.fields);
  if (body.content === undefined) {
    await body.rest();
    return fromUrl(fields);
  }
  const stream = through(body.content, services.base64.decode());
  return {
    fields: withoutUrl(fields),
    filename: undefined,
    body: isShort ? () => buffer(stream) : stream,
    lateFields: async () => withoutUrl(check(await body.rest())),
  };
}

function missing(field: string): GatewayError {
  return refusal('bad_request', `${field} is missing`);
}
