/** Who changed what, from where. */
import type { ReactElement } from 'react';
import { ScrollText } from '../ui/icons.tsx';
import { useSearchParams } from 'wouter';
import { withQuery } from '../api/client.ts';
import { usePages } from '../api/hooks.ts';
import type { AuditEntry } from '../api/types.ts';
import { formatDateTime, formatSeconds } from '../format.ts';
import { Badge, Button, Empty, Page, Panel, Pending, Table } from '../ui/basics.tsx';
import { t } from '../texts/texts.ts';
import { ChoiceField } from '../ui/fields.tsx';

const words = t.audit;
const AREAS: readonly (readonly [string, string])[] = Object.entries(words.areas);

interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly nextCursor: string | null;
}

export default function Audit(): ReactElement {
  const [parameters, setParameters] = useSearchParams();
  const action = parameters.get('action') ?? '';
  const path = withQuery('/manage/audit', { action, limit: 50 });
  const pages = usePages<AuditPage>(path);
  const entries = (pages.data?.pages ?? []).flatMap((page) => page.entries);
  return (
    <Page isWide title={words.title} lead={words.lead}>
      <search className="filters one">
        <ChoiceField
          label={words.show}
          value={action}
          onText={(value) => setParameters(value === '' ? {} : { action: value }, { replace: true })}
          options={AREAS.some(([area]) => area === action) ? AREAS : [...AREAS, [action, action] as const]}
        />
      </search>
      <Panel>
        {pages.data === undefined ? (
          <Pending error={pages.error} onRetry={() => void pages.refetch()} />
        ) : entries.length === 0 ? (
          <Empty icon={ScrollText} title={words.none}>
            {words.noneText}
          </Empty>
        ) : (
          <Table
            label={words.title}
            rows={entries}
            rowKey={({ id }) => id}
            columns={[
              {
                head: words.when,
                cell: ({ at }) => (
                  <time dateTime={at} title={formatDateTime(at)} className="nowrap">
                    {formatSeconds(at)}
                  </time>
                ),
              },
              {
                head: words.action,
                cell: ({ action: name, details }) => (
                  <div>
                    {/failed|refused|locked/.test(name) ? (
                      <Badge tone="bad">{name}</Badge>
                    ) : (
                      <span className="mono nowrap">{name}</span>
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
        )}
        {pages.hasNextPage && (
          <div className="panel-body">
            <div className="row">
              <Button isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                {words.older}
              </Button>
            </div>
          </div>
        )}
      </Panel>
    </Page>
  );
}

function detailsText(details: AuditEntry['details']): string {
  return Object.entries(details ?? {})
    .filter(([name, value]) => name !== 'sessionId' && value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : String(value)}`)
    .join('; ');
}
