/** Jobs and their files as the API shows them. */
import { type Static, Type } from 'typebox';
import { count, described, object, oneOf, text, textOrNull } from '../../contract/schema.js';
import { JOB_ACTIONS, JOB_FILE_STATES } from '../../contract/job.js';
import { JOB_ID, jobSchema } from '../../jobs/view.js';
import { type JobFileItem } from '../../storage/storage.js';

export { JOB_ID, jobExample, jobOf, jobSchema, shownJob } from '../../jobs/view.js';

export const jobFileSchema = object('JobFile', {
  path: text('Below the source folder; below the destination where only that has it.'),
  state: oneOf(JOB_FILE_STATES, '`planned` is what a dry run would do.'),
  action: oneOf(JOB_ACTIONS, 'What is done with it; `list` is a folder that could not be listed.'),
  size: count('Bytes, as they were listed.'),
  error: textOrNull('What went wrong, or why it was left alone.'),
  errorCode: textOrNull('The code of what went wrong, as `X-Error-Code` would carry it.'),
});

export const jobAnswer = object('JobAnswer', { job: described(jobSchema, 'The job, as it is now.') });

export const jobParameter = { id: text('Identifier of a job.', { minLength: 1, examples: [JOB_ID] }) };

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

export const cursorParameter = (description: string) =>
  Type.Optional(text(description, { minLength: 1, maxLength: 64, examples: ['1200'] }));
