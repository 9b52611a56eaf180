/** Header fields of requests and answers, by name. */
import { SESSION_ENDS } from '../../contract/login.js';
import type { Header, Parameter, Schema } from './types.js';

type HeaderParameter = Omit<Parameter, 'in' | 'name'>;

const asked = (description: string, schema: Schema, example: string): HeaderParameter => ({
  description,
  schema,
  example,
});
const always = (description: string, schema: Schema): Header => ({ description, required: true, schema });
const text: Schema = { type: 'string' };
const BYTES: Schema = { type: 'string', pattern: '^\\d{1,15}$' };

export const REQUEST_HEADERS: Readonly<Record<string, HeaderParameter>> = {
  'X-Request-Id': asked(
    'Kept when it is valid, else the gateway makes one; it is in the answer and in the log.',
    { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
    'order-4711',
  ),
  Prefer: asked(
    '`handling=strict` (RFC 7240): query parameters and body fields that the endpoint does not know are 400 instead of being passed over.',
    text,
    'handling=strict',
  ),
  traceparent: asked(
    'Makes the spans of the request, and the requests made on its behalf, part of this trace (W3C Trace Context). One of another form is passed over.',
    { type: 'string', pattern: '^[\\da-f]{2}-[\\da-f]{32}-[\\da-f]{16}-[\\da-f]{2}' },
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  ),
  tracestate: asked(
    'Goes with `traceparent`; passed on unchanged.',
    { type: 'string', maxLength: 512 },
    'vendor=state',
  ),
  'Idempotency-Key': asked(
    'For 24 hours the same key and request give the first answer again, so that a repeated request is safe. Bare or quoted.',
    { type: 'string', minLength: 1, maxLength: 255 },
    '7c1f4a52-0a5f-4c7e-9a2e-0f5f1f1f2a11',
  ),
  'Content-Digest': asked(
    'sha-256 or sha-512 of the content (RFC 9530), compared before the file becomes visible.',
    text,
    'sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:',
  ),
  'Repr-Digest': asked(
    'The same as `Content-Digest`, of the file that the content is.',
    text,
    'sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:',
  ),
  'Want-Repr-Digest': asked(
    'Asks for the SHA-256 of the file (RFC 9530): taken while its bytes pass, and kept in the history.',
    text,
    'sha-256=10',
  ),
  'Content-Disposition': asked(
    'Names the file of an `application/octet-stream` body where the query does not.',
    text,
    'attachment; filename="report.pdf"',
  ),
  'Last-Event-ID': asked('`id` of the last event that the client has seen: the stream continues after it.', text, '41'),
  'Tus-Resumable': asked('Version of the protocol; needed.', { type: 'string', const: '1.0.0' }, '1.0.0'),
  'Upload-Length': asked('Bytes of the whole file, once they are known.', BYTES, '1048576'),
  'Upload-Defer-Length': asked(
    'In place of `Upload-Length`: that follows with the last bytes.',
    { type: 'string', const: '1' },
    '1',
  ),
  'Upload-Offset': asked('Where these bytes begin: the number of bytes that the gateway has.', BYTES, '0'),
  'Upload-Metadata': asked(
    'Pairs of a key and a value in base64, with commas between them: `filename`, and `path`, `overwrite`, `filename_template` and `mtime` as of any upload.',
    { type: 'string', maxLength: 8192 },
    'filename cmVwb3J0LnBkZg==,path L3VwbG9hZA==',
  ),
  'Upload-Checksum': asked(
    '`sha1` or `sha256` of the body, in base64: where it is another one, none of the body is kept.',
    text,
    'sha1 Lve95gjOVATpfV8EL5X4nxwjKHE=',
  ),
  'X-HTTP-Method-Override': asked(
    'The method that is meant.',
    { type: 'string', enum: ['HEAD', 'PATCH', 'DELETE'] },
    'PATCH',
  ),
  Range: asked('One range of bytes (RFC 9110, 14.2), answered with 206.', text, 'bytes=0-1023'),
  'If-Range': asked(
    'Send the range only while the file still has this strong ETag; with a weak one or a date the whole file comes.',
    text,
    '"2a-19bd0e9f800"',
  ),
  'If-None-Match': asked('ETags that the client holds; 304 when one is still right.', text, '"2a-19bd0e9f800"'),
  'If-Modified-Since': asked(
    '304 when the file is not newer. `If-None-Match` counts before it.',
    text,
    'Sat, 31 Jan 2026 12:00:00 GMT',
  ),
};

export const ANSWER_HEADERS: Readonly<Record<string, Header>> = {
  'X-Request-Id': always('Finds the request in the log of the gateway.', {
    type: 'string',
    pattern: '^[A-Za-z0-9._-]{1,128}$',
  }),
  'Cache-Control': always('Whether the answer may be kept.', text),
  'X-Ignored-Fields': {
    description:
      'Query parameters and body fields that the endpoint does not know and has passed over: names, percent-encoded, comma between them, `...` where there are more.',
    schema: text,
  },
  'Preference-Applied': {
    description: 'The preference of `Prefer` that was followed.',
    schema: { type: 'string', enum: ['handling=strict', 'respond-async'] },
  },
  Location: always('Address of what was begun.', { type: 'string' }),
  'Tus-Resumable': always('Version of the protocol of resumable uploads.', { type: 'string', const: '1.0.0' }),
  'Tus-Version': always('Versions that the gateway knows.', { type: 'string', const: '1.0.0' }),
  'Tus-Extension': always('What it can beyond the core.', text),
  'Tus-Checksum-Algorithm': always('Of `Upload-Checksum`.', { type: 'string', const: 'sha1,sha256' }),
  'Tus-Max-Size': always('The most bytes of one upload, where there is a limit.', { type: 'integer', minimum: 1 }),
  'Upload-Offset': always('Number of bytes that the gateway has.', { type: 'integer', minimum: 0 }),
  'Upload-Length': always('Bytes of the whole file.', { type: 'integer', minimum: 0 }),
  'Upload-Defer-Length': always('Its length is not known yet.', { type: 'string', const: '1' }),
  'Upload-Metadata': always('As its client wrote them.', text),
  'Upload-Expires': always('When it is removed, unless it is continued.', text),
  'X-Transfer-Id': always('The transfer of the finished upload, as the history holds it.', {
    type: 'string',
    format: 'uuid',
  }),
  'Retry-After': {
    description: 'Seconds after which another try makes sense. Absent where none does (`outcome_unrecorded`).',
    schema: { type: 'integer', minimum: 1 },
  },
  'Accept-Encoding': {
    description: 'Codings that a body may have: none, where the request was refused for its `Content-Encoding`.',
    schema: { type: 'string', const: 'identity' },
  },
  'WWW-Authenticate': always('How to authenticate.', { type: 'string', const: 'Bearer' }),
  'X-Session-End': {
    description: 'Why a login session is over, if that is known.',
    schema: { type: 'string', enum: SESSION_ENDS },
  },
  RateLimit: { description: 'What is left of the rate limit, where one is set.', schema: text },
  'RateLimit-Policy': { description: 'The rate limit, where one is set.', schema: text },
  'Server-Timing': {
    description:
      'Where the time of the operation went, in milliseconds: fetch, queue, connect, auth, open, transfer, verify, rename, record. The head of a download leaves before its bytes and has the stages before them.',
    schema: { type: 'string', pattern: '^[a-z]+;dur=[0-9.]+(, [a-z]+;dur=[0-9.]+)*$' },
  },
  'Idempotency-Replayed': {
    description: '`true` when this is the first answer to this Idempotency-Key, given again.',
    schema: { type: 'string', const: 'true' },
  },
  'Content-Disposition': always('Name of the file (RFC 6266).', { type: 'string', pattern: '^attachment' }),
  'Content-Encoding': {
    description: 'How the body is coded, where the request takes it: a long list by `gzip`, a page also by `br`.',
    schema: { type: 'string', enum: ['gzip', 'br'] },
  },
  'X-Incomplete': {
    description: 'How many entries the server lists that the answer lacks, because they cannot be read or addressed.',
    schema: { type: 'integer', minimum: 1 },
  },
  Vary: { description: 'The request fields that the answer depends on.', schema: text },
  'Content-Length': always('Bytes of the body.', { type: 'integer', minimum: 0 }),
  'Content-Range': always('Which bytes these are, of how many; with 416 how many there are.', {
    type: 'string',
    pattern: '^bytes (\\d+-\\d+|\\*)/\\d+$',
  }),
  'Accept-Ranges': always('Whether ranges can be asked for.', { type: 'string', enum: ['bytes', 'none'] }),
  ETag: {
    description:
      'Changes whenever the content does: strong from an object store; weak, from size and time, from other servers, and absent while the file is so young that a change might not show.',
    schema: { type: 'string', pattern: '^(W/)?".*"$' },
  },
  'Repr-Digest': {
    description:
      'SHA-256 of the file that was stored, copied or sent (RFC 9530), where the request or the connection asks and it is known before the answer leaves.',
    schema: { type: 'string', pattern: '^sha-256=:[A-Za-z0-9+/]{43}=:$' },
  },
  'Last-Modified': { description: 'Time of the last change, where the server keeps one.', schema: text },
  'Content-Security-Policy': always('Lets the page load nothing.', { type: 'string', pattern: "^default-src 'none'" }),
  'X-Content-Type-Options': { description: 'The type is the one given.', schema: { type: 'string', const: 'nosniff' } },
  'Set-Cookie': {
    description: 'The session cookie, or its end.',
    required: true,
    schema: { type: 'string', pattern: '^(__Host-)?ftg_session=' },
  },
  'X-Accel-Buffering': { description: 'No proxy may gather events.', schema: { type: 'string', const: 'no' } },
  'X-Robots-Tag': { description: 'No search engine may keep it.', schema: { type: 'string', pattern: '^noindex' } },
  'Cross-Origin-Resource-Policy': {
    description: 'No page of another site may embed it.',
    schema: { type: 'string', const: 'same-origin' },
  },
  'Cross-Origin-Opener-Policy': {
    description: 'No page of another site may hold on to it.',
    schema: { type: 'string', const: 'same-origin' },
  },
  'X-Frame-Options': { description: 'No page may show it in a frame.', schema: { type: 'string', const: 'DENY' } },
  'Permissions-Policy': { description: 'What the page may not use.', schema: text },
  'Referrer-Policy': {
    description: 'A link that is followed reveals nothing.',
    schema: { type: 'string', const: 'no-referrer' },
  },
};

/** Fields of every answer. */
export const EVERY_ANSWER = ['X-Request-Id', 'Cache-Control', 'X-Ignored-Fields', 'Preference-Applied'] as const;
/** Fields of every answer to a request with a key. */
export const KEYED_ANSWER = ['RateLimit', 'RateLimit-Policy'] as const;
/** Fields of every answer that may come from an operation. */
export const OPERATION_ANSWER = ['Server-Timing'] as const;
