/** The order and settings of a job in words, also of the job that a schedule begins. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { knowsOption } from '../../../../contract/job-options.ts';
import { segment, withQuery } from '../../api/client.ts';
import type { Job } from '../../api/types.ts';
import { formatSpeed } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Mono } from '../../ui/basics.tsx';
import { boundsOf, filesText, TYPES } from './words.ts';

const words = t.jobs;
const fields = t.fields.jobOptions;

type NameOf = (connectionId: string) => string;
type Told = Pick<Job, 'type' | 'source' | 'destination' | 'settings'>;

export function factsOf(told: Told, nameOf: NameOf): Record<string, ReactNode> {
  const { type, source, destination, settings } = told;
  const { include, exclude, onConflict, compare, deleteExtra, maxDeletes, bytesPerSecond, webhookUrl } = settings;
  const { facts } = words;
  const listed = (parts: readonly string[]): ReactNode => (parts.length === 0 ? undefined : parts.join(', '));
  const extra = deleteExtra ? facts.extraDeleted(filesText(maxDeletes)) : facts.extraStays;
  return {
    [t.words.what]: TYPES[type],
    [facts.from]: source === null ? undefined : <FolderLink {...source} nameOf={nameOf} />,
    [facts.to]: destination === null ? undefined : <FolderLink {...destination} nameOf={nameOf} />,
    [facts.include]: listed(include),
    [facts.exclude]: listed(exclude),
    [facts.bounds]: listed(boundsOf(settings)),
    [facts.conflict]: knowsOption(type, 'onConflict') ? fields.onConflict.choices[onConflict] : undefined,
    [facts.compare]: knowsOption(type, 'compare') ? fields.compare.choices[compare] : undefined,
    [facts.extra]: knowsOption(type, 'deleteExtra') ? extra : undefined,
    [facts.speed]: bytesPerSecond > 0 ? formatSpeed(bytesPerSecond) : undefined,
    [t.words.webhook]: webhookUrl === null ? undefined : <Mono>{webhookUrl}</Mono>,
  };
}

export function FolderLink(props: { readonly connectionId: string; readonly path: string; readonly nameOf: NameOf }) {
  const { connectionId, path, nameOf } = props;
  return (
    <Link href={withQuery(`/files/${segment(connectionId)}`, { path })}>
      {nameOf(connectionId)} <Mono>{path}</Mono>
    </Link>
  );
}
