/** What a job was told, in words: of one that was begun, and of one that a schedule begins. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { knowsOption } from '../../../../contract/job-options.ts';
import { withQuery } from '../../api/client.ts';
import type { Job } from '../../api/types.ts';
import { formatSpeed } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { boundsOf, COMPARISONS, CONFLICTS, filesText, TYPES } from './words.ts';

type Fact = readonly [name: string, value: ReactElement | string];

type Told = Pick<Job, 'type' | 'source' | 'destination' | 'settings'>;

export function factsOf(told: Told, nameOf: (connectionId: string) => string): readonly Fact[] {
  const { type, source, destination, settings } = told;
  const { include, exclude, onConflict, compare, deleteExtra, maxDeletes, bytesPerSecond, webhookUrl } = settings;
  const folder = ({ connectionId, path }: NonNullable<Job['source']>): ReactElement => (
    <Link href={withQuery(`/files/${encodeURIComponent(connectionId)}`, { path })}>
      {nameOf(connectionId)}: {path}
    </Link>
  );
  const words = t.jobs.facts;
  const bounds = boundsOf(settings);
  const extra = deleteExtra ? words.extraDeleted(filesText(maxDeletes)) : words.extraStays;
  const facts: readonly (Fact | false)[] = [
    [words.what, TYPES[type]],
    source !== null && [words.from, folder(source)],
    destination !== null && [words.to, folder(destination)],
    include.length > 0 && [words.include, include.join(', ')],
    exclude.length > 0 && [words.exclude, exclude.join(', ')],
    bounds.length > 0 && [words.bounds, bounds.join(', ')],
    knowsOption(type, 'onConflict') && [words.conflict, CONFLICTS[onConflict]],
    knowsOption(type, 'compare') && [words.compare, COMPARISONS[compare]],
    knowsOption(type, 'deleteExtra') && [words.extra, extra],
    bytesPerSecond > 0 && [words.speed, formatSpeed(bytesPerSecond)],
    webhookUrl !== null && [words.webhook, <span className="mono">{webhookUrl}</span>],
  ];
  return facts.filter((fact) => fact !== false);
}
