/** One webhook: what it is told of, and what became of each message. */
import * as Ariakit from '@ariakit/react';
import { useState, type ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { request } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { Webhook } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Button, Facts, Notice, Page, Panel, Pending, Time } from '../ui/basics.tsx';
import { Confirm, Menu } from '../ui/dialog.tsx';
import { FlaskConical, Pause, Pencil, Play } from '../ui/icons.tsx';
import { useConnectionNames } from './jobs/rows.tsx';
import { ReceiverNotice, useReceivers } from './deliveries/health.tsx';
import { Deliveries } from './deliveries/list.tsx';
import { StateBadge } from './webhooks/state.tsx';
import { WebhookForm } from './webhooks/form.tsx';
import { RotateSecret } from './webhooks/secret.tsx';
import { TestDialog } from './webhooks/test-dialog.tsx';

const READS = ['/api/webhooks', '/manage/deliveries', '/manage/receivers', '/manage/overview'];

export default function WebhookScreen({ id }: { readonly id: string }): ReactElement {
  const path = `/api/webhooks/${id}`;
  const read = useRead<{ webhook: Webhook }>(path, { everyMs: 5_000 });
  if (read.data === undefined) {
    return (
      <Page title={t.webhooks.one} lead={<Link href="/webhooks">{t.webhooks.title}</Link>}>
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
  const [open, setOpen] = useState<'edit' | 'secret' | 'delete' | 'test'>();
  const close = (): void => setOpen(undefined);
  const [, navigate] = useLocation();
  const receiver = useReceivers()({ webhookId: id });
  const toggle = useAction(() => request('PATCH', path, { isActive: !isActive }), {
    says: isActive ? t.webhooks.nowPaused : t.webhooks.nowActive,
    refreshes: READS,
  });
  const remove = useAction(() => request('DELETE', path), {
    says: t.webhooks.removed,
    refreshes: READS,
    showsError: true,
    onDone: () => navigate('/webhooks'),
  });
  return (
    <Page
      title={hostOf(url)}
      lead={
        <span className="row">
          <Link href="/webhooks">{t.webhooks.title}</Link>
          <StateBadge webhook={webhook} receiver={receiver} />
        </span>
      }
      actions={
        <>
          <Button icon={FlaskConical} onClick={() => setOpen('test')}>
            {t.deliveries.tester.send}
          </Button>
          {/* One button for both: the focus stays on it. */}
          <Button icon={isActive ? Pause : Play} isBusy={toggle.isPending} onClick={() => toggle.mutate(undefined)}>
            {isActive ? t.webhooks.pause : t.webhooks.resume}
          </Button>
          <Button icon={Pencil} onClick={() => setOpen('edit')}>
            {t.webhooks.edit}
          </Button>
          <Menu
            label={t.webhooks.more}
            entries={[
              { label: t.webhooks.newSecret, onSelect: () => setOpen('secret') },
              { label: t.webhooks.remove, isDanger: true, onSelect: () => setOpen('delete') },
            ]}
          />
        </>
      }
    >
      {endedAt !== null && (
        <Notice tone="warn" title={t.webhooks.goneTitle}>
          {t.webhooks.goneSince} <Time iso={endedAt} isLong />. {t.webhooks.goneRemedy}
        </Notice>
      )}
      <ReceiverNotice receiver={receiver} />
      <Panel>
        <div className="panel-body">
          <WebhookFacts webhook={webhook} />
        </div>
      </Panel>
      <Panel>
        <Ariakit.TabProvider defaultSelectedId="deliveries">
          <Ariakit.TabList className="tabs" aria-label={t.webhooks.tabs}>
            <Ariakit.Tab id="deliveries" className="tab">
              {t.deliveries.title}
            </Ariakit.Tab>
            <Ariakit.Tab id="dead" className="tab">
              {t.deliveries.deadLetters}
            </Ariakit.Tab>
          </Ariakit.TabList>
          <Ariakit.TabPanel tabId="deliveries" unmountOnHide>
            <Deliveries webhookId={id} empty={t.webhooks.noDelivery} />
          </Ariakit.TabPanel>
          <Ariakit.TabPanel tabId="dead" unmountOnHide>
            <Deliveries webhookId={id} state="dead" empty={t.deliveries.noDead} />
          </Ariakit.TabPanel>
        </Ariakit.TabProvider>
      </Panel>
      {open === 'edit' && <WebhookForm former={webhook} onClose={close} />}
      {open === 'test' && <TestDialog path={path} onClose={close} />}
      {open === 'secret' && <RotateSecret path={path} onClose={close} />}
      {open === 'delete' && (
        <Confirm
          title={t.webhooks.removeTitle}
          verb={t.webhooks.removeVerb}
          isBusy={remove.isPending}
          error={remove.error}
          onClose={close}
          onConfirm={() => remove.mutate(undefined)}
        >
          <p>{t.webhooks.removeText}</p>
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
          t.webhooks.url,
          <span key="u" className="mono">
            {url}
          </span>,
        ],
        [
          t.webhooks.events,
          <span key="e" className="mono">
            {events.join(', ')}
          </span>,
        ],
        [t.webhooks.about, connections.length === 0 ? t.webhooks.allConnections : connections.map(nameOf).join(', ')],
        [t.webhooks.made, <Time key="m" iso={createdAt} isLong />],
      ]}
    />
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
