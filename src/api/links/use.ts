/**
 * Uses of a link: the one operation that it allows. Only the method, the secret in the path and, for an upload, the
 * name of the file decide what happens. Programs get JSON, browsers that ask for a page get HTML.
 */
import { type Static, Type } from 'typebox';
import type { GatewayError } from '../../base/errors.js';
import { refusal } from '../../base/errors.js';
import { count, object, success, text } from '../../contract/schema.js';
import { FILE_NAME } from '../../contract/words.js';
import { answerOfError, json, NO_PAGE } from '../../http/answer.js';
import { reprDigest } from '../../http/repr-digest.js';
import type { HttpAnswer } from '../../http/types.js';
import { isAnnouncedShort, takeShort } from '../../http/whole-body.js';
import { linkPage, PRIVATE, wantsPage } from '../../links/page.js';
import { shownOnPage } from '../../links/refusals.js';
import { openDownload, type DownloadOptions } from '../../operations/get.js';
import { nameFromDisposition } from '../../operations/names.js';
import { fixedPath } from '../../operations/path-reference.js';
import { promisedDigest } from '../../operations/pump.js';
import { putFile } from '../../operations/put.js';
import { baseName } from '../../remotes/path.js';
import type { FileInfo } from '../../remotes/remote.js';
import type { OpenedLink } from '../../storage/storage.js';
import { jsonContent, endpoints } from '../endpoint.js';
import { BINARY } from '../fields.js';
import { asFile, conditions, validatorsOf } from '../files/download.js';
import type { Services } from '../services.js';
import {
  linkDigestOf,
  type LinkInput,
  mostBytesOf,
  notAllowed,
  open,
  type Opened,
  linkOperationOf,
  parameter,
  pathOf,
  PRIVATE_FIELDS,
  sentFields,
  stillOpens,
  linkTargetOf,
} from './opened.js';

const endpoint = endpoints('Links', parameter);
export const linkUseEndpoints = endpoint.all;

endpoint('PUT /l/:token', {
  access: 'public',
  operationId: 'sendToLink',
  summary: 'Upload a file by a link',
  description:
    'The body is the file, of any type. Its name is the `filename` of the link, else `filename` of the query, else that of a Content-Disposition. Without any of these, the `path` of the link is the file itself, unless it ends with a slash. The file becomes visible whole or not at all, and replaces another one only where the link says so. With `folder`, it goes into a folder below. Names that begin with a dot or hold a backslash are refused, and parts of files (`Content-Range`). No key is asked for, and none counts.',
  headers: ['Content-Digest', 'Repr-Digest', 'Want-Repr-Digest', 'Content-Disposition'],
  query: sentFields,
  streams: { 'application/octet-stream': { schema: BINARY, examples: { bytes: { value: '(bytes)' } } } },
  answers: {
    201: {
      description: 'The file is stored.',
      headers: ['Repr-Digest?', ...PRIVATE_FIELDS],
      content: jsonContent(
        object('SentAnswer', { success: success(), filename: text(FILE_NAME), size: count('Bytes.') }),
        { answer: { success: true, filename: 'report.pdf', size: 48213 } },
      ),
    },
  },
  isRemote: true,
  errors: [
    ...(['unknown_item', 'gone', 'forbidden', 'rate_limited', 'unsupported_media_type'] as const),
    ...(['digest_mismatch', 'quota_exceeded', 'already_exists', 'is_a_folder', 'no_space', 'size_mismatch'] as const),
    ...(['readback_mismatch', 'share_exceeded', 'too_large'] as const),
  ],
}).handle(async (input, services) => {
  try {
    const opened = await open(input, services);
    if (opened.link.operation !== 'upload') return notAllowed('this link is for a download: GET it', 'GET, HEAD');
    return await store(input, services, opened, input.query);
  } catch (error) {
    throw shownOnPage(error);
  }
});

endpoint('GET /l/:token', {
  access: 'public',
  head: true,
  operationId: 'openLink',
  summary: 'Download a file by a link, or open its page',
  description:
    'The file of a download link, with ranges and conditions as of any download; `HEAD` is no use of the link. A browser that asks for `text/html` gets a page for people instead, of upload links too, unless the query says `download`. Of a link with a `digest` the whole file comes, and its last bytes only where it is still that file.',
  headers: ['Want-Repr-Digest', 'Range', 'If-Range', 'If-None-Match', 'If-Modified-Since'],
  query: Type.Object({
    download: Type.Optional(text('The file itself, for any `Accept`.', { maxLength: 8, examples: ['1'] })),
  }),
  answers: {
    200: {
      description: 'The file, or the page.',
      headers: [
        ...['Content-Disposition?', 'Last-Modified?', 'ETag?', 'Accept-Ranges?', 'Content-Length?', 'Repr-Digest?'],
        ...['Content-Security-Policy', ...PRIVATE_FIELDS],
        ...['X-Frame-Options?', 'Cross-Origin-Opener-Policy?', 'Permissions-Policy?', 'Vary?'],
      ],
      content: {
        'application/octet-stream': { schema: BINARY, examples: { bytes: { value: '(bytes)' } } },
        'text/html': { schema: Type.String(), examples: { page: { value: '<!doctype html>' } } },
      },
    },
    206: {
      description: 'The range that was asked for.',
      headers: [
        ...['Content-Disposition', 'ETag', 'Last-Modified', 'Accept-Ranges', 'Content-Range', 'Content-Length'],
        ...['Content-Security-Policy', ...PRIVATE_FIELDS],
      ],
      content: { 'application/octet-stream': { schema: BINARY, examples: { bytes: { value: '(bytes)' } } } },
    },
    304: {
      description: 'The client has it already.',
      headers: [
        ...['Content-Disposition', 'ETag', 'Last-Modified', 'Accept-Ranges'],
        ...['Content-Security-Policy', ...PRIVATE_FIELDS],
      ],
    },
  },
  isRemote: true,
  errors: [
    ...(['unknown_item', 'gone', 'forbidden', 'rate_limited', 'quota_exceeded'] as const),
    ...(['not_found', 'is_a_folder', 'bad_range', 'size_mismatch', 'share_exceeded', 'too_large'] as const),
  ],
}).handle(async (input, services) => {
  const { headers, method } = input.request;
  const isInBrowser = method === 'GET' && wantsPage(headers);
  try {
    const opened = await open(input, services);
    if (isInBrowser && input.query.download === undefined) return await page(input, services, opened);
    if (opened.link.operation !== 'download') return notAllowed('this link is for an upload: PUT the file', 'PUT');
    return await fetch(input, services, opened);
  } catch (thrown) {
    const error = shownOnPage(thrown);
    if (!isInBrowser) throw error;
    const { status, headers: fields } = answerOfError(error);
    const page = linkPage(headers, { error });
    return { status, headers: { ...fields, ...page.headers }, body: page.body };
  }
});

