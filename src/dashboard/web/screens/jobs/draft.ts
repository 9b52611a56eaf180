/** What is typed for a job, and the request it becomes. */
import type { Job, NewJob, RepeatableJob } from '../../api/types.ts';

const MEBIBYTE = 1024 * 1024;

export const NEW_JOB = {
  type: 'copy' as NewJob['type'],
  name: '',
  sourceId: '',
  sourcePath: '',
  destinationId: '',
  destinationPath: '',
  include: '',
  exclude: '',
  onConflict: 'replace' as Job['settings']['onConflict'],
  compare: 'size-and-time' as Job['settings']['compare'],
  deleteExtra: false,
  maxDeletes: '1000',
  mebibytesPerSecond: '',
  /** What was asked for by other ways than this form. */
  others: {} as Partial<NewJob>,
};
export type JobDraft = Readonly<typeof NEW_JOB>;

/** That job once more. */
export function draftOf({ type, name, source, destination, settings }: RepeatableJob): JobDraft {
  const {
    include,
    exclude,
    onConflict,
    compare,
    deleteExtra,
    maxDeletes,
    bytesPerSecond,
    dryRun: _,
    ...others
  } = settings;
  return {
    ...{ type, onConflict, compare, deleteExtra, others },
    name: name ?? '',
    ...{ sourceId: source.connectionId, sourcePath: source.path },
    ...{ destinationId: destination?.connectionId ?? '', destinationPath: destination?.path ?? '' },
    ...{ include: include.join('\n'), exclude: exclude.join('\n') },
    maxDeletes: String(maxDeletes),
    mebibytesPerSecond: bytesPerSecond === 0 ? '' : String(bytesPerSecond / MEBIBYTE),
  };
}

export function isReady({ type, sourceId, sourcePath, destinationId, destinationPath }: JobDraft): boolean {
  const hasSource = sourceId !== '' && sourcePath.trim() !== '';
  return hasSource && (type === 'delete' || (destinationId !== '' && destinationPath.trim() !== ''));
}

/** Whether it may take away what nobody has looked at: what it would do is shown first. */
export function deletes({ type, deleteExtra }: JobDraft): boolean {
  return type === 'delete' || (type === 'sync' && deleteExtra);
}

/** The body of POST /api/jobs; what does not concern the type is left out. */
export function requestOf(draft: JobDraft, dryRun: boolean): NewJob {
  const { type, sourceId, sourcePath, destinationId, destinationPath, onConflict, compare, deleteExtra } = draft;
  const name = draft.name.trim();
  const speed = Number(draft.mebibytesPerSecond);
  return {
    ...draft.others,
    ...{ type, dryRun, include: lines(draft.include), exclude: lines(draft.exclude) },
    source: { connectionId: sourceId, path: sourcePath.trim() },
    ...(type === 'delete' ? {} : { destination: { connectionId: destinationId, path: destinationPath.trim() } }),
    ...(type === 'copy' || type === 'move' ? { onConflict } : {}),
    ...(type === 'sync' ? { compare, deleteExtra, maxDeletes: Number(draft.maxDeletes) } : {}),
    ...(name === '' ? {} : { name }),
    ...(speed > 0 ? { bytesPerSecond: Math.round(speed * MEBIBYTE) } : {}),
  };
}

function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
