/** The connections of an account: types, list, creation, changes and deletion. */
import { Type } from 'typebox';
import { mayUse } from '../../base/caller.js';
import { refusal } from '../../base/errors.js';
import { component, count, described, flag, listOf, object, text, withDefault } from '../../contract/schema.js';
import type { Values } from '../../contract/connection/definition.js';
import { reached } from '../../contract/connection/fields.js';
import { summaryFields, summaryOf } from '../../contract/connection/schemas.js';
import { CONNECTION_TYPES, definitionOf } from '../../contract/connection/types.js';
import { SLUG } from '../../contract/patterns.js';
import { type ConnectionDraft, type SecretChanges, settingsOf } from '../../storage/storage.js';
import { successAnswer } from '../fields.js';
import { cardSettingsOf } from './card-settings.js';
import {
  connectionView,
  draftOf,
  editedDraft,
  requireSecretsAgain,
  schemas,
  secretValues,
} from './connection-input.js';
import { requireWay } from './jump.js';
import { CLOSED, newName } from '../fields.js';
import { CONNECTION_EXAMPLE, ID, LATER, TIME } from '../../contract/examples.js';
import { actorOf, type AtItem, connectionAt, type Services, connectionOf, refuseConfigured } from '../services.js';
import { connectionTypeSchema, describedType } from './schemas.js';
import {
  EDIT_ERRORS,
  madeAnswer,
  managedConnection,
  sample,
  sampleInput,
  shownConnection,
  shownAnswer,
} from './view.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints({ key: 'Account', owner: 'Connections' });
export const connectionEndpoints = endpoint.all;

endpoint('GET /manage/connection-types', {
  operationId: 'listConnectionTypes',
  summary: 'List the types of connections',
  description: 'The fields of each type, as the dashboard draws its form from.',
  answer: {
    description: 'The types.',
    schema: component(
      'ConnectionTypesAnswer',
      Type.Object({ connectionTypes: Type.Array(connectionTypeSchema, { description: 'In the order of a form.' }) }),
    ),
    example: { connectionTypes: CONNECTION_TYPES.map(describedType) },
  },
}).handle(async () => ({ connectionTypes: CONNECTION_TYPES.map(describedType) }));

endpoint('GET /api/connections', {
  access: 'any',
  isEssential: true,
  operationId: 'listConnections',
  summary: 'List connections',
  description: 'The connections that this API key may use.',
  answer: {
    description: 'The connections.',
    schema: object('ConnectionsAnswer', {
      connections: listOf(
        object('Connection', { ...summaryFields, isActive: flag('Whether it is switched on.') }),
        'The connections that the API key may use.',
      ),
    }),
    example: { connections: [{ ...CONNECTION_EXAMPLE, isActive: true }] },
  },
  owner: {
    operationId: 'listManagedConnections',
    description: 'All connections of the account; `secrets` says which are set. `limit` 0 is unlimited.',
    answer: {
      schema: object('ManagedConnectionsAnswer', {
        connections: listOf(managedConnection, 'All connections of the account.'),
        limit: count('How many connections the plan has room for; 0 = unlimited.'),
      }),
      example: { connections: [sample], limit: 0 },
    },
  },
}).handle(async ({ caller }, { storage, operations }, reader) => {
  if (reader === 'owner') {
    const connections = await storage.management.connections.list(caller.accountId);
    return { connections: connections.map(connectionView), limit: operations.planOf(caller).connections };
  }
  const visible = (await storage.connections.list(caller.accountId)).filter(({ id }) => mayUse(caller, [id]));
  return { connections: visible.map((one) => ({ ...summaryOf(one), isActive: one.isActive })) };
});

