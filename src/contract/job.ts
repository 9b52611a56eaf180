/** Words of jobs: what they do, what they are allowed to do to files that exist, and how far they are. */
export const ORDER_TYPES = ['copy', 'move', 'delete', 'sync'] as const;
/** `upload` is a url upload with `Prefer: respond-async`. */
export const JOB_TYPES = [...ORDER_TYPES, 'upload'] as const;
export const JOB_STATES = ['queued', 'running', 'paused', 'succeeded', 'partly_failed', 'failed', 'cancelled'] as const;
export const CONFLICT_RULES = ['replace', 'skip', 'newer', 'rename', 'fail'] as const;
export const COMPARISONS = ['size-and-time', 'size', 'digest'] as const;
export const JOB_FILE_STATES = ['waiting', 'planned', 'done', 'skipped', 'failed'] as const;
export const JOB_ACTIONS = ['copy', 'move', 'delete', 'list', 'upload'] as const;
export type OrderType = (typeof ORDER_TYPES)[number];
export type ConflictRule = (typeof CONFLICT_RULES)[number];
export type JobType = (typeof JOB_TYPES)[number];
export type JobState = (typeof JOB_STATES)[number];
export type JobFileState = (typeof JOB_FILE_STATES)[number];
export type JobAction = (typeof JOB_ACTIONS)[number];
