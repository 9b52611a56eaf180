/** The state of deliveries to a receiver. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { withQuery } from '../../api/client.ts';
import { useRead } from '../../api/hooks.ts';
import type { ReceiverState } from '../../api/types.ts';
import { formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Notice, Time } from '../../ui/basics.tsx';
import { Reason } from '../../ui/reason.tsx';

type Of = Partial<Pick<ReceiverState, 'watchedFolderId' | 'webhookId'>>;

/** The lookup returns undefined before the answer, or if there is no receiver. */
export function useReceivers(): (of: Of) => ReceiverState | undefined {
  const read = useRead('/manage/receivers', { everyMs: 10_000 });
  return ({ watchedFolderId = null, webhookId = null }) =>
    read.data?.receivers.find((one) => one.watchedFolderId === watchedFolderId && one.webhookId === webhookId);
}

/** Shows nothing if all deliveries have arrived. */
export function ReceiverNotice({ receiver }: { readonly receiver: ReceiverState | undefined }): ReactElement | null {
  if (receiver === undefined) return null;
  const { watchedFolderId, webhookId, failingSince, dead, retrying, lastStatus, lastErrorCode, lastErrorMessage } =
    receiver;
  if (dead === 0 && retrying === 0) return null;
  const words = t.deliveries.health;
  const of = { watchedFolderId: watchedFolderId ?? undefined, webhookId: webhookId ?? undefined };
  const isFailing = failingSince !== null;
  const counts = [
    ...(dead > 0 ? [words.dead(dead, formatNumber(dead))] : []),
    ...(retrying > 0 ? [words.retrying(retrying, formatNumber(retrying))] : []),
  ].join(', ');
  return (
    <Notice tone={isFailing ? 'bad' : 'warn'} title={isFailing ? t.words.deliveriesFail : counts}>
      {isFailing && (
        <p>
          {words.failingSince} <Time iso={failingSince} form="long" />.{' '}
          {lastErrorMessage !== null ? (
            <Reason code={lastErrorCode} text={lastErrorMessage} />
          ) : (
            lastStatus !== null && words.lastStatus(lastStatus)
          )}
        </p>
      )}
      <p>
        {isFailing && `${counts}. `}
        <Link href={withQuery('/deliveries', { ...of, state: dead > 0 ? 'dead' : 'pending' })}>{words.look}</Link>
      </p>
    </Notice>
  );
}
