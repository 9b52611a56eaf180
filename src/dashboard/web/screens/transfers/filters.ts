/** The filters of the history in the address, and the preset views. */
import { withQuery } from '../../api/client.ts';
import { startOfToday } from '../../format.ts';
import { t } from '../../texts/texts.ts';

/** The filters, and other parameters of the list: the order, and whether lists and look-ups are shown. */
export const FILTERS = [
  ...['connectionId', 'status', 'type', 'direction', 'since', 'until', 'search', 'digest'],
  ...['keyId', 'errorCode', 'requestId', 'minBytes', 'order', 'lookups'],
] as const;
export type Filter = (typeof FILTERS)[number];
type Filters = Partial<Record<Filter, string>>;

/** The query for the gateway. Lists and look-ups are hidden by default. */
export function queryOf({ lookups, ...filters }: Filters): Record<string, string> {
  return { ...filters, ...(lookups === 'true' ? {} : { lookups: 'false' }) };
}

/** The gateway's `since` is exclusive, so this is a millisecond before `from`. */
export function sinceOf(from: string | Date): string {
  return new Date(new Date(from).getTime() - 1).toISOString();
}

interface Preset {
  readonly name: string;
  readonly filters: Filters;
}

export function presets(): readonly Preset[] {
  const { presets: names } = t.transfers;
  return [
    { name: t.common.all, filters: {} },
    { name: t.overview.failedToday, filters: { status: 'failed', since: sinceOf(startOfToday()) } },
    { name: names.running, filters: { status: 'pending' } },
    { name: names.large, filters: { order: 'largest' } },
    { name: names.slow, filters: { order: 'longest' } },
  ];
}

/** Whether exactly these filters are set. Lists and look-ups do not count. */
export function isChosen({ filters }: Preset, { lookups: _, ...current }: Filters): boolean {
  return withQuery('', sorted(filters)) === withQuery('', sorted(current));
}

function sorted(filters: Filters): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1)));
}
