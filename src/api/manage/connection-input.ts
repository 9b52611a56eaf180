/** A connection in its flat form: the JSON Schemas of what its owner writes, and the way to settings and secrets and back. */
import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import { FORMATS } from '../../base/formats.js';
import { component, type TSchemaOf } from '../../base/schema.js';
import { columns } from '../../connections/common.js';
import type { Connection, ConnectionType, SecretValues, Settings } from '../../connections/connection.js';
import { addressOf, type Definition, type Values } from '../../connections/definition.js';
import { wordsOf } from '../../connections/private-key-bounds.js';
import { changeSchema, fieldsOf, inputSchema, settingField } from '../../connections/schemas.js';
import { CONNECTION_TYPES, definitionOf } from '../../connections/types.js';
import { createChecker } from '../../base/schema-check.js';
import { type ConnectionDraft, type ManagedConnection, type SecretChanges, settingsOf } from '../../storage/storage.js';
import { badField } from './services.js';

/** As the schemas let it through: the fields of its type and no others. */
type ConnectionInput = Values & {
  readonly id?: string;
  readonly name: string;
  readonly type: ConnectionType;
  readonly isActive: boolean;
  readonly hostKeys?: readonly string[];
  readonly keyPairId?: string | null;
};

type ByType = Readonly<Record<string, object>>;

export function connectionSchemas(definitions: readonly Definition[]) {
  const { schema: name } = settingField('name', columns.name);
  const schemasOf = (make: (definition: Definition) => object): ByType =>
    Object.fromEntries(definitions.map((definition) => [definition.type, make(definition)]));
  /** One schema for each type behind its name, so that a mistake is told for the type that was meant. */
  const byType = (schemas: ByType): TSchemaOf<ConnectionInput> =>
    Type.Unsafe({
      type: 'object',
      required: ['type', 'name'],
      properties: { type: { type: 'string', enum: Object.keys(schemas), description: 'Protocol.' }, name },
      allOf: Object.entries(schemas).map(([type, schema]) => ({
        if: { required: ['type'], properties: { type: { const: type } } },
        then: schema,
      })),
    });
  const inputs = schemasOf((definition) => componentOfType(definition, 'ConnectionInput', inputSchema(definition)));
  const hasRequired = ({ secrets }: Definition): boolean => Object.values(secrets).some(({ isRequired }) => isRequired);
  const secrets = definitions.flatMap(fieldsOf).filter(({ isSecret }) => isSecret);
  return {
    create: component('ConnectionInput', byType(inputs)),
    /** Secrets may come from the connection that the draft is based on. */
    draft: component(
      'ConnectionDraft',
      byType(
        schemasOf((definition) =>
          hasRequired(definition) ? inputSchema(definition, true) : (inputs[definition.type] ?? {}),
        ),
      ),
    ),
    /** The fields of any type; which ones fit is known with the connection. */
    changes: component(
      'ConnectionChanges',
      Type.Unsafe<Values>({
        type: 'object',
        minProperties: 1,
        properties: Object.assign(
          {},
          ...definitions.map((definition) => changeSchema(definition).properties),
        ) as ByType,
      }),
    ),
    secrets: Object.fromEntries(secrets.map((field) => [field.name, field.schema])),
  };
}

export const schemas = connectionSchemas(CONNECTION_TYPES);

/** `SftpConnectionInput` and its like. */
export function componentOfType({ type }: Definition, suffix: string, schema: object): object {
  return component(`${type.charAt(0).toUpperCase()}${type.slice(1)}${suffix}`, schema);
}

const checkChanges = Object.fromEntries(
  CONNECTION_TYPES.map((definition) => [
    definition.type,
    createChecker(Type.Unsafe<Values>(changeSchema(definition)), 'the body'),
  ]),
);

