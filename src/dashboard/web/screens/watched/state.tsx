/** The state of a watched folder. */
import type { ReactElement } from 'react';
import type { ReceiverState, WatchedFolder } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { Badge } from '../../ui/basics.tsx';

/** A folder is well if it can be checked and its messages arrive. */
export function StateBadge({
  folder: { isActive, failingSince, deliveriesEndedAt },
  receiver,
}: {
  readonly folder: WatchedFolder;
  readonly receiver: ReceiverState | undefined;
}): ReactElement {
  const { states } = t.watched;
  if (!isActive) return <Badge tone="warn">{t.words.paused}</Badge>;
  if (failingSince !== null) return <Badge tone="bad">{states.checksFail}</Badge>;
  if (deliveriesEndedAt !== null) return <Badge tone="bad">{states.ended}</Badge>;
  if (receiver !== undefined && receiver.failingSince !== null) {
    return <Badge tone="bad">{t.words.deliveriesFail}</Badge>;
  }
  if (receiver !== undefined && receiver.dead > 0) return <Badge tone="warn">{states.deadLetters}</Badge>;
  return <Badge tone="good">{states.watching}</Badge>;
}
