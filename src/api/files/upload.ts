import { abortSignalOf } from '../../base/ending.js';
import { count, described, object, success, text } from '../../contract/schema.js';
import { connectionParameter } from '../../contract/file-request.js';
import type { Connection } from '../../connections/connection.js';
import { connectionSummary, summaryOf } from '../../contract/connection/schemas.js';
import { json } from '../../http/answer.js';
import { reprDigest } from '../../http/repr-digest.js';
import type { HttpAnswer, RequestContext } from '../../http/types.js';
import { checkTemplate, requireName, templateFacts } from '../../operations/names.js';
import type { KeptRequest, Operation } from '../../operations/operation.js';
import { referTo } from '../../operations/path-reference.js';
import { promisedDigest, type ExpectedDigest } from '../../operations/pump.js';
import { putUrl } from '../../operations/put-url.js';
import { putFile, type PutTarget } from '../../operations/put.js';
import { parseFileName } from '../../remotes/path.js';
import type { FileInfo } from '../../remotes/remote.js';
import type { Job } from '../../storage/storage.js';
import { shownTime } from '../../remotes/times.js';
import { endpoint, jsonContent } from '../endpoint.js';
import { FILE_NAME } from '../../contract/words.js';
import { answeredPath, durationMs, keptTimeField, timeOf, TRANSFER } from '../fields.js';
import { CONNECTION_EXAMPLE, TRANSFER_ID } from '../../contract/examples.js';
import { jobAnswer, shownJobExample } from '../jobs/job.js';
import { acceptedAsync, oneFile, prefersAsync } from '../jobs/respond-async.js';
import { atConnection, connectionIn, type OperationContext, operationFor, type Services } from '../services.js';
import {
  sourceOf,
  uploadForms,
  uploadQuery,
  type UploadFields,
  type UploadQuery,
  type UploadSource,
  type UrlSource,
} from './upload-source.js';

const transfer = object('Transfer', {
  id: text('Identifier.'),
  filename: text(FILE_NAME),
  path: answeredPath(),
  size: count('Bytes.'),
  durationMs: durationMs(),
  modifiedAt: keptTimeField(),
  connection: described(connectionSummary, 'The connection that the file went to.'),
});

const answerExample = {
  success: true,
  transfer: {
    id: TRANSFER_ID,
    filename: 'report.pdf',
    path: '/upload/report.pdf',
    size: 48213,
    durationMs: 84,
    connection: CONNECTION_EXAMPLE,
  },
} as const;

export const uploadFile = endpoint({
  method: 'POST',
  path: '/api/upload/:connectionId',
  access: 'write',
  operationId: 'uploadFile',
  tag: 'Files',
  summary: 'Upload a file',
  description:
    'Streams a file to the remote server in one of four forms: `multipart/form-data`, JSON with base64, JSON with a URL that the gateway fetches, ' +
    'or the raw bytes as `application/octet-stream`. The file becomes visible whole or not at all. The naming fields and `mtime` may be in the query in ' +
    'every form; a field of the body wins. Raw bytes need `filename` in the query or a Content-Disposition. ' +
    'With `Prefer: respond-async` a job fetches the URL, and continues on another node if its node dies; the other forms carry their bytes, and are stored at once.',
  params: connectionParameter,
  headers: ['Content-Digest', 'Repr-Digest', 'Want-Repr-Digest', 'Content-Disposition'],
  query: uploadQuery,
  streams: uploadForms,
  idempotent: atConnection,
  skippable: true,
  answers: {
    200: {
      description: 'The file is stored.',
      headers: ['Repr-Digest?'],
      content: jsonContent(object('UploadAnswer', { success: success(), transfer: described(transfer, TRANSFER) }), {
        answer: answerExample,
      }),
    },
    202: {
      description: 'With `Prefer: respond-async`, of a URL: a job fetches it.',
      headers: ['Location'],
      content: jsonContent(jobAnswer, { job: { job: { ...shownJobExample, type: 'upload', source: null } } }),
    },
  },
  isRemote: true,
  errors: [
    'bad_base64',
    'digest_mismatch',
    'quota_exceeded',
    'not_found',
    'already_exists',
    'is_a_folder',
    'no_space',
    'size_mismatch',
    'readback_mismatch',
    'fetch_failed',
    'share_exceeded',
  ],
}).handle(async (input, services: Services) => {
  const connection = await connectionIn(input, services);
  const digest = promisedDigest(input.request.headers);
  const source = await sourceOf(input, services);
  const fields = { ...input.query, ...source.fields };
  checkFields(connection, fields);
  const readsBack = input.query.verify === 'readback';
  if ('url' in source) return uploadUrl(input, services, connection, { ...source, fields, readsBack });
  return store(input, services, connection, fields, storing(services, connection, input.query, source, digest));
});

interface CheckedUrl extends UrlSource {
  readonly readsBack: boolean;
}

