/** A connection as its owner sees it: its settings, which secrets are set, and how its last test went. */
import { type TSchema, Type } from 'typebox';
import { component, dateTime, flag, group, oneOf, orNull, text, textOrNull, texts } from '../../../base/schema.js';
import type { Definition, Values } from '../../../connections/definition.js';
import { answerProperties } from '../../../connections/schemas.js';
import { CONNECTION_TYPES } from '../../../connections/types.js';
import { componentOfType, connectionView } from '../connection-input.js';
import { FINGERPRINT, id, LATER, TIME } from '../fields.js';
import { type AtItem, type ManageServices, unknownConnection } from '../services.js';
import { card } from './test-report.js';

const common = {
  id: id(),
  name: text('Shown to people.'),
  isActive: flag('Whether it is switched on.'),
  source: oneOf(
    ['configuration', 'dashboard'],
    '`configuration` for those that the configuration file lists: they can be changed only there.',
  ),
  createdAt: dateTime('When it was made.'),
  updatedAt: dateTime('When it was last changed.'),
  lastTest: orNull(
    Type.Object({
      testedAt: dateTime('When it was tested.'),
      isOk: flag('Whether every step went through.'),
      failedStep: textOrNull('The first step that failed.'),
      error: textOrNull('What went wrong.'),
    }),
    'The last test; null before it.',
  ),
  // Lists leave it out.
  card: Type.Optional(card),
};
export const HOST_KEYS = 'Pinned fingerprints; with none, the first one shown is trusted and pinned.';
export const LEARNED = 'They were learned from the first login.';
const hostKeys = {
  keyPairId: textOrNull('A key pair of the gateway, in place of a private key.'),
  hostKeys: texts(HOST_KEYS),
  hostKeysLearned: flag(LEARNED),
};

/** By type. */
export function connectionAnswers(definitions: readonly Definition[]): Readonly<Record<string, object>> {
  const fieldsOf = (definition: Definition): Record<string, TSchema> => ({
    ...common,
    type: Type.Literal(definition.type, { description: 'Protocol.' }),
    ...answerProperties(definition),
    ...(definition.can.hostKeys ? hostKeys : {}),
    secrets: group(
      Object.fromEntries(Object.keys(definition.secrets).map((name) => [name, flag('Whether there is one.')])),
      'Which of them are set.',
    ),
  });
  return Object.fromEntries(
    definitions.map((definition) => [
      definition.type,
      componentOfType(definition, 'Connection', Type.Object(fieldsOf(definition))),
    ]),
  );
}

/** Which fields there are depends on the type. */
export const managedConnection = component(
  'ManagedConnection',
  Type.Unsafe<Values>({ oneOf: Object.values(connectionAnswers(CONNECTION_TYPES)) }),
);

export const sampleInput = {
  id: 'warehouse',
  name: 'Warehouse',
  type: 'sftp',
  host: 'sftp.example.com',
  username: 'gw',
  password: 'secret',
  defaultPath: '/upload',
};
export const sample = {
  id: 'warehouse',
  name: 'Warehouse',
  type: 'sftp',
  isActive: true,
  source: 'dashboard',
  host: 'sftp.example.com',
  port: 22,
  username: 'gw',
  algorithms: 'default',
  hostKeyRotation: 'ask',
  defaultPath: '/upload',
  rootPath: '/',
  atomicUploads: true,
  digests: 'asked',
  verify: 'size',
  pool: { maxSessions: 4 },
  keyPairId: null,
  secrets: { password: true, privateKey: false, passphrase: false },
  hostKeys: [FINGERPRINT],
  hostKeysLearned: true,
  createdAt: TIME,
  updatedAt: TIME,
  lastTest: { testedAt: LATER, isOk: false, failedStep: 'login', error: 'the server refused the login' },
};

/** Of endpoints that answer with the connection as it is then. */
export const shownAnswer = { schema: managedConnection, example: sample };
export const madeAnswer = { status: 201, description: 'Made.', ...shownAnswer };
export const EDIT_ERRORS = ['unknown_connection', 'from_configuration'] as const;

/** @throws GatewayError unknown_connection */
export async function shown(
  { storage }: ManageServices,
  { caller }: Pick<AtItem, 'caller'>,
  id: string,
): Promise<Values> {
  const connection = await storage.management.connections.find(caller.accountId, id);
  if (connection === undefined) throw unknownConnection(id);
  return connectionView(connection);
}
