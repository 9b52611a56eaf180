/** The fields and settings of a job, or of the job of a schedule, in words. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { JOB_FILTERS, type JobOption, knowsOption } from '../../../../contract/job-options.ts';
import type { Job } from '../../api/types.ts';
import { formatSpeed } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Mono } from '../../ui/basics.tsx';
import { fieldFacts, otherFacts } from '../../ui/field-facts.ts';
import { folderAddress } from '../files/links.ts';
import { boundsOf, filesText, TYPES } from './words.ts';

const words = t.jobs;
const RULES = ['onConflict', 'compare'] as const;
/** The options that have words of their own. */
const SHOWN_OPTIONS: readonly JobOption[] = [
  ...RULES,
  ...JOB_FILTERS,
  ...(['deleteExtra', 'maxDeletes', 'bytesPerSecond', 'webhookUrl'] as const),
];

type NameOf = (connectionId: string) => string;
type DescribedJob = Pick<Job, 'type' | 'source' | 'destination' | 'settings'>;

export function factsOf(job: DescribedJob, nameOf: NameOf): Record<string, ReactNode> {
  const { type, source, destination, settings } = job;
  const { deleteExtra, maxDeletes, bytesPerSecond, webhookUrl } = settings;
  const { facts } = words;
  const bounds = boundsOf(settings);
  const extra = deleteExtra ? facts.extraDeleted(filesText(maxDeletes)) : facts.extraStays;
  return {
    [t.words.what]: TYPES[type],
    [t.fields.job.source.label]: source === null ? undefined : <FolderLink {...source} nameOf={nameOf} />,
    [t.fields.job.destination.label]:
      destination === null ? undefined : <FolderLink {...destination} nameOf={nameOf} />,
    ...fieldFacts('jobOptions', settings, ['include', 'exclude']),
    [facts.bounds]: bounds.length === 0 ? undefined : bounds.join(', '),
    ...fieldFacts(
      'jobOptions',
      settings,
      RULES.filter((rule) => knowsOption(type, rule)),
    ),
    [facts.extra]: knowsOption(type, 'deleteExtra') ? extra : undefined,
    [facts.speed]: bytesPerSecond > 0 ? formatSpeed(bytesPerSecond) : undefined,
    [t.words.webhook]: webhookUrl === null ? undefined : <Mono>{webhookUrl}</Mono>,
    ...otherFacts('jobOptions', settings, SHOWN_OPTIONS),
  };
}

export function FolderLink(props: {
  readonly connectionId: string;
  readonly path: string;
  readonly rawName?: string;
  readonly nameOf: NameOf;
}) {
  const { connectionId, path, rawName, nameOf } = props;
  return (
    <Link href={folderAddress(connectionId, path, rawName)}>
      {nameOf(connectionId)} <Mono>{path}</Mono>
    </Link>
  );
}
