/** Jobs and their files in the form of the API. */
import type { Static } from 'typebox';
import { count, described, object, oneOf, text, textOrNull } from '../../contract/schema.js';
import {
  JOB_ACTIONS,
  JOB_FILE_STATES,
  type JobDefinition,
  jobExample as example,
  jobFields,
  jobOptionFields,
  jobSchema,
} from '../../contract/job.js';
import { exampleOf, type Reader, shownFields, viewOf } from '../../contract/thing.js';
import { jobOf, shownJob } from '../../jobs/view.js';
import type { ApiKeys, Job, JobFileItem } from '../../storage/storage.js';

export { jobSchema } from '../../contract/job.js';
export { jobOf } from '../../jobs/view.js';

export const JOB_ID = example.id;
export const shownJobExample = exampleOf(jobFields, example, 'key');

export const jobFileSchema = object('JobFile', {
  path: text('Below the source folder; below the destination where only that has it.'),
  state: oneOf(JOB_FILE_STATES, '`planned` is what a dry run would do.'),
  action: oneOf(JOB_ACTIONS, 'What is done with it; `list` is a folder that could not be listed.'),
  size: count('Bytes, as they were listed.'),
  error: textOrNull('What went wrong, or why it was left alone.'),
  errorCode: textOrNull('The code of what went wrong, as `X-Error-Code` would carry it.'),
});

export const jobAnswer = object('JobAnswer', { job: described(jobSchema, 'The job, as it is now.') });

export const ownersJob = {
  schema: object('ManagedJob', shownFields(jobFields, 'owner')),
  example: exampleOf(jobFields, example, 'owner'),
};

/** Views of these jobs. */
export async function jobViewer(
  keys: Keys,
  reader: Reader,
  jobs: readonly Job[],
): Promise<(job: Job) => Readonly<Record<string, unknown>>> {
  if (reader === 'key') return jobOf;
  const keyOf = await keyNamesOf(keys, jobs);
  return (job) => {
    const ended = job.done + job.skipped + job.failed + job.deleted;
    const shown = {
      ...shownJob(job),
      settings: optionsOf(job.definition),
      filesPerSecond: job.activeMs > 0 ? Math.round((ended * 10_000) / job.activeMs) / 10 : 0,
      key: keyOf(job),
    };
    return viewOf(jobFields, shown, reader);
  };
}

type Keys = Pick<ApiKeys, 'names'>;

interface OfKey {
  readonly accountId: string;
  readonly keyId: string | null;
}

/** Looks up the names of the keys in rows of one account. */
export async function keyNamesOf(
  keys: Keys,
  rows: readonly OfKey[],
): Promise<(row: OfKey) => { readonly id: string; readonly name: string } | null> {
  const ids = new Set(rows.flatMap(({ keyId }) => (keyId === null ? [] : [keyId])));
  const names = await keys.names(rows[0]?.accountId ?? '', [...ids]);
  return ({ keyId }) => {
    const name = keyId === null ? undefined : names.get(keyId);
    return keyId === null || name === undefined ? null : { id: keyId, name };
  };
}

function optionsOf(definition: JobDefinition): Record<string, unknown> {
  return Object.fromEntries(Object.entries(definition).filter(([name]) => name in jobOptionFields));
}

export function jobFileOf({
  path,
  state,
  action,
  size,
  errorMessage: error,
  errorCode,
}: JobFileItem): Static<typeof jobFileSchema> {
  return { path: path.toString('utf8'), state, action, size, error, errorCode };
}