async function store(
  input: LinkInput,
  services: Services,
  { link, connection }: Opened,
  { filename: asked, folder: below }: Static<typeof sentFields>,
): Promise<HttpAnswer> {
  const { operations, links } = services;
  const { request } = input;
  const { headers, contentLength, hasBody } = request;
  if (/^multipart\//i.test(headers.get('content-type') ?? '')) {
    throw refusal('unsupported_media_type', 'the body of a PUT is the file itself, not a form (curl -T, not -F)');
  }
  if (headers.has('content-range')) throw refusal('bad_request', 'Content-Range: a link takes whole files alone');
  const { folder, filename } = linkTargetOf(link, {
    filename: asked ?? nameFromDisposition(headers.get('content-disposition')),
    folder: below,
  });
  const promised = promisedDigest(headers);
  const maxBytes = mostBytesOf(link, services);
  if (maxBytes > 0 && (contentLength ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const { result, digest } = await operations.run(
    { ...linkOperationOf(input, { link, connection }, 'upload', folder, filename), link: links.service.useOf(link) },
    (operation) =>
      putFile(operations, operation, {
        connection,
        target: { folder: fixedPath(folder), filename, template: undefined, overwrite: link.overwrite },
        body: isAnnouncedShort(request) ? () => takeShort(request) : request.body,
        size: contentLength ?? (hasBody ? undefined : 0),
        // An upload with the digest of the link has kept any other promise.
        digest: linkDigestOf(link) ?? promised,
        maxBytes,
        permit: () => stillOpens(services, input.params.token),
      }),
  );
  return json(201, { success: true, filename: result.name, size: result.size }, { ...PRIVATE, ...reprDigest(digest) });
}

const WITHOUT_CONDITIONS = { request: { headers: new Map<string, string>() } };

async function fetch(input: LinkInput, services: Services, { link, connection }: Opened): Promise<HttpAnswer> {
  const { operations, links } = services;
  const { digest, filename } = link;
  const isHead = input.request.method === 'HEAD';
  const path = pathOf(link);
  const request = linkOperationOf(input, { link, connection }, isHead ? 'exists' : 'download', path);
  const validators = (info: FileInfo) => validatorsOf(services, connection, info);
  const file = await openDownload(
    operations,
    { ...request, link: isHead ? { id: link.id } : links.service.useOf(link) },
    fixedPath(path),
    {
      // Parts of a file cannot be compared with the digest of the whole.
      ...conditions(digest === null ? input : WITHOUT_CONDITIONS, isHead, validators),
      limit: limitOf(link),
      verify: digest === null ? undefined : (actual) => requireSame(digest, actual),
      shown: shownOnPage,
    },
  );
  const answer = asFile(input, file, validators(file.info), filename ?? undefined);
  const fields: Record<string, string> = digest === null ? {} : { 'Accept-Ranges': 'none' };
  return { ...answer, headers: { ...answer.headers, ...PRIVATE, ...NO_PAGE, ...fields } };
}

/** The page of a link for people: it uses nothing, and looks up only name and size of a file. */
async function page(input: LinkInput, services: Services, opened: Opened): Promise<HttpAnswer> {
  const { link } = opened;
  const { headers } = input.request;
  const brand = await services.storage.accounts.brand(link.accountId);
  if (link.operation === 'upload') {
    return { status: 200, ...linkPage(headers, { upload: link, maxBytes: mostBytesOf(link, services) }, brand) };
  }
  const path = pathOf(link);
  const request = { ...linkOperationOf(input, opened, 'exists', path), link: { id: link.id } };
  const { info } = await openDownload(services.operations, request, fixedPath(path), { factsOnly: true });
  const name = link.filename ?? baseName(path);
  const file = { name: name.toWellFormed(), size: info.size };
  return { status: 200, ...linkPage(headers, { download: link, file }, brand) };
}

const tooLarge = (most: number): GatewayError =>
  refusal('too_large', `this link is for files of at most ${most} bytes`);

function limitOf({ maxBytes }: OpenedLink): DownloadOptions['limit'] {
  return maxBytes === null ? undefined : { bytes: maxBytes, error: () => tooLarge(maxBytes) };
}

function requireSame(expected: Buffer, actual: Buffer): void {
  if (!actual.equals(expected)) throw refusal('gone', 'the file is no longer the one that this link is for');
}
