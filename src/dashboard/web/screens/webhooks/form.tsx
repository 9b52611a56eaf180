/** The form of a new or edited webhook. */
import type { ReactElement } from 'react';
import type { Webhook } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { ThingDialog, useForm } from '../../ui/form.tsx';

const words = t.webhooks.form;

type Props =
  | { readonly former?: undefined; readonly onClose: () => void; readonly onMade: (secret: string) => void }
  | { readonly former: Webhook; readonly onClose: () => void; readonly onMade?: undefined };

export function WebhookForm({ former, onClose, onMade }: Props): ReactElement {
  const form = useForm(['webhook'], {
    former,
    keepAs: former === undefined ? 'webhook' : undefined,
    start: former === undefined ? { events: ['transfer.failed', 'connection.down', 'connection.up'] } : {},
    // `isActive` has its own button.
    without: ['isActive'],
    asks: (name, { events }) =>
      name !== 'operations' || (Array.isArray(events) && events.includes('transfer.succeeded')),
  });
  return (
    <ThingDialog<{ secret: string }>
      form={form}
      former={former}
      at="/api/webhooks"
      title={former === undefined ? words.addTitle : words.editTitle}
      verb={former === undefined ? words.addVerb : t.form.save}
      says={former === undefined ? undefined : t.form.saved}
      onDone={({ secret }) => (onMade === undefined ? onClose() : onMade(secret))}
      onClose={onClose}
      groups={[{ names: ['url', 'events', 'connections'], isPlain: true }]}
      special={{ url: { isFirst: true }, events: { areNames: true, options: Object.entries(t.events.types) } }}
    />
  );
}
