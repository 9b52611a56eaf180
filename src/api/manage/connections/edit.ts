/** Changes of a connection. */
import type { Values } from '../../../connections/definition.js';
import { editedDraft } from '../connection-input.js';
import { schemas } from '../connection-schemas.js';
import {
  actorOf,
  type AtItem,
  connectionAt,
  type ManageServices,
  ownerEndpoints,
  refuseConfigured,
} from '../services.js';
import { EDIT_ERRORS, sample, shown, shownAnswer } from './view.js';

const endpoint = ownerEndpoints('Connections');

export const editConnection = endpoint('PATCH /manage/connections/:id', {
  operationId: 'editConnection',
  summary: 'Edit a connection',
  description:
    'The fields that change. An absent secret stays, null takes it away; a change of `host` or `port` needs the password again.',
  body: schemas.changes,
  bodyExamples: { body: { name: 'Warehouse 2', pool: { maxSessions: 2 } } },
  answer: shownAnswer,
  errors: [...EDIT_ERRORS, 'unknown_item'],
}).handle(async (input, services) => {
  const connection = await connectionAt(services, input);
  refuseConfigured(connection.isConfigured, `connection ${connection.id}`);
  const draft = editedDraft(connection, input.body);
  await services.storage.management.connections.update(actorOf(input), connection, draft, Object.keys(input.body));
  return shown(services, input, connection.id);
});

export const activateConnection = endpoint('POST /manage/connections/:id/activate', {
  operationId: 'activateConnection',
  summary: 'Switch a connection on',
  description: 'Its operations are let through again.',
  answer: shownAnswer,
  errors: EDIT_ERRORS,
}).handle((input, services) => switched(services, input, true));

export const deactivateConnection = endpoint('POST /manage/connections/:id/deactivate', {
  operationId: 'deactivateConnection',
  summary: 'Switch a connection off',
  description: 'Its operations are refused with 403 `connection_inactive`.',
  answer: { ...shownAnswer, example: { ...sample, isActive: false } },
  errors: EDIT_ERRORS,
}).handle((input, services) => switched(services, input, false));

async function switched(services: ManageServices, input: AtItem, isActive: boolean): Promise<Values> {
  const connection = await connectionAt(services, input);
  refuseConfigured(connection.isConfigured, `connection ${connection.id}`);
  if (connection.isActive !== isActive) {
    await services.storage.management.connections.setActive(actorOf(input), connection, isActive);
  }
  return shown(services, input, connection.id);
}
