/** The host keys of a connection: pinned, learned, presented or announced. */
import { type Static, Type } from 'typebox';
import { refusal } from '../../base/errors.js';
import { dateTime, flag, listOf, object, oneOf, text, texts, withDefault } from '../../contract/schema.js';
import { fingerprint, HOST_KEY_STATES, HOST_KEYS, hostKeyFields } from '../../contract/connection/fields.js';
import { definitionOf } from '../../contract/connection/types.js';
import type { ManagedConnection } from '../../storage/storage.js';
import { CLOSED } from '../fields.js';
import { FINGERPRINT_EXAMPLE, LATER, TIME } from '../../contract/examples.js';
import { actorOf, type AtItem, connectionAt, type Services, connectionOf, refuseConfigured } from '../services.js';
import { EDIT_ERRORS, sample, shownConnection, shownAnswer } from './view.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Connections');
export const hostKeyEndpoints = endpoint.all;

const OTHER_FINGERPRINT = `SHA256:${'B'.repeat(42)}A`;
const answer = {
  schema: object('HostKeysAnswer', {
    hostKeys: texts(HOST_KEYS),
    learned: hostKeyFields.hostKeysLearned.schema,
    announced: listOf(
      object('AnnouncedHostKey', {
        fingerprint: text('SHA-256 fingerprint, as OpenSSH shows it.'),
        algorithm: text('Such as `ssh-ed25519`.'),
        state: oneOf(HOST_KEY_STATES, '`pending` waits to be accepted; `rejected` was not wanted.'),
        isFirst: flag(
          'True if it was announced first, together with the trusted key: it needs no decision, and may still be accepted.',
        ),
        firstSeenAt: dateTime('When the server announced it first.'),
        lastSeenAt: dateTime('When it did so last, to within an hour.'),
      }),
      'What the server announces on sessions of a trusted key, and has proven to be its own.',
    ),
  }),
  example: {
    hostKeys: [FINGERPRINT_EXAMPLE],
    learned: true,
    announced: [
      {
        fingerprint: OTHER_FINGERPRINT,
        algorithm: 'ssh-ed25519',
        state: 'pending',
        isFirst: false,
        firstSeenAt: TIME,
        lastSeenAt: LATER,
      },
    ],
  },
} as const;
const body = object(
  'AnnouncedHostKeyRequest',
  { fingerprint: text('SHA-256 fingerprint, as OpenSSH shows it.', fingerprint) },
  CLOSED,
);
const bodyExamples = { body: { fingerprint: OTHER_FINGERPRINT } };

endpoint('GET /manage/connections/:id/host-keys', {
  operationId: 'showHostKeys',
  summary: 'Show the pinned host keys',
  description:
    '`learned` says that the first key seen was trusted; `announced` are those that the server would have follow. SFTP connections only.',
  answer,
  errors: ['unknown_connection', 'unsupported_operation'],
}).handle(async (input, services) => hostKeysOf(services, input));

endpoint('POST /manage/connections/:id/host-keys/accept', {
  operationId: 'acceptHostKey',
  summary: 'Accept an announced host key',
  description: 'Trusted from now on beside the others. One that the server has not announced and proven is 404.',
  body,
  bodyExamples,
  answer,
  errors: [...EDIT_ERRORS, 'unsupported_operation', 'unknown_item'],
}).handle(async (input, services) => {
  const connection = await connectionWithHostKeys(services, input);
  const { id, isConfigured, hostKeysLearned } = connection;
  // Learned keys belong to the gateway, and so do the keys that replace them.
  refuseConfigured(isConfigured && !hostKeysLearned, `the host key of connection ${id}`);
  await services.storage.hostKeys.accept(actorOf(input), connection, input.body.fingerprint);
  return hostKeysOf(services, input);
});

endpoint('POST /manage/connections/:id/host-keys/reject', {
  operationId: 'rejectHostKey',
  summary: 'Reject an announced host key',
  description: 'It waits no longer, and no rule accepts it; it can still be accepted by hand.',
  body,
  bodyExamples,
  answer,
  errors: ['unknown_connection', 'unsupported_operation', 'unknown_item'],
}).handle(async (input, services) => {
  const connection = await connectionWithHostKeys(services, input);
  await services.storage.hostKeys.reject(actorOf(input), connection, input.body.fingerprint);
  return hostKeysOf(services, input);
});

async function hostKeysOf(services: Services, input: AtItem): Promise<Static<typeof answer.schema>> {
  const { id, hostKeys, hostKeysLearned } = await connectionWithHostKeys(services, input);
  const announced = await services.storage.hostKeys.list(input.caller.accountId, id);
  return { hostKeys: [...hostKeys], learned: hostKeysLearned, announced: [...announced] };
}

endpoint('POST /manage/connections/:id/host-keys', {
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
  bodyExamples: { body: { fingerprint: FINGERPRINT_EXAMPLE, replace: true } },
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
  const details = { fingerprint: pinned, replaced: replace };
  const { connections } = services.storage.management;
  await connections.setHostKeys(actorOf(input), connection, [...others, pinned], {
    action: 'connection.pin_host_key',
    details,
  });
  return shownConnection(services, input, connection.id);
});

endpoint('DELETE /manage/connections/:id/host-keys', {
  operationId: 'forgetHostKeys',
  summary: 'Forget the host keys',
  description: 'The next one that the server shows is trusted and pinned.',
  answer: { ...shownAnswer, example: { ...sample, hostKeys: [], hostKeysLearned: false } },
  errors: [...EDIT_ERRORS, 'unsupported_operation'],
}).handle(async (input, services) => {
  const connection = await connectionWithHostKeys(services, input);
  const { id, isConfigured, hostKeys, hostKeysLearned } = connection;
  // Learned keys belong to the gateway, even if the rest comes from the configuration file.
  refuseConfigured(isConfigured && hostKeys.length > 0 && !hostKeysLearned, `the host key of connection ${id}`);
  const details = { fingerprints: hostKeys };
  await services.storage.management.connections.setHostKeys(actorOf(input), connection, [], {
    action: 'connection.forget_host_keys',
    details,
  });
  return shownConnection(services, input, connection.id);
});

endpoint('POST /manage/connections/:id/host-keys/scan', {
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
    example: { shown: [{ fingerprint: FINGERPRINT_EXAMPLE, isPinned: true }] },
  },
  isRemote: true,
  errors: ['unsupported_operation'],
}).handle(async (input, services) => {
  const { id, hostKeys } = await connectionWithHostKeys(services, input);
  const connection = await connectionOf(services, input.caller, id);
  const shownKeys = await services.tester.hostKeys(connection, input.request.signal);
  return {
    shown: shownKeys.map((fingerprint) => ({ fingerprint, isPinned: hostKeys.includes(fingerprint) })),
  };
});

async function connectionWithHostKeys(services: Services, input: AtItem): Promise<ManagedConnection> {
  const connection = await connectionAt(services, input);
  if (definitionOf(connection).can.hostKeys) return connection;
  throw refusal('unsupported_operation', `connection ${connection.id} is no SFTP connection: it has no host keys`);
}
