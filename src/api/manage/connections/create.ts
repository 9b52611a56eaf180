/** A new connection: from nothing, or from another one. */
import { Type } from 'typebox';
import { SLUG } from '../../../base/formats.js';
import { component, text } from '../../../base/schema.js';
import type { Values } from '../../../connections/definition.js';
import type { ConnectionDraft, SecretChanges } from '../../../storage/storage.js';
import { draftOf, secretValues } from '../connection-input.js';
import { schemas } from '../connection-schemas.js';
import { CLOSED, newName } from '../fields.js';
import {
  actorOf,
  type AtItem,
  connectionAt,
  type ManageServices,
  openedConnection,
  ownerEndpoints,
} from '../services.js';
import { madeAnswer, sampleInput, shown } from './view.js';

const endpoint = ownerEndpoints('Connections');

export const createConnection = endpoint('POST /manage/connections', {
  operationId: 'createConnection',
  summary: 'Register a connection',
  description: 'The fields depend on `type`. Secrets are kept encrypted and never shown again.',
  body: schemas.create,
  bodyExamples: { body: sampleInput },
  answer: madeAnswer,
  errors: ['plan_required', 'already_exists', 'unknown_item'],
}).handle(async (input, services) => {
  return created(services, input, draftOf(input.body));
});

export const duplicateConnection = endpoint('POST /manage/connections/:id/duplicate', {
  operationId: 'duplicateConnection',
  summary: 'Duplicate a connection',
  description:
    'With its secrets. Also one of the configuration file, to have one that can be edited: that copy has no secrets but those given here.',
  body: component(
    'DuplicateRequest',
    Type.Unsafe<SecretChanges & { readonly id?: string; readonly name?: string }>({
      type: 'object',
      properties: { id: text('Identifier.', { pattern: SLUG }), name: newName(), ...schemas.secrets },
      ...CLOSED,
    }),
  ),
  bodyExamples: { body: { name: 'Warehouse (copy)', id: 'warehouse-2' } },
  answer: madeAnswer,
  errors: ['unknown_connection', 'plan_required', 'already_exists'],
}).handle(async (input, services) => {
  const source = await connectionAt(services, input);
  const { id, name, ...given } = input.body;
  // The operator's secrets are for this one alone: whoever may edit the copy could lead them anywhere.
  const opened = source.hasConfiguredSecrets ? undefined : await openedConnection(services, input.caller, source.id);
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
  return created(services, input, { ...draft, secrets: secretValues(draft, opened) }, source.id);
});

async function created(
  services: ManageServices,
  input: Omit<AtItem, 'params'>,
  draft: ConnectionDraft,
  copiedFrom?: string,
): Promise<Values> {
  const limit = services.planOf(input.caller.plan).connections;
  const { connections } = services.storage.management;
  return shown(services, input, await connections.create(actorOf(input), draft, limit, copiedFrom));
}
