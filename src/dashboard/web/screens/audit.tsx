/** Who changed what, from where. */
import type { ReactElement } from 'react';
import { ScrollText } from '../ui/icons.tsx';
import { useSearchParams } from 'wouter';
import { withQuery } from '../api/client.ts';
import { usePages } from '../api/hooks.ts';
import type { AuditEntry } from '../api/types.ts';
import { Badge, Button, Empty, Page, Panel, Pending, Table, Time } from '../ui/basics.tsx';
import { ChoiceField } from '../ui/fields.tsx';

const AREAS = [
  ['', 'Everything'],
  ['login', 'Logins'],
  ['session', 'Sessions'],
  ['account', 'Account'],
  ['connection', 'Connections'],
  ['api_key', 'API keys'],
  ['key_pair', 'Key pairs'],
  ['watched_folder', 'Watched folders'],
  ['delivery', 'Deliveries'],
  ['webhook', 'Webhooks'],
  ['transfer', 'Transfers'],
] as const;

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
    <Page title="Audit log" lead="Every change and every login, refused ones too.">
      <search className="filters one">
        <ChoiceField
          label="Show"
          value={action}
          onText={(value) => setParameters(value === '' ? {} : { action: value }, { replace: true })}
          options={AREAS.some(([area]) => area === action) ? AREAS : [...AREAS, [action, action] as const]}
        />
      </search>
      <Panel>
        {pages.data === undefined ? (
          <Pending error={pages.error} onRetry={() => void pages.refetch()} />
        ) : entries.length === 0 ? (
          <Empty icon={ScrollText} title="Nothing here">
            Changes to connections, keys and the account are recorded with the person or key that made them, and the
            address they came from.
          </Empty>
        ) : (
          <Table
            label="Audit log"
            rows={entries}
            rowKey={({ id }) => id}
            columns={[
              { head: 'When', cell: ({ at }) => <Time iso={at} /> },
              {
                head: 'Action',
                cell: ({ action: name }) =>
                  /failed|refused|locked/.test(name) ? (
                    <Badge tone="bad">{name}</Badge>
                  ) : (
                    <span className="mono nowrap">{name}</span>
                  ),
              },
              {
                head: 'On',
                cell: ({ target }) => (target === null ? <span className="muted">–</span> : (target.name ?? target.id)),
              },
              {
                head: 'By',
                cell: ({ actor }) => (
                  <span className="whole-words">
                    {actor.name ?? (actor.kind === 'anonymous' ? 'nobody logged in' : (actor.id ?? ''))}
                    {actor.kind === 'key' && <span className="muted small"> (API key)</span>}
                  </span>
                ),
              },
              { head: 'Address', cell: ({ address }) => <span className="mono nowrap">{address ?? '–'}</span> },
              {
                head: 'Details',
                cell: ({ details }) => {
                  const text = detailsText(details);
                  return text !== '' && <span className="small muted mono">{text}</span>;
                },
              },
            ]}
          />
        )}
        {pages.hasNextPage && (
          <div className="panel-body">
            <div className="row">
              <Button isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                Show older ones
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
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('; ');
}
