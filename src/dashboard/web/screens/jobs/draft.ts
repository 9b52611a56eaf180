/** What is typed for a job, and the request it becomes. */
import { type JobOption, knowsOption } from '../../../../contract/job-options.ts';
import type { Connection, Job, NewJob, RepeatableJob } from '../../api/types.ts';
import { ageText, bytesOf, secondsOf, sizeText } from './units.ts';

const NEW_JOB = {
  type: 'copy' as NewJob['type'],
  name: '',
  sourceId: '',
  sourcePath: '',
  destinationId: '',
  destinationPath: '',
  include: '',
  exclude: '',
  maxDepth: '',
  minSize: '',
  maxSize: '',
  minAge: '',
  maxAge: '',
  onConflict: 'replace' as Job['settings']['onConflict'],
  compare: 'size-and-time' as Job['settings']['compare'],
  deleteExtra: false,
  maxDeletes: '1000',
  allowEmptySource: false,
  /** A second. */
  speed: '',
  webhookUrl: '',
};
export type JobDraft = Readonly<typeof NEW_JOB>;

/** A new job: from the place that the address names, to the other connection if there is one. */
export function emptyDraft(usable: readonly Connection[], parameters: URLSearchParams): JobDraft {
  return {
    ...NEW_JOB,
    sourceId: parameters.get('source') ?? usable[0]?.id ?? '',
    sourcePath: parameters.get('path') ?? '',
    destinationId: usable[1]?.id ?? usable[0]?.id ?? '',
  };
}

/** Of a job, what is told again to do the same. */
export type Told = Pick<RepeatableJob, 'type' | 'name' | 'source' | 'destination' | 'settings'>;

/** That job once more. */
export function draftOf({ type, name, source, destination, settings }: Told): JobDraft {
  const { include, exclude, maxDepth, minSize, maxSize, minAgeSeconds, maxAgeSeconds } = settings;
  const { onConflict, compare, deleteExtra, maxDeletes, bytesPerSecond, webhookUrl } = settings;
  return {
    ...{ type, onConflict, compare, deleteExtra, allowEmptySource: settings.allowEmptySource === true },
    name: name ?? '',
    ...{ sourceId: source.connectionId, sourcePath: source.path },
    ...{ destinationId: destination?.connectionId ?? '', destinationPath: destination?.path ?? '' },
    ...{ include: include.join('\n'), exclude: exclude.join('\n'), maxDepth: String(maxDepth ?? '') },
    ...{ minSize: sizeText(minSize), maxSize: sizeText(maxSize) },
    ...{ minAge: ageText(minAgeSeconds), maxAge: ageText(maxAgeSeconds) },
    maxDeletes: String(maxDeletes),
    speed: bytesPerSecond === 0 ? '' : sizeText(bytesPerSecond),
    webhookUrl: webhookUrl ?? '',
  };
}

export function isReady(draft: JobDraft): boolean {
  const { type, sourceId, sourcePath, destinationId, destinationPath } = draft;
  const hasSource = sourceId !== '' && sourcePath.trim() !== '';
  const hasTarget = type === 'delete' || (destinationId !== '' && destinationPath.trim() !== '');
  return hasSource && hasTarget && !Object.values(optionsOf(draft)).some(Number.isNaN);
}

/** Whether it may take away what nobody has looked at: what it would do is shown first. */
export function deletes({ type, deleteExtra }: JobDraft): boolean {
  return type === 'delete' || (type === 'sync' && deleteExtra);
}

/** The body of POST /api/jobs; what does not concern the type is left out. Of a dry run nobody is told. */
export function requestOf(draft: JobDraft, dryRun: boolean): NewJob {
  const { type, sourceId, sourcePath, destinationId, destinationPath } = draft;
  const name = draft.name.trim();
  return {
    ...known(type, { ...optionsOf(draft), dryRun, ...(dryRun ? { webhookUrl: undefined } : {}) }),
    type,
    source: { connectionId: sourceId, path: sourcePath.trim() },
    ...(type === 'delete' ? {} : { destination: { connectionId: destinationId, path: destinationPath.trim() } }),
    ...(name === '' ? {} : { name }),
  };
}

/** The request that does the same once more. */
export function sameAgain({ type, name, source, destination, settings }: Told, dryRun: boolean): NewJob {
  const places = { source, ...(destination === null ? {} : { destination }) };
  return { ...known(type, { ...settings, dryRun }), type, name, ...places };
}

type Options = { readonly [Option in JobOption]?: NewJob[Option] };

/** Each option that is not the form's own button. */
type Typed = { readonly [Option in Exclude<JobOption, 'dryRun'>]: NewJob[Option] | undefined };

/** What was typed for each; undefined = nothing. */
function optionsOf(draft: JobDraft): Typed {
  const { onConflict, compare, deleteExtra, allowEmptySource, maxDepth, maxDeletes, webhookUrl } = draft;
  return {
    ...{ include: lines(draft.include), exclude: lines(draft.exclude) },
    maxDepth: numberOf(maxDepth),
    ...{ minSize: bytesOf(draft.minSize), maxSize: bytesOf(draft.maxSize) },
    ...{ minAgeSeconds: secondsOf(draft.minAge), maxAgeSeconds: secondsOf(draft.maxAge) },
    ...{ onConflict, compare, deleteExtra, maxDeletes: numberOf(maxDeletes) },
    allowEmptySource: deleteExtra && allowEmptySource ? true : undefined,
    bytesPerSecond: bytesOf(draft.speed),
    webhookUrl: webhookUrl.trim() === '' ? undefined : webhookUrl.trim(),
  };
}

/** Without the options that the type does not know. */
function known(type: NewJob['type'], options: Options): Options {
  const names = Object.keys(options) as (keyof Options)[];
  const kept = names.filter((name) => options[name] !== undefined && knowsOption(type, name));
  return Object.fromEntries(kept.map((name) => [name, options[name]]));
}

function numberOf(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number(text);
}

function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
