/** JSON Schemas of what the management endpoints answer: the OpenAPI document shows them, tests hold real answers to them. */
import {
  answer,
  base64,
  count,
  dateTime,
  flag,
  listOf,
  nullableText,
  text,
  watchedFolder as publicFolder,
} from '../answer-schemas.js';
import { CONNECTION_TYPES } from '../../connections/types.js';
import type { Definition } from '../../connections/definition.js';
import { answerProperties } from '../../connections/schemas.js';

interface ObjectSchema {
  readonly properties: Record<string, object>;
}

const nullableTime = { type: ['string', 'null'], format: 'date-time' } as const;
const texts = listOf(text);
const counts = { type: 'object', additionalProperties: count } as const;
const facts = { type: 'object', additionalProperties: true } as const;
const orNull = (schema: object): object => ({ oneOf: [schema, { type: 'null' }] });

export { successAnswer } from './fields.js';

/* Connections */
/** What was learned of the server differs from protocol to protocol, and server to server. */
export const serverCard = { ...facts, properties: { testedAt: dateTime } };
const lastTest = answer({ testedAt: dateTime, isOk: flag, failedStep: nullableText, error: nullableText });
const common = {
  id: text,
  name: text,
  isActive: flag,
  source: { type: 'string', enum: ['configuration', 'dashboard'] },
  createdAt: dateTime,
  updatedAt: dateTime,
  lastTest: orNull(lastTest),
  card: orNull(serverCard),
};
/** Lists leave it out. */
const OPTIONAL = ['card'];
const hostKeys = { keyPairId: nullableText, hostKeys: texts, hostKeysLearned: flag };
const isSet = { type: 'boolean', description: 'Whether there is one.' };
const secretsOf = ({ secrets }: Definition): object =>
  answer(Object.fromEntries(Object.keys(secrets).map((key) => [key, isSet])));
/** By type. */
export function connectionAnswers(definitions: readonly Definition[]): Readonly<Record<string, object>> {
  const fieldsOf = (definition: Definition): Record<string, object> => ({
    ...common,
    type: { type: 'string', const: definition.type },
    ...answerProperties(definition),
    ...(definition.can.hostKeys ? hostKeys : {}),
    secrets: secretsOf(definition),
  });
  return Object.fromEntries(definitions.map((definition) => [definition.type, answer(fieldsOf(definition), OPTIONAL)]));
}
export const connections = connectionAnswers(CONNECTION_TYPES);
export const connection = { oneOf: Object.values(connections) };
export const managedConnectionsAnswer = answer({ connections: listOf(connection), limit: count });
export const dependents = answer({
  apiKeys: listOf(answer({ id: text, name: text, willBeRevoked: flag })),
  watchedFolders: listOf(answer({ id: text, name: text })),
  runningTransfers: count,
});
export const hostKeysAnswer = answer({ hostKeys: texts, learned: flag });
export const scannedKeysAnswer = answer({ shown: listOf(answer({ fingerprint: text, isPinned: flag })) });
export const testStep = answer(
  {
    name: {
      type: 'string',
      enum: ['resolve', 'connect', 'host_key', 'certificate', 'login', 'list', 'write', 'rename', 'delete'],
    },
    status: { type: 'string', enum: ['ok', 'failed', 'skipped'] },
    durationMs: count,
    detail: text,
    error: text,
    code: text,
    advice: text,
  },
  ['durationMs', 'detail', 'error', 'code', 'advice'],
);
export const testReport = answer({
  isOk: flag,
  testedAt: dateTime,
  durationMs: count,
  steps: listOf(testStep),
  hostKey: orNull(answer({ fingerprint: text, state: { type: 'string', enum: ['pinned', 'new', 'mismatch'] } })),
  certificate: orNull(answer({ subject: text, issuer: text, validTo: dateTime, fingerprint: text, protocol: text })),
  card: orNull(serverCard),
});

/* Watched folders */
const managedFolderFields = {
  ...(publicFolder as ObjectSchema).properties,
  excludePattern: nullableText,
  doneFile: nullableText,
  expectEveryMinutes: { type: ['integer', 'null'], minimum: 1 },
  nextCheckAt: dateTime,
  baselineAt: nullableTime,
  lastSuccessAt: nullableTime,
  lastDetectionAt: nullableTime,
  alarmedAt: nullableTime,
  failingSince: nullableTime,
  failures: count,
  errorCode: nullableText,
  errorMessage: nullableText,
  deliveriesEndedAt: nullableTime,
};
export const managedFolder = answer(managedFolderFields);
export const createdManagedFolder = answer({ ...managedFolderFields, webhookSecret: text });
export const managedFoldersAnswer = answer({ watchedFolders: listOf(managedFolder) });
export const queuedAnswer = answer({ queued: flag });
export const dryRunAnswer = answer({
  counts,
  files: listOf(
    answer(
      {
        name: text,
        path: text,
        size: count,
        modifiedAt: dateTime,
        event: { type: 'string', enum: ['new', 'modified'] },
        rawName: base64,
      },
      ['rawName'],
    ),
  ),
});
export const knownFilesAnswer = answer({
  files: listOf(
    answer(
      {
        path: text,
        rawName: base64,
        state: { type: 'string', enum: ['known', 'waiting', 'changing'] },
        size: count,
        modifiedAt: dateTime,
      },
      ['rawName'],
    ),
  ),
  total: count,
});
export const forgottenAnswer = answer({ forgotten: count });
export const check = answer({
  id: text,
  kind: { type: 'string', enum: ['regular', 'follow_up', 'manual'] },
  outcome: { type: 'string', enum: ['succeeded', 'failed', 'skipped'] },
  startedAt: dateTime,
  durationMs: count,
  errorCode: nullableText,
  errorMessage: nullableText,
  counts,
});
export const checksAnswer = answer({ checks: listOf(check) });
export const checkEntriesAnswer = answer({
  entries: listOf(answer({ path: text, reason: text, size: count, sizeBefore: count }, ['size', 'sizeBefore'])),
});
export const secretAnswer = answer({ secret: text });
export const eventAnswer = answer({ eventId: text });
export const delivery = answer({
  id: text,
  watchedFolderId: text,
  type: text,
  fileCount: count,
  state: { type: 'string', enum: ['pending', 'delivered', 'dead', 'cancelled'] },
  attempts: count,
  nextAttemptAt: nullableTime,
  afterAction: { type: 'string', enum: ['none', 'pending', 'done'] },
  deliveredAt: nullableTime,
  createdAt: dateTime,
});
export const deliveriesAnswer = answer({ deliveries: listOf(delivery), limit: count, offset: count });
export const attempt = answer({
  id: text,
  startedAt: dateTime,
  durationMs: count,
  status: { type: ['integer', 'null'] },
  errorCode: nullableText,
  errorMessage: nullableText,
  answer: nullableText,
});
export const attemptsAnswer = answer({ attempts: listOf(attempt) });
