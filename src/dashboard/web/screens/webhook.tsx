/** One webhook: what it is told of, and what became of each message. */
import * as Ariakit from '@ariakit/react';
import { useState, type ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { request } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { Webhook } from '../api/types.ts';
import { Button, Facts, Notice, Page, Panel, Pending, Time } from '../ui/basics.tsx';
import { Confirm, Menu } from '../ui/dialog.tsx';
import { Pause, Pencil, Play } from '../ui/icons.tsx';
import { useConnectionNames } from './jobs/rows.tsx';
import { Deliveries } from './watched/deliveries.tsx';
import { StateBadge } from './webhooks.tsx';
import { WebhookForm } from './webhooks/form.tsx';
import { RotateSecret } from './webhooks/secret.tsx';

const READS = ['/api/webhooks', '/manage/deliveries', '/manage/overview'];

export default function WebhookScreen({ id }: { readonly id: string }): ReactElement {
  const path = `/api/webhooks/${id}`;
  const read = useRead<{ webhook: Webhook }>(path, { everyMs: 5_000 });
  if (read.data === undefined) {
    return (
      <Page title="Webhook" lead={<Link href="/webhooks">Webhooks</Link>}>
        <Panel>
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        </Panel>
      </Page>
    );
  }
  return <One webhook={read.data.webhook} path={path} />;
}

function One({ webhook, path }: { readonly webhook: Webhook; readonly path: string }): ReactElement {
  const { id, url, isActive, endedAt } = webhook;
  const [open, setOpen] = useState<'edit' | 'secret' | 'delete'>();
  const close = (): void => setOpen(undefined);
  const [, navigate] = useLocation();
  const toggle = useAction(() => request('PATCH', path, { isActive: !isActive }), {
    says: isActive ? 'Paused' : 'Active again',
    refreshes: READS,
  });
  const remove = useAction(() => request('DELETE', path), {
    says: 'The webhook is deleted',
    refreshes: READS,
    showsError: true,
    onDone: () => navigate('/webhooks'),
  });
  return (
    <Page
      title={hostOf(url)}
      lead={
        <span className="row">
          <Link href="/webhooks">Webhooks</Link>
          <StateBadge webhook={webhook} />
        </span>
      }
      actions={
        <>
          {/* One button for both: the focus stays on it. */}
          <Button icon={isActive ? Pause : Play} isBusy={toggle.isPending} onClick={() => toggle.mutate(undefined)}>
            {isActive ? 'Pause' : 'Resume'}
          </Button>
          <Button icon={Pencil} onClick={() => setOpen('edit')}>
            Change …
          </Button>
          <Menu
            label="More"
            entries={[
              { label: 'New signing secret …', onSelect: () => setOpen('secret') },
              { label: 'Delete …', isDanger: true, onSelect: () => setOpen('delete') },
            ]}
          />
        </>
      }
    >
      {endedAt !== null && (
        <Notice tone="warn" title="The receiver answered that it is gone (410)">
          Nothing is sent to it since <Time iso={endedAt} isLong />. Resume, once it is there again.
        </Notice>
      )}
      <Panel>
        <div className="panel-body">
          <WebhookFacts webhook={webhook} />
        </div>
      </Panel>
      <Panel>
        <Ariakit.TabProvider defaultSelectedId="deliveries">
          <Ariakit.TabList className="tabs" aria-label="Of this webhook">
            <Ariakit.Tab id="deliveries" className="tab">
              Deliveries
            </Ariakit.Tab>
            <Ariakit.Tab id="dead" className="tab">
              Dead letters
            </Ariakit.Tab>
          </Ariakit.TabList>
          <Ariakit.TabPanel tabId="deliveries" unmountOnHide>
            <Deliveries webhookId={id} empty="Nothing has happened yet that it is to be told of." />
          </Ariakit.TabPanel>
          <Ariakit.TabPanel tabId="dead" unmountOnHide>
            <Deliveries webhookId={id} state="dead" empty="No message has run out of tries." />
          </Ariakit.TabPanel>
        </Ariakit.TabProvider>
      </Panel>
      {open === 'edit' && <WebhookForm former={webhook} onClose={close} />}
      {open === 'secret' && <RotateSecret path={path} onClose={close} />}
      {open === 'delete' && (
        <Confirm
          title="Delete this webhook?"
          verb="Delete the webhook"
          isBusy={remove.isPending}
          error={remove.error}
          onClose={close}
          onConfirm={() => remove.mutate(undefined)}
        >
          <p>Messages that are not delivered yet are dropped. The events stay among the events of the account.</p>
        </Confirm>
      )}
    </Page>
  );
}

function WebhookFacts({
  webhook: { url, events, connections, createdAt },
}: {
  readonly webhook: Webhook;
}): ReactElement {
  const nameOf = useConnectionNames();
  return (
    <Facts
      isWide
      items={[
        [
          'URL',
          <span key="u" className="mono">
            {url}
          </span>,
        ],
        [
          'Is told of',
          <span key="e" className="mono">
            {events.join(', ')}
          </span>,
        ],
        ['Only about', connections.length === 0 ? 'all connections' : connections.map(nameOf).join(', ')],
        ['Made', <Time key="m" iso={createdAt} isLong />],
      ]}
    />
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
