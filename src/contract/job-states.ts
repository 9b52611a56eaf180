/** The states of a job. */
const OPEN = ['queued', 'running', 'paused'] as const;
export const FINAL = ['succeeded', 'partly_failed', 'failed', 'cancelled'] as const;
export const JOB_STATES = [...OPEN, ...FINAL] as const;
export type JobState = (typeof JOB_STATES)[number];

const FINAL_STATES: readonly JobState[] = FINAL;

/** Whether the state is final: the job does nothing more. */
export function hasEnded({ state }: { readonly state: JobState }): boolean {
  return FINAL_STATES.includes(state);
}
