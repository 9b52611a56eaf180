/** The audit log: who changed what, and from where. */
import type { ReactElement } from 'react';
import { withQuery } from '../api/client.ts';
import { usePages } from '../api/hooks.ts';
import type { AuditEntry } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Badge, Mono, Time, Titled } from '../ui/basics.tsx';
import { useFilters } from '../ui/filters.tsx';
import { ScrollText } from '../ui/icons.tsx';
import { ListScreen } from '../ui/list.tsx';
import { MiddleName } from '../ui/middle-name.tsx';

const words = t.audit;

export default function Audit(): ReactElement {
  const filters = useFilters(['action']);
  return (
    <ListScreen
      isWide
      title={t.places.audit}
      words={words}
      icon={ScrollText}
      list={usePages<AuditEntry>(withQuery('/manage/audit', { ...filters.values, limit: 50 }), 'entries')}
      filters={filters}
      presets={[
        { name: words.everything, filters: {} },
        ...(['login', 'connection', 'api_key'] as const).map((action) => ({
          name: words.areas[action],
          filters: { action },
        })),
      ]}
      fields={[{ name: 'action', label: t.words.show, all: words.everything, options: Object.entries(words.areas) }]}
      columns={[
        { head: t.words.when, cell: ({ at }) => <Time iso={at} form="seconds" /> },
        {
          head: words.action,
          grow: 50,
          cell: ({ action, details }) => (
            <Titled
              top={/failed|refused|locked/.test(action) ? <Badge tone="bad">{action}</Badge> : <Mono>{action}</Mono>}
            >
              {detailsText(details)}
            </Titled>
          ),
        },
        {
          head: words.on,
          grow: 25,
          cell: ({ target }) => <MiddleName name={target === null ? '–' : (target.name ?? target.id)} />,
        },
        {
          head: words.by,
          grow: 25,
          cell: ({ actor, address }) => (
            <Titled top={actor.name ?? (actor.kind === 'anonymous' ? words.nobody : (actor.id ?? ''))}>
              {actor.kind === 'key' && `${words.apiKey} `}
              {address !== null && <Mono>{address}</Mono>}
            </Titled>
          ),
        },
      ]}
    />
  );
}

function detailsText(details: AuditEntry['details']): string {
  return Object.entries(details ?? {})
    .filter(([name, value]) => name !== 'sessionId' && value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : String(value)}`)
    .join('; ');
}
