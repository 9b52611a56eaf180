/** All webhooks: who is told of which events, and what nobody took. */
import { useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { useRead } from '../api/hooks.ts';
import type { Webhook } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Term } from '../ui/term.tsx';
import { Button, Empty, Page, Panel, Pending, Table } from '../ui/basics.tsx';
import { Plus, Webhook as WebhookIcon } from '../ui/icons.tsx';
import { useConnectionNames } from './jobs/rows.tsx';
import { useReceivers } from './deliveries/health.tsx';
import { Deliveries } from './deliveries/list.tsx';
import { WebhookForm } from './webhooks/form.tsx';
import { NewSecret } from './webhooks/secret.tsx';
import { StateBadge } from './webhooks/state.tsx';

export default function Webhooks(): ReactElement {
  const read = useRead<{ webhooks: Webhook[] }>('/api/webhooks', { everyMs: 10_000 });
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  const webhooks = read.data?.webhooks;
  const add = (
    <Button look="primary" icon={Plus} onClick={() => setAdding(true)}>
      {t.webhooks.add}
    </Button>
  );
  return (
    <Page
      title={t.webhooks.title}
      lead={t.webhooks.lead}
      actions={webhooks !== undefined && webhooks.length > 0 && add}
    >
      <Panel>
        {webhooks === undefined ? (
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        ) : webhooks.length === 0 ? (
          <Empty icon={WebhookIcon} title={t.webhooks.none} action={add}>
            {t.webhooks.noneText}
          </Empty>
        ) : (
          <WebhookTable webhooks={webhooks} />
        )}
      </Panel>
      {/* Those of watched folders and jobs too. */}
      <Panel title={t.deliveries.deadLetters} actions={<Term of="deadLetter" />}>
        <Deliveries state="dead" empty={t.deliveries.noDead} />
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

function WebhookTable({ webhooks }: { readonly webhooks: readonly Webhook[] }): ReactElement {
  const nameOf = useConnectionNames();
  const receiverOf = useReceivers();
  return (
    <Table
      label={t.webhooks.title}
      rows={webhooks}
      rowKey={({ id }) => id}
      columns={[
        {
          head: t.webhooks.receiver,
          cell: ({ id, url }) => (
            <Link href={`/webhooks/${id}`} className="mono">
              {url}
            </Link>
          ),
        },
        { head: t.webhooks.events, cell: ({ events }) => <span className="mono small">{events.join(', ')}</span> },
        {
          head: t.webhooks.connections,
          cell: ({ connections }) =>
            connections.length === 0 ? t.webhooks.allConnections : connections.map(nameOf).join(', '),
        },
        {
          head: t.webhooks.state,
          cell: (webhook) => <StateBadge webhook={webhook} receiver={receiverOf({ webhookId: webhook.id })} />,
        },
      ]}
    />
  );
}
