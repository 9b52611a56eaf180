/** Changes of a connection. */
import type { Values } from '../../../connections/definition.js';
import { endpoint } from '../../endpoint.js';
import { editedDraft } from '../connection-input.js';
import { schemas } from '../connection-schemas.js';
import { itemParameter } from '../fields.js';
import { actorOf, type AtItem, connectionAt, type ManageServices, refuseConfigured } from '../services.js';
import { EDIT_ERRORS, sample, shown, shownAnswer } from './view.js';

export const editConnection = endpoint({
  method: 'PATCH',
  path: '/manage/connections/:id',
  access: 'owner',
  operationId: 'editConnection',
  tag: 'Connections',
  summary: 'Edit a connection',
  description:
    'The fields that change. An absent secret stays, null takes it away; a change of `host` or `port` needs the password again.',
  params: itemParameter,
  body: schemas.changes,
  bodyExamples: { body: { name: 'Warehouse 2', pool: { maxSessions: 2 } } },
  answer: shownAnswer,
  errors: [...EDIT_ERRORS, 'unknown_item'],
}).handle(async (input, services: ManageServices) => {
  const connection = await connectionAt(services, input);
  refuseConfigured(connection.isConfigured, `connection ${connection.id}`);
  const draft = editedDraft(connection, input.body);
  await services.storage.management.connections.update(actorOf(input), connection, draft, Object.keys(input.body));
  return shown(services, input, connection.id);
});

export const activateConnection = endpoint({
  method: 'POST',
  path: '/manage/connections/:id/activate',
  access: 'owner',
  operationId: 'activateConnection',
  tag: 'Connections',
  summary: 'Switch a connection on',
  description: 'Its operations are let through again.',
  params: itemParameter,
  answer: shownAnswer,
  errors: EDIT_ERRORS,
}).handle((input, services: ManageServices) => switched(services, input, true));

export const deactivateConnection = endpoint({
  method: 'POST',
  path: '/manage/connections/:id/deactivate',
  access: 'owner',
  operationId: 'deactivateConnection',
  tag: 'Connections',
  summary: 'Switch a connection off',
  description: 'Its operations are refused with 403 `connection_inactive`.',
  params: itemParameter,
  answer: { ...shownAnswer, example: { ...sample, isActive: false } },
  errors: EDIT_ERRORS,
}).handle((input, services: ManageServices) => switched(services, input, false));

async function switched(services: ManageServices, input: AtItem, isActive: boolean): Promise<Values> {
  const connection = await connectionAt(services, input);
  refuseConfigured(connection.isConfigured, `connection ${connection.id}`);
  if (connection.isActive !== isActive) {
    await services.storage.management.connections.setActive(actorOf(input), connection, isActive);
  }
  return shown(services, input, connection.id);
}