/** @throws GatewayError bad_request */
export function draftOf(input: ConnectionInput, definition = definitionOf(input)): ConnectionDraft {
  checkSettings(input, definition);
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
 * `patch` laid over what is stored. @throws GatewayError bad_request, also when the server changes and the password
 * was not given again: else whoever may edit could have a stored one sent to a server of his own.
 */
export function editedDraft(stored: ManagedConnection, patch: Readonly<Record<string, unknown>>): ConnectionDraft {
  const changes = checkChanges[stored.type]?.(patch) ?? {};
  const draft = draftOf({
    ...flatSettings(stored),
    isActive: stored.isActive,
    keyPairId: stored.keyPairId,
    ...changes,
  });
  // A private key of one's own takes the place of the generated one.
  const keyPairId =
    typeof changes['privateKey'] === 'string' && changes['keyPairId'] === undefined ? null : draft.keyPairId;
  requireSecretsAgain(stored, draft);
  return { ...draft, keyPairId };
}

/**
 * Where stored secrets may go. Those that the server itself gets to see, only to the server that they were given for; keys
 * only sign, and what they sign is bound to one server. The operator's secrets, which came from the configuration file, only
 * where the operator sent them: to that server, as that user, below that root. @throws GatewayError bad_request; see editedDraft
 */
export function requireSecretsAgain(stored: ManagedConnection, draft: ConnectionDraft): void {
  const definition = definitionOf(stored);
  const given: Values = draft.secrets;
  const open = stored.secrets.filter((name) => given[name] === undefined);
  const [first] = open;
  if (stored.hasConfiguredSecrets && first !== undefined && !hasSameReach(definition, stored, draft)) {
    throw badField(first, 'must be given: the one of the configuration file is for its own server and root alone');
  }
  if (addressOf(definition, stored.settings) === addressOf(definition, draft.settings)) return;
  const sent = open.find((name) => definition.secrets[name]?.isSent === true);
  if (sent !== undefined) throw badField(sent, 'must be given again (or null), because the server has changed');
}

/** What a login opens is the same, and who is trusted to be the server. */
function hasSameReach(
  definition: Definition,
  stored: ManagedConnection,
  { settings, hostKeys }: ConnectionDraft,
): boolean {
  const reach = (of: Settings): Values =>
    Object.fromEntries(Object.entries(of).filter(([name]) => definition.settings[name]?.isHarmless !== true));
  return (
    isDeepStrictEqual(reach(stored.settings), reach(settings)) &&
    (hostKeys === undefined || isDeepStrictEqual([...hostKeys].sort(), [...stored.hostKeys].sort()))
  );
}

/** The secrets of a draft; those that it leaves open are taken from `base`. */
export function secretValues(draft: ConnectionDraft, base: Connection | undefined): SecretValues {
  const [stored, given]: Values[] = [{ ...base }, draft.secrets];
  const values: Record<string, string> = {};
  for (const name of Object.keys(definitionOf(draft).secrets)) {
    const value = given?.[name] === undefined ? stored?.[name] : given[name];
    if (typeof value === 'string' && value !== '') values[name] = value;
  }
  return values;
}

/** As the API shows it: everything but the secrets. */
export function connectionView(connection: ManagedConnection): Record<string, unknown> {
  const { secrets, lastTest } = connection;
  const definition = definitionOf(connection);
  return {
    ...flatSettings(connection),
    isActive: connection.isActive,
    source: connection.isConfigured ? 'configuration' : 'dashboard',
    ...(definition.can.hostKeys
      ? {
          keyPairId: connection.keyPairId,
          hostKeys: connection.hostKeys,
          hostKeysLearned: connection.hostKeysLearned,
        }
      : {}),
    secrets: Object.fromEntries(Object.keys(definition.secrets).map((name) => [name, secrets.includes(name)])),
    createdAt: connection.createdAt,
    updatedAt: connection.updatedAt,
    lastTest:
      lastTest === null
        ? null
        : {
            testedAt: lastTest.testedAt,
            isOk: lastTest.isOk,
            failedStep: lastTest.failedStep,
            error: lastTest.error,
          },
  };
}

function flatSettings({ id, name, type, settings }: ManagedConnection): ConnectionInput {
  const { ...flat }: Readonly<Record<string, unknown>> = { ...settings };
  return { id, name, type, isActive: true, ...flat };
}

function secretsOf(input: ConnectionInput, { secrets }: Definition): SecretChanges {
  const changes: Record<string, string | null> = {};
  for (const [name, { isRequired }] of Object.entries(secrets)) {
    const value = input[name];
    if (value === null && isRequired) throw badField(name, 'must not be null');
    if (value === null || typeof value === 'string') changes[name] = value;
  }
  return changes;
}

/** What no schema says. @throws GatewayError bad_request */
function checkSettings(input: ConnectionInput, { settings, secrets }: Definition): void {
  for (const [name, { schema, formatWords, refusal }] of Object.entries(settings)) {
    const value = input[name];
    if (typeof value !== 'string') continue;
    const { format } = schema as { readonly format?: keyof typeof FORMATS };
    // A text that may be absent is null here, not empty.
    if (format !== undefined && (value === '' || !FORMATS[format](value)))
      throw badField(name, `must be ${formatWords}`);
    const refused = refusal?.(value);
    if (refused !== undefined) throw badField(name, refused);
  }
  for (const [name, { excess }] of Object.entries(secrets)) {
    const value = input[name];
    const over = typeof value === 'string' ? excess?.(value) : undefined;
    if (over !== undefined) throw badField(name, `cannot be used: ${wordsOf(over)}`);
  }
}
