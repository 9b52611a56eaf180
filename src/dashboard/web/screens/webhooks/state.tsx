/** The state of a webhook. */
import type { ReactElement } from 'react';
import type { ReceiverState, Webhook } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { Badge } from '../../ui/basics.tsx';

export function StateBadge({
  webhook: { isActive, endedAt },
  receiver,
}: {
  readonly webhook: Webhook;
  readonly receiver: ReceiverState | undefined;
}): ReactElement {
  if (endedAt !== null) return <Badge tone="bad">{t.webhooks.ended}</Badge>;
  if (!isActive) return <Badge tone="warn">{t.words.paused}</Badge>;
  if ((receiver?.failingSince ?? null) !== null) return <Badge tone="bad">{t.webhooks.failing}</Badge>;
  return <Badge tone="good">{t.words.active}</Badge>;
}
