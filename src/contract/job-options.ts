/**
 * The options of jobs and the types that know them. This module imports no schemas, because forms and commands use it,
 * too.
 */
export const ORDER_TYPES = ['copy', 'move', 'delete', 'sync'] as const;
export type OrderType = (typeof ORDER_TYPES)[number];

const ALL: readonly OrderType[] = ORDER_TYPES;

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

/** They choose the files of a folder. */
export const JOB_FILTERS = [
  'include',
  'exclude',
  'maxDepth',
  'minSize',
  'maxSize',
  'minAgeSeconds',
  'maxAgeSeconds',
] as const satisfies readonly JobOption[];

export function knowsOption(type: string, option: JobOption): boolean {
  const types: readonly string[] = JOB_OPTIONS[option];
  return types.includes(type);
}
