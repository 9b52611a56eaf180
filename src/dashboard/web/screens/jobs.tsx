/** All jobs, filtered by the address. */
import type { ReactElement } from 'react';
import { FILTER_NAMES } from '../../../contract/derived/filter-names.ts';
import { withQuery } from '../api/client.ts';
import { usePages } from '../api/hooks.ts';
import { t } from '../texts/texts.ts';
import { timeFields, timePresets, useFilters } from '../ui/filters.tsx';
import { Layers } from '../ui/icons.tsx';
import { ListScreen } from '../ui/list-screen.tsx';
import { JOB_BULK, useJobColumns } from './jobs/rows.tsx';
import { TYPES } from './jobs/words.ts';

export default function Jobs(): ReactElement {
  const filters = useFilters(FILTER_NAMES.jobs);
  return (
    <ListScreen
      title={t.places.jobs}
      words={t.jobs}
      icon={Layers}
      list={usePages(withQuery('/manage/jobs', { ...filters.values, limit: 50 }), 'jobs', { everyMs: 3_000 })}
      columns={useJobColumns()}
      bulk={JOB_BULK}
      filters={filters}
      presets={[
        ...timePresets(),
        ...(['running', 'failed'] as const).map((state) => ({ name: t.jobs.states[state], filters: { state } })),
      ]}
      fields={[
        { name: 'state', label: t.words.state, options: Object.entries(t.jobs.states) },
        { name: 'type', label: t.words.type, options: Object.entries(TYPES) },
        ...timeFields(),
      ]}
      add="/jobs/new"
    />
  );
}
