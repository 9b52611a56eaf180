/** The connections of an account: list, create, edit, switch, duplicate, delete; their host keys and their test. */
import { GatewayError } from '../../base/errors.js';
import { json } from '../../http/answer.js';
import type { HttpAnswer, RequestContext } from '../../http/types.js';
import type { Connection } from '../../connections/connection.js';
import {
  type ConnectionDraft,
  draftRow,
  joinConnection,
  type ManagedConnection,
  type SecretChanges,
} from '../../storage/storage.js';
import { connectionView, draftOf, editedDraft, requireSecretsAgain, secretValues } from './connection-input.js';
import type { ConnectionInput } from './connection-schemas.js';
import type { TestReport } from './connection-test.js';
import {
  actorOf,
  type AtItem,
  managedConnection,
  type ManageServices,
  openedConnection,
  refuseConfigured,
  unknownConnection,
} from './services.js';

export async function listConnections(services: ManageServices, { caller }: RequestContext): Promise<HttpAnswer> {
  const connections = await services.storage.management.connections.list(caller.accountId);
  const limit = services.planOf(caller.plan).connections;
  return json(200, { connections: connections.map(connectionView), limit });
}

export async function createConnection(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const draft = draftOf(context.json as ConnectionInput);
  return created(services, context, draft);
}

export async function showConnection(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const connection = await managedConnection(services, atItem(context));
  return json(200, { ...connectionView(connection), card: connection.lastTest?.card ?? null });
}

export async function editConnection(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const connection = await managedConnection(services, atItem(context));
  refuseConfigured(connection.isConfigured, `connection ${connection.id}`);
  const patch = context.json as Record<string, unknown>;
  const draft = editedDraft(connection, patch);
  await services.storage.management.connections.update(actorOf(context), connection, draft, Object.keys(patch));
  return shown(services, context, connection.id);
}

export function switchConnection(isActive: boolean) {
  return async (services: ManageServices, context: RequestContext): Promise<HttpAnswer> => {
    const connection = await managedConnection(services, atItem(context));
    refuseConfigured(connection.isConfigured, `connection ${connection.id}`);
    if (connection.isActive !== isActive) {
      await services.storage.management.connections.setActive(actorOf(context), connection, isActive);
    }
    return shown(services, context, connection.id);
  };
}

type DuplicateBody = SecretChanges & { readonly id?: string; readonly name?: string };

export async function duplicateConnection(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const source = await managedConnection(services, atItem(context));
  const { id, name, ...given } = context.json as DuplicateBody;
  // The operator's secrets are for this one alone: whoever may edit the copy could lead them anywhere.
  const opened = source.hasConfiguredSecrets ? undefined : await openedConnection(services, context.caller, source.id);
  const draft: ConnectionDraft = {
    id,
    name: name ?? `${source.name} (copy)`,
    type: source.type,
    isActive: source.isActive,
    settings: source.settings,
    secrets: given,
    hostKeys: source.hostKeys,
    keyPairId: source.keyPairId,
  };
  return created(services, context, { ...draft, secrets: secretValues(draft, opened) }, source.id);
}

export async function showDependents(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { id } = await managedConnection(services, atItem(context));
  return json(200, await services.storage.management.connections.dependents(context.caller.accountId, id));
}

export async function deleteConnection(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const connection = await managedConnection(services, atItem(context));
  refuseConfigured(connection.isConfigured, `connection ${connection.id}`);
  const { connections } = services.storage.management;
  const { confirm } = context.query as { readonly confirm: boolean };
  if (!confirm) {
    const { apiKeys, watchedFolders, runningTransfers } = await connections.dependents(
      context.caller.accountId,
      connection.id,
    );
    const named = [
      ...apiKeys.map(({ name, willBeRevoked }) => `API key "${name}"${willBeRevoked ? ' (would be revoked)' : ''}`),
      ...watchedFolders.map(({ name }) => `watched folder "${name}"`),
      ...(runningTransfers === 0 ? [] : [`${runningTransfers} running transfers`]),
    ];
    if (named.length > 0) {
      throw new GatewayError(
        'in_use',
        `connection ${connection.id} is used by ${named.join(', ')}; confirm=true deletes it all the same`,
        {
          step: 'request',
        },
      );
    }
  }
  await connections.remove(actorOf(context), connection);
  return json(200, { success: true });
}

export async function testConnection(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { id } = await managedConnection(services, atItem(context));
  const { probe } = context.json as { readonly probe: boolean };
  const connection = await openedConnection(services, context.caller, id);
  const report = await services.tester.test(connection, { probe, signal: context.request.signal });
  await services.storage.management.connections.saveTest(id, resultOf(report));
  return json(200, report);
}

