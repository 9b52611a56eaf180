/** All webhooks with their events, and the messages that no receiver accepted. */
import { useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { useRows } from '../api/hooks.ts';
import { useConnectionName } from '../api/names.ts';
import { t } from '../texts/texts.ts';
import { Mono } from '../ui/basics.tsx';
import { Webhook as WebhookIcon } from '../ui/icons.tsx';
import { ListScreen } from '../ui/list-screen.tsx';
import { MiddleName } from '../ui/middle-name.tsx';
import { useReceivers } from './deliveries/health.tsx';
import { DeadLetters } from './deliveries/list.tsx';
import { WebhookForm } from './webhooks/form.tsx';
import { NewSecret } from './webhooks/secret.tsx';
import { StateBadge } from './webhooks/state.tsx';

const words = t.webhooks;

export default function Webhooks(): ReactElement {
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  const nameOf = useConnectionName();
  const receiverOf = useReceivers();
  return (
    <ListScreen
      title={t.places.webhooks}
      words={words}
      icon={WebhookIcon}
      list={useRows('/api/webhooks', 'webhooks', { everyMs: 10_000 })}
      add={() => setAdding(true)}
      columns={[
        {
          head: t.words.receiver,
          grow: 40,
          cell: ({ id, url }) => (
            <Link href={`/webhooks/${id}`} className="mono">
              <MiddleName name={url} />
            </Link>
          ),
        },
        { head: t.places.events, grow: 35, cell: ({ events }) => <Mono>{events.join(', ')}</Mono> },
        {
          head: t.words.connections,
          grow: 25,
          cell: ({ connections }) =>
            connections.length === 0 ? words.allConnections : connections.map(nameOf).join(', '),
        },
        {
          head: t.words.state,
          cell: (webhook) => <StateBadge webhook={webhook} receiver={receiverOf({ webhookId: webhook.id })} />,
        },
      ]}
    >
      {/* This list includes dead letters of watched folders and jobs. */}
      <DeadLetters />
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
    </ListScreen>
  );
}
