/** The end of a connection, and what it would take along. */
import { Type } from 'typebox';
import { count, flag, listOf, object, text, withDefault } from '../../../base/schema.js';
import { successAnswer } from '../../fields.js';
import { CLOSED, ID } from '../fields.js';
import { actorOf, connectionAt, ownerEndpoints, refusal, refuseConfigured } from '../services.js';
import { EDIT_ERRORS } from './view.js';

const endpoint = ownerEndpoints('Connections');

export const deleteConnection = endpoint('DELETE /manage/connections/:id', {
  operationId: 'deleteConnection',
  summary: 'Delete a connection',
  description:
    'Without `confirm` it is 409 when others depend on it. API keys that are for this connection alone are revoked; its watched folders end.',
  query: Type.Object(
    { confirm: withDefault(flag('Delete it although others depend on it.', { examples: [true] }), false) },
    CLOSED,
  ),
  answer: { schema: successAnswer, example: { success: true } },
  errors: [...EDIT_ERRORS, 'in_use'],
}).handle(async (input, services) => {
  const connection = await connectionAt(services, input);
  refuseConfigured(connection.isConfigured, `connection ${connection.id}`);
  const { connections } = services.storage.management;
  if (!input.query.confirm) {
    const { apiKeys, watchedFolders, runningTransfers } = await connections.dependents(
      input.caller.accountId,
      connection.id,
    );
    const named = [
      ...apiKeys.map(({ name, willBeRevoked }) => `API key "${name}"${willBeRevoked ? ' (would be revoked)' : ''}`),
      ...watchedFolders.map(({ name }) => `watched folder "${name}"`),
      ...(runningTransfers === 0 ? [] : [`${runningTransfers} running transfers`]),
    ];
    if (named.length > 0) {
      throw refusal(
        'in_use',
        `connection ${connection.id} is used by ${named.join(', ')}; confirm=true deletes it all the same`,
      );
    }
  }
  await connections.remove(actorOf(input), connection);
  return { success: true };
});

export const showDependents = endpoint('GET /manage/connections/:id/dependents', {
  operationId: 'showDependents',
  summary: 'What depends on a connection?',
  description: 'What its deletion would take along.',
  answer: {
    schema: object('Dependents', {
      apiKeys: listOf(
        Type.Object({
          id: text('Id of the API key.'),
          name: text('Its name.'),
          willBeRevoked: flag('Whether it is for this connection alone and ends with it.'),
        }),
        'API keys.',
      ),
      watchedFolders: listOf(
        Type.Object({ id: text('Id of the watched folder.'), name: text('Its name.') }),
        'The watched folders.',
      ),
      runningTransfers: count('How many operations run on it now.'),
    }),
    example: {
      apiKeys: [{ id: ID, name: 'ci', willBeRevoked: true }],
      watchedFolders: [],
      runningTransfers: 0,
    },
  },
  errors: ['unknown_connection'],
}).handle(async (input, services) => {
  const { id } = await connectionAt(services, input);
  return services.storage.management.connections.dependents(input.caller.accountId, id);
});
