import { oneFile } from '../../src/api/jobs/respond-async.js';
import type { JobDefinition } from '../../src/contract/job.js';

/** Options of a job for tests to which they do not matter. */
export const JOB_OPTIONS: Omit<JobDefinition, 'source' | 'destination' | 'type'> = oneFile(true);
