import type { JobDefinition } from '../../src/contract/job.js';

/** Options of a job for tests to which they do not matter. */
export const JOB_OPTIONS = {
  include: [],
  exclude: [],
  onConflict: 'replace',
  compare: 'size',
  deleteExtra: false,
  maxDeletes: 0,
  bytesPerSecond: 0,
  dryRun: false,
  webhookUrl: null,
} as const satisfies Partial<JobDefinition>;
