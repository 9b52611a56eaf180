/** The body of write and append: path and encoding as fields, `content` as a stream. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Type, type Static } from 'typebox';
import { refusal } from '../../base/errors.js';
import { object } from '../../contract/schema.js';
import { contentFields, writeFields } from '../../contract/file-request.js';
import { parseJsonBody, readJsonBody, type StreamedJson } from '../../http/body/json-body.js';
import { createChecker } from '../../base/schema-check.js';
import type { RequestContext } from '../../http/types.js';
import { isAnnouncedShort, isHereWhole, requireJsonType, takeShort } from '../../http/whole-body.js';
import type { WholeBody } from '../../operations/pump.js';
import type { Services } from '../services.js';
import { through } from './content-stream.js';

/** `content` is streamed and not checked by this schema; `contentOf` refuses a body without it. */
const content = { content: Type.Optional(contentFields.content) };
const streamed = Type.Object({ ...contentFields, ...content });
const dated = Type.Object({ ...writeFields, ...content });
export const contentRequest = object('ContentRequest', contentFields);
export const writeRequest = object('WriteRequest', writeFields);

type ContentFields = Static<typeof dated>;

interface ContentBody {
  readonly fields: ContentFields;
  /** The content's bytes; they are complete, or end, only if the whole body was well-formed. */
  readonly bytes: Readable | WholeBody;
}

/** The fields of append, and of write, which also sets the time. */
const FORMS = {
  append: { schema: streamed, check: createChecker(streamed, 'the body') },
  write: { schema: dated, check: createChecker(dated, 'the body') },
};
/** Content up to this length may come before path and encoding: it is held until they are known. */
const MAX_HELD_BYTES = 1024 * 1024;

export async function contentOf(
  { request, noteFields }: Pick<RequestContext, 'request' | 'noteFields'>,
  services: Pick<Services, 'base64' | 'limits'>,
  form: keyof typeof FORMS,
): Promise<ContentBody> {
  requireJsonType(request);
  const check = (fields: object): ContentFields => {
    noteFields(fields, FORMS[form].schema);
    return FORMS[form].check(fields);
  };
  const bounds = { streamField: 'content', maxBytes: services.limits.jsonBodyBytes };
  const isShort = isAnnouncedShort(request);
  if (isShort && isHereWhole(request)) {
    const { fields: given, content } = parseJsonBody(await takeShort(request), bounds);
    const fields = check(given);
    if (content === undefined) throw refusal('bad_request', 'content is missing');
    const isText = fields.encoding === 'text';
    return { fields, bytes: async () => (isText ? content : services.base64.decodeAll(content)) };
  }
  const body = await readJsonBody(request.body, { ...bounds, signal: request.signal });
  const { content } = body;
  if (content === undefined) {
    check(await body.rest());
    throw refusal('bad_request', 'content is missing');
  }
  const chunks = (content as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  const isComplete = body.fields['path'] !== undefined && body.fields['encoding'] !== undefined;
  const held = isComplete ? { pieces: [], ended: false } : await hold(chunks);
  if (!held.ended && body.fields['path'] === undefined) {
    content.destroy();
    throw refusal('bad_request', `path must come before a content of more than ${MAX_HELD_BYTES} bytes`);
  }
  const fields = check(held.ended ? await body.rest() : body.fields);
  const text = Readable.from(textOf(held.pieces, held.ended ? undefined : chunks, body, fields, check), {
    objectMode: false,
  });
  const stream = fields.encoding === 'base64' ? through(text, services.base64.decode()) : text;
  return { fields, bytes: isShort ? () => buffer(stream) : stream };
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
  if (late.encoding !== known.encoding) {
    throw refusal('bad_request', `encoding must come before a content of more than ${MAX_HELD_BYTES} bytes`);
  }
  if (late.mtime !== known.mtime) throw refusal('bad_request', 'mtime must come before content');
}

/** Reads chunks until they end or are too many to hold. */
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
