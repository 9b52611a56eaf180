/** All webhooks: who is told of which events, and what nobody took. */
import { useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { useRead } from '../api/hooks.ts';
import type { Webhook } from '../api/types.ts';
import { Badge, Button, Empty, Page, Panel, Pending, Table } from '../ui/basics.tsx';
import { Plus, Webhook as WebhookIcon } from '../ui/icons.tsx';
import { useConnectionNames } from './jobs/rows.tsx';
import { Deliveries } from './watched/deliveries.tsx';
import { WebhookForm } from './webhooks/form.tsx';
import { NewSecret } from './webhooks/secret.tsx';

export default function Webhooks(): ReactElement {
  const read = useRead<{ webhooks: Webhook[] }>('/api/webhooks', { everyMs: 10_000 });
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  const webhooks = read.data?.webhooks;
  const add = (
    <Button look="primary" icon={Plus} onClick={() => setAdding(true)}>
      Add a webhook
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      lead="Receivers that are told of the events of this account, each message signed."
      actions={webhooks !== undefined && webhooks.length > 0 && add}
    >
      <Panel>
        {webhooks === undefined ? (
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        ) : webhooks.length === 0 ? (
          <Empty icon={WebhookIcon} title="No webhook yet" action={add}>
            Name a URL and the events that it is to be told of: failed transfers, jobs that have ended, servers that are
            down. What a receiver does not take is tried again, and kept.
          </Empty>
        ) : (
          <WebhookTable webhooks={webhooks} />
        )}
      </Panel>
      {/* Those of watched folders and jobs too. */}
      <Panel title="Dead letters">
        <Deliveries state="dead" empty="No message has run out of tries." />
      </Panel>
      {isAdding && (
        <WebhookForm
          onClose={() => setAdding(false)}
          onMade={(made) => {
            setAdding(false);
            setSecret(made);
          }}
        />
      )}
      {secret !== undefined && <NewSecret secret={secret} onClose={() => setSecret(undefined)} />}
    </Page>
  );
}

export function StateBadge({ webhook: { isActive, endedAt } }: { readonly webhook: Webhook }): ReactElement {
  if (endedAt !== null) return <Badge tone="bad">Ended</Badge>;
  return isActive ? <Badge tone="good">Active</Badge> : <Badge tone="warn">Paused</Badge>;
}

function WebhookTable({ webhooks }: { readonly webhooks: readonly Webhook[] }): ReactElement {
  const nameOf = useConnectionNames();
  return (
    <Table
      label="Webhooks"
      rows={webhooks}
      rowKey={({ id }) => id}
      columns={[
        {
          head: 'Receiver',
          cell: ({ id, url }) => (
            <Link href={`/webhooks/${id}`} className="mono">
              {url}
            </Link>
          ),
        },
        { head: 'Is told of', cell: ({ events }) => <span className="mono small">{events.join(', ')}</span> },
        {
          head: 'Connections',
          cell: ({ connections }) => (connections.length === 0 ? 'all' : connections.map(nameOf).join(', ')),
        },
        { head: 'State', cell: (webhook) => <StateBadge webhook={webhook} /> },
      ]}
    />
  );
}