endpoint('GET /manage/connections/:id', {
  operationId: 'showConnection',
  summary: 'Show a connection',
  description: 'With `card`: what the last good test learned of the server.',
  answer: {
    schema: managedConnection,
    example: {
      ...sample,
      card: { software: 'OpenSSH_9.2p1', home: '/home/gw', canExec: true, testedAt: TIME },
      set: [{ name: 'hours', facts: { opensAt: LATER } }],
    },
  },
  errors: ['unknown_connection'],
}).handle(async (input, services) => {
  const connection = await connectionAt(services, input);
  const { storage } = services;
  const set = await cardSettingsOf(connection, (id) => storage.management.connections.find(input.caller.accountId, id));
  return { ...connectionView(connection), card: connection.lastTest?.card ?? null, set };
});

endpoint('POST /manage/connections', {
  operationId: 'createConnection',
  summary: 'Register a connection',
  description: 'The fields depend on `type`. Secrets are kept encrypted and never shown again.',
  body: schemas.create,
  bodyExamples: { body: sampleInput },
  answer: madeAnswer,
  errors: ['plan_required', 'already_exists', 'unknown_item', 'in_use'],
}).handle(async (input, services) => {
  return created(services, input, draftOf(input.body));
});

endpoint('POST /manage/connections/:id/duplicate', {
  operationId: 'duplicateConnection',
  summary: 'Duplicate a connection',
  description:
    'With its secrets. Also one of the configuration file, to have one that can be edited: that copy has no secrets but those given here, and no jump host of that file.',
  body: component(
    'DuplicateRequest',
    Type.Unsafe<SecretChanges & { readonly id?: string; readonly name?: string; readonly via?: string | null }>({
      type: 'object',
      properties: {
        id: text('Identifier.', { pattern: SLUG }),
        name: newName(),
        via: described(reached.via.schema, 'The jump host of the copy, if not that of its source; null = none.'),
        ...schemas.secrets,
      },
      ...CLOSED,
    }),
  ),
  bodyExamples: { body: { name: 'Warehouse (copy)', id: 'warehouse-2' } },
  answer: madeAnswer,
  errors: ['unknown_connection', 'plan_required', 'already_exists', 'in_use'],
}).handle(async (input, services) => {
  const source = await connectionAt(services, input);
  const { id, name, via = source.settings.via, ...given } = input.body;
  // The operator's secrets are for this connection only: an editor of the copy could send them anywhere.
  const opened = source.hasConfiguredSecrets ? undefined : await connectionOf(services, input.caller, source.id);
  const draft: ConnectionDraft = {
    id,
    name: name ?? `${source.name} (copy)`,
    type: source.type,
    isActive: source.isActive,
    settings: settingsOf({ ...source.settings, via }, definitionOf(source)),
    secrets: given,
    hostKeys: source.hostKeys,
    keyPairId: source.keyPairId,
  };
  if (opened !== undefined) requireSecretsAgain(source, draft);
  return created(services, input, { ...draft, secrets: secretValues(draft, opened) }, source.id);
});

async function created(
  services: Services,
  input: Omit<AtItem, 'params'>,
  draft: ConnectionDraft,
  copiedFrom?: string,
): Promise<Values> {
  await requireWay(services, input.caller.accountId, draft, undefined);
  const limit = services.operations.planOf(input.caller).connections;
  const { connections } = services.storage.management;
  return shownConnection(services, input, await connections.create(actorOf(input), draft, limit, copiedFrom));
}

endpoint('PATCH /manage/connections/:id', {
  operationId: 'editConnection',
  summary: 'Edit a connection',
  description:
    'The fields that change. An absent secret stays, null takes it away; a change of `host`, `port`, `proxy` or `via` needs the password again. ' +
    'A jump host cannot move while stored secrets of others go through it: 409.',
  body: schemas.changes,
  bodyExamples: { body: { name: 'Warehouse 2', pool: { maxSessions: 2 } } },
  answer: shownAnswer,
  errors: [...EDIT_ERRORS, 'unknown_item', 'in_use'],
}).handle(async (input, services) => {
  const connection = await connectionAt(services, input);
  refuseConfigured(connection.isConfigured, `connection ${connection.id}`);
  const draft = editedDraft(connection, input.body);
  await requireWay(services, input.caller.accountId, { ...draft, id: connection.id }, connection);
  await services.storage.management.connections.update(actorOf(input), connection, draft, Object.keys(input.body));
  return shownConnection(services, input, connection.id);
});

