/** The settings of a webhook in words. */
import type { ReactNode } from 'react';
import type { Webhook } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { Mono, Time } from '../../ui/basics.tsx';
import { otherFacts } from '../../ui/field-facts.ts';

const words = t.webhooks;
/** Shown in words of their own, or by the state of the webhook. */
const SHOWN_FIELDS = ['url', 'events', 'connections', 'isActive'];

export function factsOf(webhook: Webhook, nameOf: (connectionId: string) => string): Record<string, ReactNode> {
  const { url, events, connections, createdAt } = webhook;
  return {
    [t.fields.webhook.url.label]: <Mono>{url}</Mono>,
    [t.places.events]: <Mono>{events.join(', ')}</Mono>,
    [words.about]: connections.length === 0 ? words.allConnections : connections.map(nameOf).join(', '),
    ...otherFacts('webhook', webhook, SHOWN_FIELDS),
    [t.words.created]: <Time iso={createdAt} form="long" />,
  };
}
