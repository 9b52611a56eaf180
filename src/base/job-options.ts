/** What a job may be told beside where its files are and go, and the types that know it: API, forms and commands read this. */
type OrderType = 'copy' | 'move' | 'delete' | 'sync';

const ALL: readonly OrderType[] = ['copy', 'move', 'delete', 'sync'];

export const JOB_OPTIONS = {
  include: ALL,
  exclude: ALL,
  maxDepth: ALL,
  minSize: ALL,
  maxSize: ALL,
  minAgeSeconds: ALL,
  maxAgeSeconds: ALL,
  onConflict: ['copy', 'move'],
  compare: ['sync'],
  deleteExtra: ['sync'],
  maxDeletes: ['sync'],
  allowEmptySource: ['sync'],
  bytesPerSecond: ['copy', 'move', 'sync'],
  dryRun: ALL,
  webhookUrl: ALL,
} as const satisfies Readonly<Record<string, readonly OrderType[]>>;
export type JobOption = keyof typeof JOB_OPTIONS;

export const JOB_OPTION_NAMES = Object.keys(JOB_OPTIONS) as readonly JobOption[];

export function knowsOption(type: string, option: JobOption): boolean {
  const types: readonly string[] = JOB_OPTIONS[option];
  return types.includes(type);
}
