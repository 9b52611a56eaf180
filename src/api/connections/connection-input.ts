/** Converts a connection between its flat form, as its owner writes it, and its settings and secrets. */
import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import type { Connection, References, SecretValues, Settings } from '../../connections/connection.js';
import {
  addressFor,
  addressOf,
  type Definition,
  type Values,
  withOwnSecrets,
} from '../../contract/connection/definition.js';
import { refusalOf } from '../../connections/checks.js';
import { changeSchema, shownFieldsOf } from '../../contract/connection/schemas.js';
import { CONNECTION_TYPES, definitionOf } from '../../contract/connection/types.js';
import { viewOf } from '../../contract/thing.js';
import { createChecker } from '../../base/schema-check.js';
import { type ConnectionDraft, type ManagedConnection, type SecretChanges, settingsOf } from '../../storage/storage.js';
import { type ConnectionInput, connectionSchemas } from './schemas.js';
import { badField } from '../services.js';

export const schemas = connectionSchemas(CONNECTION_TYPES);

const checkChanges = Object.fromEntries(
  CONNECTION_TYPES.map((definition) => [
    definition.type,
    createChecker(Type.Unsafe<Values>(changeSchema(definition)), 'the body'),
  ]),
);

/** `kept`: the stored secrets, which an input without them keeps. @throws GatewayError bad_request */
export function draftOf(
  said: ConnectionInput,
  definition = definitionOf(said),
  kept: readonly string[] = [],
): ConnectionDraft {
  const input = withOwnSecrets(said, definition);
  checkSettings(input, definition, kept);
  return {
    id: input.id,
    name: input.name,
    type: input.type,
    isActive: input.isActive,
    settings: settingsOf(input, definition),
    secrets: secretsOf(input, definition),
    hostKeys: input.hostKeys,
    keyPairId: input.keyPairId ?? null,
  };
}

/**
 * Applies `patch` to the stored connection. @throws GatewayError bad_request, also if the server changes and the
 * password is not given again: otherwise an editor could send a stored one to another server
 */
export function editedDraft(stored: ManagedConnection, patch: Readonly<Record<string, unknown>>): ConnectionDraft {
  const changes = checkChanges[stored.type]?.(patch) ?? {};
  const input = { ...flatSettings(stored), isActive: stored.isActive, keyPairId: stored.keyPairId, ...changes };
  const draft = draftOf(input, definitionOf(stored), stored.secrets);
  // An uploaded private key replaces the generated one.
  const keyPairId =
    typeof changes['privateKey'] === 'string' && changes['keyPairId'] === undefined ? null : draft.keyPairId;
  requireSecretsAgain(stored, draft);
  return { ...draft, keyPairId };
}

/**
 * Checks where stored secrets may go. Secrets that the server itself sees may only go to the server that they were
 * given for. Keys only sign, and a signature is bound to one server. The operator's secrets, from the configuration
 * file, may only go where the operator sends them: to that server, as that user, below that root. @throws GatewayError
 * bad_request; see editedDraft
 */
export function requireSecretsAgain(stored: ManagedConnection, draft: ConnectionDraft): void {
  const definition = definitionOf(stored);
  const given: Values = draft.secrets;
  const open = stored.secrets.filter((name) => given[name] === undefined);
  const [first] = open;
  if (stored.hasConfiguredSecrets && first !== undefined && !hasSameReach(definition, stored, draft)) {
    throw badField(first, 'must be given: the one of the configuration file is for its own server and root alone');
  }
  const isMoved = (setting: string): boolean =>
    addressOf({ address: [setting] }, stored.settings) !== addressOf({ address: [setting] }, draft.settings);
  for (const name of open) {
    const moved = addressFor(definition, name).find(isMoved);
    if (moved === undefined) continue;
    const { partOf } = definition.secrets[name] ?? {};
    const field = partOf === undefined ? name : `${partOf.setting}.${partOf.part}`;
    throw badField(field, `must be given again (or null), because ${moved} has changed`);
  }
}

/** Whether the login opens the same things, with the same trust in the server. */
function hasSameReach(
  definition: Definition,
  stored: ManagedConnection,
  { settings, hostKeys }: ConnectionDraft,
): boolean {
  const reach = (of: Settings): Values =>
    // A row that is older than the setting has its default.
    Object.fromEntries(
      Object.entries(definition.settings)
        .filter(([, { isHarmless }]) => isHarmless !== true)
        .map(([name, { default: usual }]) => [name, (of as Values)[name] ?? usual]),
    );
  return (
    isDeepStrictEqual(reach(stored.settings), reach(settings)) &&
    (hostKeys === undefined || isDeepStrictEqual([...hostKeys].sort(), [...stored.hostKeys].sort()))
  );
}

/** Where secrets are read that a draft takes from `base`. */
export function referencesLeft(draft: ConnectionDraft, base: Connection | undefined): References {
  const given: Values = draft.secrets;
  return Object.fromEntries(Object.entries(base?.references ?? {}).filter(([name]) => given[name] === undefined));
}

/** The secrets of a draft; missing ones are taken from `base`. */
export function secretValues(draft: ConnectionDraft, base: Connection | undefined): SecretValues {
  const [stored, given]: Values[] = [{ ...base }, draft.secrets];
  const values: Record<string, string> = {};
  for (const name of Object.keys(definitionOf(draft).secrets)) {
    const value = given?.[name] === undefined ? stored?.[name] : given[name];
    if (typeof value === 'string' && value !== '') values[name] = value;
  }
  return values;
}

/** In the form of the API: everything but the secrets. */
export function connectionView(connection: ManagedConnection): Readonly<Record<string, unknown>> {
  const { settings, secrets, lastTest, isConfigured } = connection;
  const definition = definitionOf(connection);
  const { card: _card, ...test } = lastTest ?? {};
  const row = {
    ...connection,
    ...settings,
    source: isConfigured ? 'configuration' : 'dashboard',
    secrets: Object.fromEntries(Object.keys(definition.secrets).map((name) => [name, secrets.includes(name)])),
    lastTest: lastTest === null ? null : test,
  };
  return viewOf(shownFieldsOf(definition), row, 'owner');
}

function flatSettings({ id, name, type, settings }: ManagedConnection): ConnectionInput {
  const { ...flat }: Readonly<Record<string, unknown>> = { ...settings };
  return { id, name, type, isActive: true, ...flat };
}

function secretsOf(input: ConnectionInput, { secrets }: Definition): SecretChanges {
  const changes: Record<string, string | null> = {};
  for (const [name, { isNeeded }] of Object.entries(secrets)) {
    const value = input[name];
    if (value === null && isNeeded === true) throw badField(name, 'must not be null');
    if (value === null || typeof value === 'string') changes[name] = value;
  }
  return changes;
}

/** Rules that no schema expresses. @throws GatewayError bad_request */
function checkSettings(
  input: ConnectionInput,
  { settings, secrets, conflicts }: Definition,
  kept: readonly string[],
): void {
  for (const [name, { check }] of Object.entries({ ...settings, ...secrets })) {
    const refused = refusalOf(check, input[name]);
    if (refused !== undefined) throw badField(name, refused);
  }
  const unchanged = kept.filter((name) => input[name] === undefined);
  const [first] = conflicts?.(input, unchanged) ?? [];
  if (first !== undefined) throw badField(first.key, `must be ${first.allowed}`);
}
