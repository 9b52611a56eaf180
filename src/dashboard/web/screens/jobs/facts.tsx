/** What a job was told, in words: of one that was begun, and of one that a schedule begins. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { knowsOption } from '../../../../base/job-options.ts';
import { withQuery } from '../../api/client.ts';
import type { Job } from '../../api/types.ts';
import { formatSpeed } from '../../format.ts';
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
  const bounds = boundsOf(settings);
  const extra = deleteExtra ? `is deleted, ${filesText(maxDeletes)} at most` : 'stays';
  const facts: readonly (Fact | false)[] = [
    ['What', TYPES[type]],
    source !== null && ['From', folder(source)],
    destination !== null && ['To', folder(destination)],
    include.length > 0 && ['Only files like', include.join(', ')],
    exclude.length > 0 && ['But not like', exclude.join(', ')],
    bounds.length > 0 && ['Only files', bounds.join(', ')],
    knowsOption(type, 'onConflict') && ['A file that is there already', CONFLICTS[onConflict]],
    knowsOption(type, 'compare') && ['A file is unchanged when', COMPARISONS[compare]],
    knowsOption(type, 'deleteExtra') && ['What only the destination has', extra],
    bytesPerSecond > 0 && ['Not faster than', formatSpeed(bytesPerSecond)],
    webhookUrl !== null && ['Webhook', <span className="mono">{webhookUrl}</span>],
  ];
  return facts.filter((fact) => fact !== false);
}
