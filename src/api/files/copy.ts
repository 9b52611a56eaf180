import { type Static, Type } from 'typebox';
import { refusal } from '../../base/errors.js';
import { count, group, object, oneOf, success, text } from '../../contract/schema.js';
import { copyRequestFields } from '../../contract/file-request.js';
import * as operations from '../../operations/copy.js';
import { applyTemplate, checkTemplate, templateFacts } from '../../operations/names.js';
import { requireActive, requireOpen } from '../../connections/require.js';
import { referTo } from '../../operations/path-reference.js';
import { json } from '../../http/answer.js';
import type { HttpAnswer } from '../../http/types.js';
import { reprDigest, wantsReprDigest } from '../../http/repr-digest.js';
import { endpoint, jsonContent } from '../endpoint.js';
import { answeredPath, durationMs, keptTimeField, timeOf } from '../fields.js';
import { jobAnswer, shownJobExample } from '../jobs/job.js';
import { acceptedAsync, oneFile, prefersAsync } from '../jobs/respond-async.js';
import { connectionOf, type OperationContext, operationFor, type Services } from '../services.js';

const copyAnswer = object('CopyAnswer', {
  success: success(),
  source: group(
    { connectionId: text('Connection that the file was read from.'), path: answeredPath() },
    'Where it was read from.',
  ),
  destination: group(
    { connectionId: text('Connection that holds the copy.'), path: answeredPath() },
    'Where the copy is.',
  ),
  fileSize: count('Bytes.'),
  durationMs: durationMs(),
  modifiedAt: keptTimeField(),
  noDigest: Type.Optional(
    oneOf(['server_side_copy'], 'A digest was wanted, and none was computed: the store made the copy by itself.'),
  ),
});

const copyExample = {
  success: true,
  source: { connectionId: 'warehouse', path: '/upload/report.pdf' },
  destination: { connectionId: 'lake', path: '/reports/report.pdf' },
  fileSize: 48213,
  durationMs: 210,
} as const;

export const copyRequest = object('CopyRequest', copyRequestFields);

export const copyFile = endpoint({
  method: 'POST',
  path: '/api/copy',
  access: 'write',
  operationId: 'copyFile',
  tag: 'Files',
  summary: 'Copy a file between connections',
  description:
    'Streams a file from one connection to another, or lets the store copy it where both ends are one S3 store. Needs a plan with more than one connection, and a key with the scope `read` beside `write`. With `Prefer: respond-async` a job copies it, and continues on another node if its node dies; a file with a `rawName` is copied at once.',
  body: copyRequest,
  bodyExamples: {
    copy: {
      source_connection_id: 'warehouse',
      source_path: '/upload/report.pdf',
      dest_connection_id: 'lake',
      dest_path: '/reports/report.pdf',
    },
  },
  headers: ['Want-Repr-Digest'],
  idempotent: ({ body }) => ({ connections: [body.source_connection_id, body.dest_connection_id] }),
  skippable: true,
  answers: {
    200: {
      description: 'The copy is there.',
      headers: ['Repr-Digest?'],
      content: jsonContent(copyAnswer, { answer: copyExample }),
    },
    202: {
      description: 'With `Prefer: respond-async`: a job makes the copy.',
      headers: ['Location'],
      content: jsonContent(jobAnswer, { job: { job: shownJobExample } }),
    },
  },
  isRemote: true,
  errors: [
    'plan_required',
    'quota_exceeded',
    'not_found',
    'already_exists',
    'is_a_folder',
    'sessions_exhausted',
    'no_space',
    'size_mismatch',
    'readback_mismatch',
  ],
}).handle((input, services: Services) => copy(input, services, input.body));

/** Copies it, for the first time or again. */
export async function copy(
  input: OperationContext,
  services: Services,
  body: Static<typeof copyRequest>,
): Promise<HttpAnswer> {
  const { caller } = input;
  operations.requirePlanForCopies(services.operations, caller);
  // A key may be allowed to write but not to read; then it must not learn what exists.
  if (!caller.scopes.includes('read')) {
    throw refusal('scope_missing', 'this API key lacks the scope "read", which the source of a copy needs');
  }
  const source = await connectionOf(services, caller, body.source_connection_id);
  const target = await connectionOf(services, caller, body.dest_connection_id);
  requireActive(source);
  requireOpen(source);
  const { filename_template: template, source_raw_name: rawName, overwrite } = body;
  if (template !== undefined) checkTemplate(template);
  const modifiedAt = timeOf(body.mtime);
  const wanted = body.dest_path ?? body.source_path;
  if (rawName !== undefined && body.dest_path === undefined) {
    throw refusal('bad_request', 'dest_path is needed beside source_raw_name: the copy takes a name that is UTF-8');
  }
  const from = referTo(source, body.source_path, 'source_path', rawName, 'source_raw_name');
  const to = referTo(target, wanted, body.dest_path === undefined ? 'source_path' : 'dest_path');
  // A job keeps the source's time.
  if (rawName === undefined && modifiedAt === undefined && prefersAsync(input.request)) {
    const name = wanted.slice(wanted.lastIndexOf('/') + 1);
    const place = template === undefined ? name : applyTemplate(template, name, templateFacts());
    return acceptedAsync(
      await services.jobs.create(
        caller,
        {
          ...oneFile(overwrite),
          source: { connection: source, path: body.source_path },
          destination: { connection: target, path: wanted.slice(0, wanted.length - name.length) + place },
        },
        { signal: input.request.ending, intent: input.intent },
      ),
    );
  }
  const isAlways = source.digests === 'always' || target.digests === 'always';
  const wantsDigest = isAlways || wantsReprDigest(input.request.headers);
  const { result, durationMs, digest } = await services.operations.run(
    { ...operationFor(input, target, 'copy', wanted), repeated: { fields: body } },
    (operation) =>
      operations.copyFile(services.operations, operation, {
        source,
        target,
        from,
        to,
        template,
        overwrite,
        modifiedAt,
      }),
  );
  const answer = {
    success: true,
    source: { connectionId: source.id, path: result.from.toWellFormed() },
    destination: { connectionId: target.id, path: result.to },
    fileSize: result.size,
    durationMs,
    ...(modifiedAt === undefined ? {} : { modifiedAt: result.modifiedAt }),
    ...(result.isServerSide && wantsDigest ? { noDigest: 'server_side_copy' } : {}),
  };
  return json(200, answer, reprDigest(digest));
}
