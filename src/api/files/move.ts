import type { Static } from 'typebox';
import { group, object, success, text } from '../../contract/schema.js';
import { connectionParameter, moveFields } from '../../contract/file-request.js';
import * as changes from '../../operations/change.js';
import { referTo } from '../../operations/path-reference.js';
import { endpoint } from '../endpoint.js';
import { durationMs, TRANSFER } from '../fields.js';
import { TRANSFER_ID } from '../../contract/examples.js';
import { connectionOf, type OperationContext, operationFor, type Services } from '../services.js';

export const moveRequest = object('MoveRequest', moveFields);

export const moveFile = endpoint({
  method: 'POST',
  path: '/api/move/:connectionId',
  access: 'write',
  operationId: 'moveFile',
  tag: 'Files',
  summary: 'Move or rename a file',
  description: 'Moves a file within a connection and creates missing folders.',
  params: connectionParameter,
  body: moveRequest,
  bodyExamples: { rename: { from: '/upload/report.pdf', to: '/archive/2026/report.pdf' } },
  idempotent: ({ params, body }) => ({ connections: [params.connectionId], from: body.from }),
  answer: {
    description: 'The file is at its new path.',
    schema: object('MoveAnswer', {
      success: success(),
      from: text('Former path.'),
      to: text('New path.'),
      durationMs: durationMs(),
      transfer: group({ id: text('Id of the transfer in the history.') }, TRANSFER),
    }),
    example: {
      success: true,
      from: '/upload/report.pdf',
      to: '/archive/2026/report.pdf',
      durationMs: 40,
      transfer: { id: TRANSFER_ID },
    },
  },
  isRemote: true,
  errors: ['quota_exceeded', 'not_found', 'already_exists', 'is_a_folder', 'no_space', 'size_mismatch'],
}).handle((input, services: Services) => move(input, services, input.params.connectionId, input.body));

/** Moves it, for the first time or again. */
export async function move(
  input: OperationContext,
  services: Services,
  connectionId: string,
  body: Static<typeof moveRequest>,
) {
  const connection = await connectionOf(services, input.caller, connectionId);
  const from = referTo(connection, body.from, 'from', body.rawName);
  const to = referTo(connection, body.to, 'to');
  const { result, transferId, durationMs } = await services.operations.run(
    { ...operationFor(input, connection, 'move', body.to), repeated: { fields: body } },
    (operation) => changes.moveFile(services.operations, operation, { connection, from, to, replace: body.overwrite }),
  );
  return {
    success: true as const,
    from: result.from.toWellFormed(),
    to: result.to,
    durationMs,
    transfer: { id: transferId },
  };
}