/** The url's file, for the first time or again. */
export async function uploadUrl(
  input: OperationContext,
  services: Services,
  connection: Connection,
  source: CheckedUrl,
): Promise<HttpAnswer> {
  const { fields, url, readsBack } = source;
  if (prefersAsync(input.request)) return acceptedAsync(await beginUpload(services, input, connection, source));
  const { path, filename, filename_template, overwrite, mtime } = fields;
  const kept = { path, filename, filename_template, overwrite, mtime, readsBack };
  const upload = fetching(services, connection, fields, source, readsBack);
  return store(input, services, connection, fields, upload, { fields: kept, url });
}

async function store(
  input: OperationContext,
  services: Services,
  connection: Connection,
  fields: UploadFields,
  { filename, run, isDated }: Upload,
  repeated?: KeptRequest,
): Promise<HttpAnswer> {
  const {
    result,
    transferId,
    durationMs,
    digest: taken,
  } = await services.operations.run(
    { ...operationFor(input, connection, 'upload', fields.path ?? '', filename), ...(repeated && { repeated }) },
    run,
  );
  const transfer = { id: transferId, filename: result.name, path: result.path, size: result.size, durationMs };
  const dated = isDated() ? { modifiedAt: shownTime(result) } : {};
  const answer = { success: true, transfer: { ...transfer, ...dated, connection: summaryOf(connection) } };
  return json(200, answer, reprDigest(taken));
}

/** Checks now what can be checked; the job checks it again when it runs. */
async function beginUpload(
  { urls, jobs }: Services,
  { caller, request, intent }: Pick<RequestContext, 'caller' | 'request' | 'intent'>,
  connection: Connection,
  { url, fields, readsBack }: CheckedUrl,
): Promise<Job> {
  const signal = abortSignalOf(request.ending);
  await urls.check(url, { owner: connection.accountId, signal });
  const { path, filename, filename_template: template, mtime, overwrite = true } = fields;
  const { now, uuid } = templateFacts();
  const time = timeOf(mtime)?.toISOString();
  const given = { ...(filename && { filename }), ...(template && { template }), ...(time && { mtime: time }) };
  const checked = readsBack ? { readsBack } : {};
  return jobs.upload(
    caller,
    {
      definition: oneFile(overwrite),
      destination: { connection, path },
      url,
      upload: { ...given, ...checked, now: now.toISOString(), uuid },
    },
    { signal: request.ending, intent },
  );
}

interface Upload {
  /** The name, if it is known. */
  readonly filename: string;
  readonly run: (operation: Operation) => Promise<FileInfo>;
  /** Whether a time was requested; known at the end. */
  readonly isDated: () => boolean;
}

function fetching(
  services: Services,
  connection: Connection,
  fields: UploadFields,
  { url }: UrlSource,
  readsBack: boolean,
): Upload {
  const { operations, urls, limits } = services;
  const targetAs = (offered: string | undefined): NamedTarget => targetOf(connection, fields, offered);
  const asked = { connection, urls, url, targetOf: targetAs, maxBytes: limits.uploadBytes, readsBack };
  const run = (operation: Operation): Promise<FileInfo> => putUrl(operations, operation, asked);
  return { filename: fields.filename ?? '', run, isDated: () => fields.mtime !== undefined };
}

function storing(
  services: Services,
  connection: Connection,
  query: UploadQuery,
  { fields, filename, lateFields, body, size }: UploadSource,
  digest: ExpectedDigest | undefined,
): Upload {
  let isDated = false;
  const target = (own: UploadFields): NamedTarget => {
    const named = targetOf(connection, { ...query, ...own }, filename);
    isDated = named.modifiedAt !== undefined;
    return named;
  };
  // A provisional name if the real one may still follow the content.
  const isNamed = (fields.filename ?? query.filename) !== undefined || (filename ?? '') !== '';
  const early =
    isNamed || lateFields === undefined
      ? target(fields)
      : { ...target({ ...fields, filename: 'unnamed' }), overwrite: true };
  const lateTarget = lateFields === undefined ? undefined : async () => target(await lateFields());
  const maxBytes = services.limits.uploadBytes;
  const readsBack = query.verify === 'readback';
  const request = { connection, target: early, lateTarget, body, size, digest, readsBack, maxBytes };
  const run = (operation: Operation): Promise<FileInfo> => putFile(services.operations, operation, request);
  return { filename: early.filename, run, isDated: () => isDated };
}

type NamedTarget = Extract<PutTarget, { readonly filename: string }>;

function targetOf(connection: Connection, fields: UploadFields, offered: string | undefined): NamedTarget {
  const filename = requireName(fields.filename ?? offered);
  checkFields(connection, fields);
  return {
    folder: referTo(connection, fields.path, 'path'),
    filename,
    template: fields.filename_template,
    overwrite: fields.overwrite ?? true,
    modifiedAt: timeOf(fields.mtime),
  };
}

/** Checks the fields before a byte is read. */
function checkFields(connection: Connection, fields: UploadFields): void {
  referTo(connection, fields.path, 'path');
  if (fields.filename !== undefined) parseFileName(fields.filename, 'filename');
  if (fields.filename_template !== undefined) checkTemplate(fields.filename_template);
  timeOf(fields.mtime);
}
