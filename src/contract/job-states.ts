/** The states of a job. */
export const OPEN = ['queued', 'running', 'paused'] as const;
/** It has begun and not ended. */
export const BEGUN = ['running', 'paused'] as const satisfies readonly (typeof OPEN)[number][];
export const FINAL = ['succeeded', 'partly_failed', 'failed', 'cancelled'] as const;
export const JOB_STATES = [...OPEN, ...FINAL] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Ended by errors. */
export const FAILED = ['partly_failed', 'failed'] as const satisfies readonly (typeof FINAL)[number][];
/** Ended without all of its work. */
export const INCOMPLETE = [...FAILED, 'cancelled'] as const satisfies readonly (typeof FINAL)[number][];

const FINAL_STATES: readonly JobState[] = FINAL;

/** Whether the state is final: the job does nothing more. */
export function hasEnded({ state }: { readonly state: JobState }): boolean {
  return FINAL_STATES.includes(state);
}

/** What a request does to a job that has not ended. */
export const JOB_CHANGES = ['pause', 'resume', 'cancel'] as const;
export type JobChange = (typeof JOB_CHANGES)[number];

/** The states of a file of a job. */
export const JOB_FILE_STATES = ['waiting', 'planned', 'done', 'skipped', 'failed'] as const;
export type JobFileState = (typeof JOB_FILE_STATES)[number];
/** A retry of the job takes the file up. */
export const UNDONE_FILE = ['waiting', 'failed'] as const satisfies readonly JobFileState[];
/** The file is where it should be. */
export const FINISHED_FILE = ['done', 'skipped'] as const satisfies readonly JobFileState[];
