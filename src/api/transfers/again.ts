/** Failed transfers, repeated with what the history keeps of their requests. */
import { Type } from 'typebox';
import { refusal } from '../../base/errors.js';
import { createChecker } from '../../base/schema-check.js';
import { ID, TRANSFER_ID } from '../../contract/examples.js';
import { namingFields } from '../../contract/file-request.js';
import { group, object, success, text } from '../../contract/schema.js';
import type { TransferType } from '../../contract/transfer.js';
import { json } from '../../http/answer.js';
import type { HttpAnswer } from '../../http/types.js';
import { parseHttpUrl } from '../../operations/fetch-url.js';
import type { Intent } from '../../base/intent.js';
import type { Repetition } from '../../storage/storage.js';
import { endpoints, jsonContent } from '../endpoint.js';
import { copy, copyRequest } from '../files/copy.js';
import { mkdir } from '../files/mkdir.js';
import { move, moveRequest } from '../files/move.js';
import { uploadUrl } from '../files/upload.js';
import { acceptedAnswers } from '../jobs/respond-async.js';
import { connectionOf, type OperationContext, type Services } from '../services.js';
import { transferOf } from './history.js';

const endpoint = endpoints(
  { key: 'Account', owner: 'Transfers' },
  { id: text('Identifier of a transfer.', { minLength: 1, examples: [TRANSFER_ID] }) },
);
export const repetitionEndpoints = endpoint.all;

const checkCopy = createChecker(copyRequest, 'the kept request');
const checkMove = createChecker(moveRequest, 'the kept request');
const checkUpload = createChecker(Type.Object({ ...namingFields, readsBack: Type.Boolean() }), 'the kept request');

endpoint('POST /api/transfers/:id/again', {
  access: 'write',
  operationId: 'repeatTransfer',
  summary: 'Repeat a failed transfer',
  description:
    'Runs a failed copy, move, upload of a URL or new folder again, with its source, target and options; `repeatable` of the transfer says whether that is possible. It is a new item in the history, of the present caller, with the present rights and connections. A copy needs the scope `read` beside `write`. With `Prefer: respond-async` a job makes a copy or fetches a URL. Bytes that a client sent are not kept. Deletions and commands are never repeated.',
  answers: {
    200: {
      description: 'It is done.',
      content: jsonContent(
        object('RepeatedTransferAnswer', {
          success: success(),
          transfer: group({ id: text('Id of the new transfer in the history.') }, 'The repetition.'),
        }),
        { answer: { success: true, transfer: { id: ID } } },
      ),
    },
    ...acceptedAnswers('With `Prefer: respond-async`: a job repeats it.'),
  },
  isRemote: true,
  errors: [
    ...(['unknown_item', 'not_repeatable', 'plan_required', 'quota_exceeded', 'not_found', 'already_exists'] as const),
    ...(['is_a_folder', 'sessions_exhausted', 'no_space', 'size_mismatch', 'readback_mismatch'] as const),
    ...(['fetch_failed', 'share_exceeded'] as const),
  ],
  owner: { operationId: 'repeatManagedTransfer' },
}).handle(async (input, services) => {
  // A key that only manages the account must not change files.
  if (!input.caller.scopes.includes('write')) {
    throw refusal('scope_missing', 'this API key lacks the scope "write", which a repetition needs');
  }
  const { id } = await transferOf(services.storage, input.caller, input.params.id);
  const { history } = services.storage;
  const kept = await history.repetition(input.caller.accountId, id);
  if (kept?.isRepeatable !== true) throw notRepeatable(id, kept);
  let againId = '';
  const intent: Intent = {
    begin: async (begun) => {
      againId = begun;
      if (!(await history.repeat(id, kept.againId, begun))) throw repeatedAlready(id);
    },
    // The new item shows how it ended.
    lose: () => undefined,
  };
  const answer = await run({ ...input, intent }, services, kept);
  return answer?.status === 202 ? answer : json(200, { success: true, transfer: { id: againId } });
});

/** The whole answer, where the operation gives one. */
async function run(
  input: OperationContext,
  services: Services,
  { type, connectionId, path, request, url }: Repetition,
): Promise<HttpAnswer | undefined> {
  const fields: unknown = request === null ? undefined : JSON.parse(request);
  if (type === 'copy') return copy(input, services, checkCopy(fields));
  if (type === 'move') return void (await move(input, services, connectionId, checkMove(fields)));
  if (type === 'mkdir') return void (await mkdir(input, services, connectionId, path));
  const { readsBack, ...named } = checkUpload(fields);
  const connection = await connectionOf(services, input.caller, connectionId);
  return uploadUrl(input, services, connection, { url: parseHttpUrl(url ?? '', 'url'), fields: named, readsBack });
}

const SENT: ReadonlySet<TransferType> = new Set(['upload', 'write', 'append']);

function notRepeatable(id: string, kept: Repetition | undefined) {
  if (kept === undefined || kept.status !== 'failed') {
    return refusal('not_repeatable', `transfer ${id} has not failed`);
  }
  const { type, jobId, againId } = kept;
  if (jobId !== null) {
    return refusal(
      'not_repeatable',
      `transfer ${id} is of job ${jobId}: POST /api/jobs/${jobId}/retry does its failed files again`,
    );
  }
  if (againId !== null) return repeatedAlready(id);
  if (SENT.has(type)) {
    return refusal(
      'not_repeatable',
      `transfer ${id} is of type ${type}, whose bytes are not kept: send the file again`,
    );
  }
  return refusal('not_repeatable', `transfer ${id} is of type ${type}, and its request was not kept: send it again`);
}

function repeatedAlready(id: string) {
  return refusal('not_repeatable', `transfer ${id} is repeated already: its repetition runs, or has succeeded`);
}
