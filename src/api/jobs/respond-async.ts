/** `Prefer: respond-async` (RFC 7240, 4.1): what may take long is done by a job. */
import { json } from '../../http/answer.js';
import type { HttpAnswer, HttpRequest } from '../../http/types.js';
import type { JobOrder } from '../../jobs/service.js';
import type { Job } from '../../storage/storage.js';
import { jobOf } from './job.js';

export function prefersAsync({ headers }: HttpRequest): boolean {
  return /(?:^|,)\s*respond-async\s*(?=[,;]|$)/i.test(headers.get('prefer') ?? '');
}

export function acceptedAsync(job: Job): HttpAnswer {
  const headers = { Location: `/api/jobs/${job.id}`, 'Preference-Applied': 'respond-async' };
  return json(202, { job: jobOf(job) }, headers);
}

/** What a job of one file is, beside where it leads. */
export function oneFile(overwrite: boolean) {
  return {
    ...{ type: 'copy', name: null, include: [], exclude: [], compare: 'size', deleteExtra: false, maxDeletes: 0 },
    ...{ bytesPerSecond: 0, dryRun: false, webhookUrl: null, onConflict: overwrite ? 'replace' : 'fail' },
  } as const satisfies Omit<JobOrder, 'source' | 'destination'>;
}
