import { Type } from 'typebox';
import { listOf, object, success, textOrNull } from '../../contract/schema.js';
import { connectionParameter, listFields } from '../../contract/file-request.js';
import { refusal } from '../../base/errors.js';
import { compressed } from '../../http/coding.js';
import type { HttpAnswer } from '../../http/types.js';
import * as changes from '../../operations/change.js';
import { referTo } from '../../operations/path-reference.js';
import { type ListedTree, listPage, listTree, openListing } from '../../operations/tree/list-tree.js';
import { createPatternFilter } from '../../operations/tree/path-filter.js';
import type { FileInfo } from '../../remotes/remote.js';
import { openCursor, sealCursor } from '../cursor.js';
import { endpoint, jsonContent } from '../endpoint.js';
import { answeredPath } from '../fields.js';
import { connectionIn, operationFor, type Services } from '../services.js';
import { jsonStream } from './content-stream.js';
import { fileExample } from '../../contract/file.js';
import { fileInfoSchema, fileInfoOf } from './file-info.js';

const folderExample = {
  name: 'archive',
  path: '/upload/archive',
  size: 0,
  isDirectory: true,
  modifiedAt: '2026-01-30T08:15:00.000Z',
};

const LINES = 'application/x-ndjson';

export const listFolder = endpoint({
  method: 'GET',
  path: '/api/list/:connectionId',
  access: 'read',
  operationId: 'listFolder',
  tag: 'Folders',
  summary: 'List a folder',
  description:
    'Files and folders of one folder: folders first, then by name in code-point order. With `recursive` all that lies below it, by path: a folder counts as if its path ended with a slash, and all below it follows. Links to folders are listed and not entered. With `limit` page after page; with `Accept: application/x-ndjson` one entry a line, unsorted, as the server reports them: a failure on the way cuts the connection. Where entries had to be left out, JSON has their number as `incomplete` and in `X-Incomplete`, and lines end with `{"incomplete":2}`. With `Accept-Encoding: gzip` long answers and lines leave compressed.',
  params: connectionParameter,
  query: Type.Object(listFields),
  answers: {
    200: {
      description: 'What the folder holds.',
      headers: ['Content-Encoding?', 'Vary?', 'X-Incomplete?'],
      content: {
        ...jsonContent(
          object('ListAnswer', {
            success: success(),
            path: answeredPath(),
            files: listOf(fileInfoSchema, 'Folders first, then by name; with `recursive` by path.'),
            nextCursor: Type.Optional(
              textOrNull('With `limit` alone: the `cursor` of the next page; null when nothing follows.'),
            ),
            incomplete: Type.Optional(
              Type.Integer({
                minimum: 1,
                description:
                  'Entries that the server lists and `files` lacks: a line that the gateway cannot read, a name that no path can have, or a link that leads nowhere. Absent where the list is complete. With `limit`: those in the folders that were read for this page.',
                examples: [2],
              }),
            ),
          }),
          { answer: { success: true, path: '/upload', files: [folderExample, fileExample] } },
        ),
        [LINES]: {
          schema: { type: 'string' },
          examples: {
            lines: { summary: 'One FileInfo a line', value: `${JSON.stringify(fileExample)}\n` },
            incomplete: {
              summary: 'Two entries were left out',
              value: `${JSON.stringify(fileExample)}\n{"incomplete":2}\n`,
            },
          },
        },
      },
    },
  },
  isRemote: true,
  errors: ['not_found', 'too_large'],
}).handle(async (input, services: Services) => {
  const { path, rawName, recursive, pattern, limit, cursor } = input.query;
  const filter = pattern === undefined ? undefined : createPatternFilter(pattern, 'pattern');
  const wantsLines = prefersLines(input.request.headers.get('accept'));
  if (wantsLines && limit !== undefined) throw refusal('bad_request', `limit is for JSON: ${LINES} has no pages`);
  if (cursor !== undefined && limit === undefined) throw refusal('bad_request', 'cursor must come with limit');
  const connection = await connectionIn(input, services);
  const reference = referTo(connection, path, 'path', rawName);
  const request = operationFor(input, connection, 'list', path ?? '');
  const lines = { isDeep: recursive, filter };
  if (wantsLines) {
    const stream = await openListing(services.operations, request, reference, lines, lineOf, endOf);
    const headers = { 'Content-Type': LINES, Vary: 'Accept' };
    return compressed(input.request, { status: 200, headers, body: { stream, length: undefined } }, true);
  }

  const { listEntries: mostEntries } = services.limits;
  const walked = { ...lines, mostEntries };
  const memory = input.request.claims.memory.hold();
  if (limit === undefined) {
    const isPlain = !recursive && filter === undefined;
    const { result } = await services.operations.run(request, (operation) =>
      isPlain
        ? changes.listFolder(operation, reference, memory, mostEntries)
        : listTree(operation, reference, walked, memory),
    );
    return compressed(input.request, answerOf(result));
  }

  const { signatures } = services.storage;
  const folder = rawName === undefined ? (path ?? null) : [path ?? null, rawName];
  const list = [input.caller.accountId, connection.id, folder, recursive, pattern ?? null];
  const after = cursor === undefined ? undefined : openCursor(signatures, list, cursor);
  const { result } = await services.operations.run(request, (operation) =>
    listPage(operation, reference, { ...walked, limit, after }, memory),
  );
  const nextCursor = result.end === undefined ? null : sealCursor(signatures, list, result.end);
  return compressed(input.request, answerOf(result, `,"nextCursor":${JSON.stringify(nextCursor)}`));
});

function answerOf({ path, files, incomplete }: ListedTree, more = ''): HttpAnswer {
  if (incomplete === 0) return jsonStream(listing(path, files, more));
  const answer = jsonStream(listing(path, files, `${more},"incomplete":${incomplete}`));
  return { ...answer, headers: { ...answer.headers, 'X-Incomplete': String(incomplete) } };
}

function* listing(path: string, files: Iterable<FileInfo>, more: string): Generator<string> {
  yield `{"success":true,"path":${JSON.stringify(path.toWellFormed())},"files":[`;
  let separator = '';
  for (const file of files) {
    yield `${separator}${JSON.stringify(fileInfoOf(file))}`;
    separator = ',';
  }
  yield `]${more}}`;
}

const endOf = (incomplete: number): string => `${JSON.stringify({ incomplete })}\n`;

const lineOf = (file: FileInfo): string => `${JSON.stringify(fileInfoOf(file))}\n`;

/** Whether NDJSON is accepted by name, and at least as preferred as JSON (RFC 9110, 12.5.1). */
function prefersLines(accept = ''): boolean {
  const weights = new Map(
    accept.split(',').map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return [type, weight === undefined ? 1 : Number(weight.slice(2)) || 0] as const;
    }),
  );
  const lines = weights.get(LINES) ?? 0;
  return lines > 0 && lines >= (weights.get('application/json') ?? 0);
}
