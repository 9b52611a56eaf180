/**
 * Answers with a started job, also for `Prefer: respond-async` (RFC 7240, 4.1), so that no request waits for long work.
 */
import { json } from '../../http/answer.js';
import type { HttpAnswer, HttpRequest } from '../../http/types.js';
import type { JobOrder } from '../../jobs/service.js';
import type { Job } from '../../storage/storage.js';
import { jsonContent } from '../endpoint.js';
import { jobAnswer, shownJobExample, jobOf } from './job.js';

/** For `answers`. */
export function acceptedAnswers(description: string, example: object = shownJobExample) {
  const content = jsonContent(jobAnswer, { job: { job: example } });
  return { 202: { description, headers: ['Location'], content } };
}

export function accepted(job: Job): HttpAnswer {
  return json(202, { job: jobOf(job) }, { Location: `/api/jobs/${job.id}` });
}

export function prefersAsync({ headers }: HttpRequest): boolean {
  return /(?:^|,)\s*respond-async\s*(?=[,;]|$)/i.test(headers.get('prefer') ?? '');
}

export function acceptedAsync(job: Job): HttpAnswer {
  const answer = accepted(job);
  return { ...answer, headers: { ...answer.headers, 'Preference-Applied': 'respond-async' } };
}

/** The options of a job with one file, without its places. */
export function oneFile(overwrite: boolean) {
  return {
    type: 'copy',
    name: null,
    include: [],
    exclude: [],
    compare: 'size',
    deleteExtra: false,
    maxDeletes: 0,
    bytesPerSecond: 0,
    dryRun: false,
    webhookUrl: null,
    onConflict: overwrite ? 'replace' : 'fail',
  } as const satisfies Omit<JobOrder, 'source' | 'destination'>;
}
