/** A webhook: its events, and the result of each message. */
import { useState, type ReactElement } from 'react';
import { useLocation } from 'wouter';
import { request } from '../api/client.ts';
import { useRead } from '../api/hooks.ts';
import { useConnectionName } from '../api/names.ts';
import type { Webhook } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { ActionButton } from '../ui/actions.tsx';
import { ConfirmAction } from '../ui/form-dialog.tsx';
import { Button, Facts, Notice, Panel, Time } from '../ui/basics.tsx';
import { Detail, DetailPage } from '../ui/detail.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Menu } from '../ui/menu.tsx';
import { FlaskConical, Pause, Pencil, Play } from '../ui/later-icons.ts';
import { ReceiverNotice, useReceivers } from './deliveries/health.tsx';
import { Deliveries } from './deliveries/list.tsx';
import { factsOf } from './webhooks/facts.tsx';
import { WebhookForm } from './webhooks/form.tsx';
import { RotateSecret } from './webhooks/secret.tsx';
import { StateBadge } from './webhooks/state.tsx';
import { TestDialog } from './webhooks/test-dialog.tsx';

const READS = ['/api/webhooks', '/manage/deliveries', '/manage/receivers', '/manage/overview'];
const words = t.webhooks;
const UP = ['/webhooks', t.places.webhooks] as const;

export default function WebhookScreen({ id }: { readonly id: string }): ReactElement {
  const path = `/api/webhooks/${id}` as const;
  const read = useRead(path, { everyMs: 5_000 });
  return (
    <Detail of={read} title={words.one} up={UP}>
      {({ webhook }) => <One webhook={webhook} path={path} />}
    </Detail>
  );
}

function One({ webhook, path }: { readonly webhook: Webhook; readonly path: `/api/webhooks/${string}` }): ReactElement {
  const { id, url, isActive, endedAt } = webhook;
  const [open, setOpen] = useState<'edit' | 'secret' | 'delete' | 'test'>();
  const close = (): void => setOpen(undefined);
  const [, navigate] = useLocation();
  const receiver = useReceivers()({ webhookId: id });
  const nameOf = useConnectionName();
  return (
    <DetailPage
      title={URL.canParse(url) ? new URL(url).host : url}
      up={UP}
      state={<StateBadge webhook={webhook} receiver={receiver} />}
      actions={
        <>
          <Button icon={FlaskConical} onClick={() => setOpen('test')}>
            {t.words.sendTest}
          </Button>
          {/* One button for both actions keeps the focus. */}
          <ActionButton
            icon={isActive ? Pause : Play}
            run={() => request('PATCH', path, { isActive: !isActive })}
            says={isActive ? t.words.paused : t.words.activeAgain}
            refreshes={READS}
          >
            {isActive ? t.words.pause : t.words.resume}
          </ActionButton>
          <Button icon={Pencil} onClick={() => setOpen('edit')}>
            {t.words.edit}
          </Button>
          <Menu
            label={t.common.more}
            entries={[
              { label: words.newSecret, onSelect: () => setOpen('secret') },
              { label: t.words.remove, isDanger: true, onSelect: () => setOpen('delete') },
            ]}
          />
        </>
      }
    >
      {endedAt !== null && (
        <Notice tone="warn" title={words.goneTitle}>
          {t.words.nothingSentSince} <Time iso={endedAt} form="long" />. {words.goneRemedy}
        </Notice>
      )}
      <ReceiverNotice receiver={receiver} />
      <Panel isPadded>
        <Facts isWide of={factsOf(webhook, nameOf)} />
      </Panel>
      <Tabs
        label={words.tabs}
        tabs={[
          [t.places.deliveries, <Deliveries webhookId={id} none={words.noDelivery} />],
          [t.deliveries.deadLetters, <Deliveries webhookId={id} state="dead" none={t.deliveries.noDead} />],
        ]}
      />
      {open === 'edit' && <WebhookForm former={webhook} onClose={close} />}
      {open === 'test' && <TestDialog path={path} onClose={close} />}
      {open === 'secret' && <RotateSecret path={path} onClose={close} />}
      {open === 'delete' && (
        <ConfirmAction
          title={words.removeTitle}
          verb={words.removeVerb}
          run={() => request('DELETE', path)}
          says={words.removed}
          refreshes={READS}
          onDone={() => navigate('/webhooks')}
          onClose={close}
        >
          <p>{words.removeText}</p>
        </ConfirmAction>
      )}
    </DetailPage>
  );
}