endpoint('POST /manage/connections/:id/activate', {
  operationId: 'activateConnection',
  summary: 'Switch a connection on',
  description: 'Its operations are let through again.',
  answer: shownAnswer,
  errors: EDIT_ERRORS,
}).handle((input, services) => switched(services, input, true));

endpoint('POST /manage/connections/:id/deactivate', {
  operationId: 'deactivateConnection',
  summary: 'Switch a connection off',
  description: 'Its operations are refused with 403 `connection_inactive`.',
  answer: { ...shownAnswer, example: { ...sample, isActive: false } },
  errors: EDIT_ERRORS,
}).handle((input, services) => switched(services, input, false));

async function switched(services: Services, input: AtItem, isActive: boolean): Promise<Values> {
  const connection = await connectionAt(services, input);
  refuseConfigured(connection.isConfigured, `connection ${connection.id}`);
  if (connection.isActive !== isActive) {
    await services.storage.management.connections.setActive(actorOf(input), connection, isActive);
  }
  return shownConnection(services, input, connection.id);
}

endpoint('DELETE /manage/connections/:id', {
  operationId: 'deleteConnection',
  summary: 'Delete a connection',
  description:
    'Without `confirm` it is 409 when others depend on it. API keys that are for this connection alone are revoked; its watched folders end, and those that copy to it copy no more. ' +
    'Its unfinished resumable uploads are removed from its server, as far as that answers within five seconds.',
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
    const {
      apiKeys,
      watchedFolders,
      connections: behind,
      runningTransfers,
    } = await connections.dependents(input.caller.accountId, connection.id);
    const named = [
      ...apiKeys.map(({ name, willBeRevoked }) => `API key "${name}"${willBeRevoked ? ' (would be revoked)' : ''}`),
      ...watchedFolders.map(({ name }) => `watched folder "${name}"`),
      ...behind.map(({ id }) => `connection ${id}, which leads through it`),
      ...(runningTransfers === 0 ? [] : [`${runningTransfers} running transfers`]),
    ];
    if (named.length > 0) {
      throw refusal(
        'in_use',
        `connection ${connection.id} is used by ${named.join(', ')}; confirm=true deletes it all the same`,
      );
    }
  }
  await endUploads(services, input, connection.id);
  await connections.remove(actorOf(input), connection);
  return { success: true };
});

/** Removes unfinished uploads from the server, which is impossible without the connection. Never rejects. */
async function endUploads(services: Services, { caller }: AtItem, connectionId: string): Promise<void> {
  // A connection whose secrets cannot be opened is deleted nevertheless.
  const opened = await connectionOf(services, caller, connectionId).catch(() => undefined);
  const uploads = opened === undefined ? 0 : await services.uploads.endAll(opened);
  if (uploads === 0) return;
  services.log('warn', 'unfinished uploads of a deleted connection are still on its server', { connectionId, uploads });
}

endpoint('GET /manage/connections/:id/dependents', {
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
        'The watched folders, those that copy to it included.',
      ),
      connections: listOf(
        Type.Object({ id: text('Id of the connection.'), name: text('Its name.') }),
        'The connections that lead through it as their jump host.',
      ),
      runningTransfers: count('How many operations run on it now.'),
    }),
    example: {
      apiKeys: [{ id: ID, name: 'ci', willBeRevoked: true }],
      watchedFolders: [],
      connections: [],
      runningTransfers: 0,
    },
  },
  errors: ['unknown_connection'],
}).handle(async (input, services) => {
  const { id } = await connectionAt(services, input);
  return services.storage.management.connections.dependents(input.caller.accountId, id);
});
