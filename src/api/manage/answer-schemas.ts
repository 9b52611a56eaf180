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

interface ObjectSchema {
  readonly properties: Record<string, object>;
}

const nullableTime = { type: ['string', 'null'], format: 'date-time' } as const;
const counts = { type: 'object', additionalProperties: count } as const;

export { successAnswer } from './fields.js';

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
