/** The host keys of a connection: pinned, learned, shown by the server. */
import { Type } from 'typebox';
import { refusal } from '../../../base/errors.js';
import { flag, listOf, object, text, texts, withDefault } from '../../../base/schema.js';
import { fingerprint } from '../../../connections/common.js';
import { definitionOf } from '../../../connections/types.js';
import type { ManagedConnection } from '../../../storage/storage.js';
import { CLOSED, FINGERPRINT } from '../fields.js';
import {
  actorOf,
  type AtItem,
  connectionAt,
  type ManageServices,
  openedConnection,
  ownerEndpoints,
  refuseConfigured,
} from '../services.js';
import { EDIT_ERRORS, HOST_KEYS, LEARNED, sample, shown, shownAnswer } from './view.js';

const endpoint = ownerEndpoints('Connections');

export const showHostKeys = endpoint('GET /manage/connections/:id/host-keys', {
  operationId: 'showHostKeys',
  summary: 'Show the pinned host keys',
  description: '`learned` says that the first key seen was trusted. SFTP connections only.',
  answer: {
    schema: object('HostKeysAnswer', {
      hostKeys: texts(HOST_KEYS),
      learned: flag(LEARNED),
    }),
    example: { hostKeys: [FINGERPRINT], learned: true },
  },
  errors: ['unknown_connection', 'unsupported_operation'],
}).handle(async (input, services) => {
  const { hostKeys, hostKeysLearned } = await connectionWithHostKeys(services, input);
  return { hostKeys, learned: hostKeysLearned };
});

export const pinHostKey = endpoint('POST /manage/connections/:id/host-keys', {
  operationId: 'pinHostKey',
  summary: 'Pin a host key',
  description: 'Beside the others, or with `replace` in their place.',
  body: object(
    'HostKeyRequest',
    {
      fingerprint: text('SHA-256 fingerprint, as OpenSSH shows it.', fingerprint),
      replace: withDefault(flag('In place of the others.'), false),
    },
    CLOSED,
  ),
  bodyExamples: { body: { fingerprint: FINGERPRINT, replace: true } },
  answer: shownAnswer,
  errors: [...EDIT_ERRORS, 'unsupported_operation'],
}).handle(async (input, services) => {
  const connection = await connectionWithHostKeys(services, input);
  if (connection.isConfigured) {
    throw refusal(
      'from_configuration',
      `connection ${connection.id} comes from the configuration file: pin its host key there (hostKey)`,
    );
  }
  const { fingerprint: pinned, replace } = input.body;
  const others = replace ? [] : connection.hostKeys.filter((known) => known !== pinned);
  const change = { action: 'connection.pin_host_key', details: { fingerprint: pinned, replaced: replace } };
  const { connections } = services.storage.management;
  await connections.setHostKeys(actorOf(input), connection, [...others, pinned], change);
  return shown(services, input, connection.id);
});

export const forgetHostKeys = endpoint('DELETE /manage/connections/:id/host-keys', {
  operationId: 'forgetHostKeys',
  summary: 'Forget the host keys',
  description: 'The next one that the server shows is trusted and pinned.',
  answer: { ...shownAnswer, example: { ...sample, hostKeys: [], hostKeysLearned: false } },
  errors: [...EDIT_ERRORS, 'unsupported_operation'],
}).handle(async (input, services) => {
  const connection = await connectionWithHostKeys(services, input);
  const { id, isConfigured, hostKeys, hostKeysLearned } = connection;
  // Learned ones are the gateway's own, also where the rest is of the configuration file.
  refuseConfigured(isConfigured && hostKeys.length > 0 && !hostKeysLearned, `the host key of connection ${id}`);
  const change = { action: 'connection.forget_host_keys', details: { fingerprints: hostKeys } };
  await services.storage.management.connections.setHostKeys(actorOf(input), connection, [], change);
  return shown(services, input, connection.id);
});

export const scanHostKeys = endpoint('POST /manage/connections/:id/host-keys/scan', {
  operationId: 'scanHostKeys',
  summary: 'Which host keys does the server show?',
  description: 'Asked of the server now, without a login.',
  answer: {
    schema: object('ScannedKeysAnswer', {
      shown: listOf(
        Type.Object({
          fingerprint: text('SHA-256 fingerprint, as OpenSSH shows it.'),
          isPinned: flag('Whether it is pinned.'),
        }),
        'What the server shows now.',
      ),
    }),
    example: { shown: [{ fingerprint: FINGERPRINT, isPinned: true }] },
  },
  isRemote: true,
  errors: ['unsupported_operation'],
}).handle(async (input, services) => {
  const { id, hostKeys } = await connectionWithHostKeys(services, input);
  const connection = await openedConnection(services, input.caller, id);
  const shownKeys = await services.tester.hostKeys(connection, input.request.signal);
  return {
    shown: shownKeys.map((fingerprint) => ({ fingerprint, isPinned: hostKeys.includes(fingerprint) })),
  };
});

async function connectionWithHostKeys(services: ManageServices, input: AtItem): Promise<ManagedConnection> {
  const connection = await connectionAt(services, input);
  if (definitionOf(connection).can.hostKeys) return connection;
  throw refusal('unsupported_operation', `connection ${connection.id} is no SFTP connection: it has no host keys`);
}
