/** The filters of the history in the address, and the preset views. */
import { FILTER_NAMES } from '../../../../contract/derived/filter-names.ts';
import { startOfDay } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { sinceOf } from '../../format.ts';
import { type Preset, timePresets } from '../../ui/filters.tsx';

/** The filters, and the order of the list. */
export const FILTERS = [...FILTER_NAMES.transfers, 'order'] as const;
type Filter = (typeof FILTERS)[number];
type Filters = Partial<Record<Filter, string>>;

/** The query for the gateway. Lists and look-ups are hidden by default. */
export function queryOf({ lookups, ...filters }: Filters): Record<string, string> {
  return { ...filters, ...(lookups === 'true' ? {} : { lookups: 'false' }) };
}

export function presets(): readonly Preset[] {
  const { presets: names } = t.transfers;
  return [
    ...timePresets(),
    { name: t.overview.failedToday, filters: { status: 'failed', since: sinceOf(startOfDay()) } },
    { name: names.running, filters: { status: 'pending' } },
    { name: names.large, filters: { order: 'largest' } },
    { name: names.slow, filters: { order: 'longest' } },
  ];
}