export async function testDraft(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const {
    connection: input,
    basedOn,
    probe,
  } = context.json as {
    readonly connection: ConnectionInput;
    readonly basedOn?: string;
    readonly probe: boolean;
  };
  const draft = draftOf(input);
  const { accountId } = context.caller;
  let stored: ManagedConnection | undefined;
  let base: Connection | undefined;
  if (basedOn !== undefined) {
    stored = await services.storage.management.connections.find(accountId, basedOn);
    if (stored === undefined || stored.type !== draft.type) throw unknownConnection(basedOn);
    requireSecretsAgain(stored, draft);
    base = await openedConnection(services, context.caller, basedOn);
  }
  let secrets = secretValues(draft, base);
  if (draft.keyPairId !== null) {
    const privateKey = await services.storage.management.keyPairs.privateKey(accountId, draft.keyPairId);
    if (privateKey !== undefined) secrets = { ...secrets, privateKey };
  }
  const hostKeys = draft.hostKeys ?? stored?.hostKeys ?? [];
  const row = draftRow(draft, accountId, hostKeys, await services.storage.accounts.allowsPrivate(accountId));
  const report = await services.tester.test(joinConnection(row, secrets), { probe, signal: context.request.signal });
  return json(200, report);
}

export async function showHostKeys(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { hostKeys, hostKeysLearned } = await sftpConnection(services, context);
  return json(200, { hostKeys, learned: hostKeysLearned });
}

export async function scanHostKeys(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { id, hostKeys } = await sftpConnection(services, context);
  const connection = await openedConnection(services, context.caller, id);
  const shownKeys = await services.tester.hostKeys(connection, context.request.signal);
  return json(200, {
    shown: shownKeys.map((fingerprint) => ({ fingerprint, isPinned: hostKeys.includes(fingerprint) })),
  });
}

export async function pinHostKey(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const connection = await sftpConnection(services, context);
  if (connection.isConfigured) {
    const text = `connection ${connection.id} comes from the configuration file: pin its host key there (hostKey)`;
    throw new GatewayError('from_configuration', text, { step: 'request' });
  }
  const { fingerprint, replace } = context.json as { readonly fingerprint: string; readonly replace: boolean };
  const others = replace ? [] : connection.hostKeys.filter((known) => known !== fingerprint);
  const change = { action: 'connection.pin_host_key', details: { fingerprint, replaced: replace } };
  await services.storage.management.connections.setHostKeys(
    actorOf(context),
    connection,
    [...others, fingerprint],
    change,
  );
  return shown(services, context, connection.id);
}

export async function forgetHostKeys(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const connection = await sftpConnection(services, context);
  const { id, isConfigured, hostKeys, hostKeysLearned } = connection;
  // Learned ones are the gateway's own, also where the rest is of the configuration file.
  refuseConfigured(isConfigured && hostKeys.length > 0 && !hostKeysLearned, `the host key of connection ${id}`);
  const change = { action: 'connection.forget_host_keys', details: { fingerprints: hostKeys } };
  await services.storage.management.connections.setHostKeys(actorOf(context), connection, [], change);
  return shown(services, context, connection.id);
}

async function created(
  services: ManageServices,
  context: RequestContext,
  draft: ConnectionDraft,
  copiedFrom?: string,
): Promise<HttpAnswer> {
  const limit = services.planOf(context.caller.plan).connections;
  const id = await services.storage.management.connections.create(actorOf(context), draft, limit, copiedFrom);
  return shown(services, context, id, 201);
}

async function shown(
  services: ManageServices,
  { caller }: RequestContext,
  id: string,
  status = 200,
): Promise<HttpAnswer> {
  const connection = await services.storage.management.connections.find(caller.accountId, id);
  if (connection === undefined) throw unknownConnection(id);
  return json(status, connectionView(connection));
}

async function sftpConnection(services: ManageServices, context: RequestContext): Promise<ManagedConnection> {
  const connection = await managedConnection(services, atItem(context));
  if (connection.type === 'sftp') return connection;
  throw new GatewayError(
    'unsupported_operation',
    `connection ${connection.id} is no SFTP connection: it has no host keys`,
    {
      step: 'request',
    },
  );
}

function atItem({ params, ...context }: RequestContext): AtItem {
  return { ...context, params: { id: params['id'] ?? '' } };
}

function resultOf(report: TestReport) {
  const failed = report.steps.find(({ status }) => status === 'failed');
  return {
    testedAt: report.testedAt,
    isOk: report.isOk,
    failedStep: failed?.name ?? null,
    error: failed?.error ?? null,
    card: report.card,
  };
}
