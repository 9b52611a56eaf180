/** The audit log: who changed what, and from where. */
import type { ReactElement } from 'react';
import { withQuery } from '../api/client.ts';
import { usePages } from '../api/hooks.ts';
import type { AuditEntry } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Badge, Time } from '../ui/basics.tsx';
import { useFilters } from '../ui/filters.tsx';
import { ScrollText } from '../ui/icons.tsx';
import { ListScreen } from '../ui/list.tsx';

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
      fields={[{ name: 'action', label: t.words.show, all: words.everything, options: Object.entries(words.areas) }]}
      columns={[
        { head: t.words.when, cell: ({ at }) => <Time iso={at} form="seconds" /> },
        {
          head: words.action,
          cell: ({ action, details }) => (
            <div>
              {/failed|refused|locked/.test(action) ? (
                <Badge tone="bad">{action}</Badge>
              ) : (
                <span className="mono nowrap">{action}</span>
              )}
              <div className="small muted mono">{detailsText(details)}</div>
            </div>
          ),
        },
        {
          head: words.on,
          cell: ({ target }) => (
            <div className="audit-target">
              {target === null ? <span className="muted">–</span> : (target.name ?? target.id)}
            </div>
          ),
        },
        {
          head: words.by,
          cell: ({ actor, address }) => (
            <span className="whole-words">
              {actor.name ?? (actor.kind === 'anonymous' ? words.nobody : (actor.id ?? ''))}
              {actor.kind === 'key' && <span className="muted small"> {words.apiKey}</span>}
              {address !== null && <div className="small muted mono">{address}</div>}
            </span>
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
