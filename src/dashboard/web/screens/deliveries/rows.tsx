/** Deliveries as rows: what, to whom, how it went, with the way to each and to sending it again. */
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import { request } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Delivery, WatchedFolder, Webhook } from '../../api/types.ts';
import { formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Badge, Button, Countdown, Table, Time, type Tone } from '../../ui/basics.tsx';
import { RotateCw } from '../../ui/icons.tsx';
import { Copies } from './copies.tsx';

const TONES: Readonly<Record<Delivery['state'], Tone>> = {
  pending: 'info',
  delivered: 'good',
  dead: 'bad',
  cancelled: 'plain',
};

export function DeliveryTable({
  deliveries,
  isOfOne,
}: {
  readonly deliveries: readonly Delivery[];
  /** All to the same receiver, which stands above them. */
  readonly isOfOne: boolean;
}): ReactElement {
  const replay = useReplay();
  const [copied, setCopied] = useState<Delivery>();
  const { columns } = t.deliveries;
  return (
    <>
      <Table
        label={t.deliveries.table}
        rows={deliveries}
        rowKey={({ id }) => id}
        columns={[
          {
            head: columns.message,
            cell: (delivery) => (
              <Link
                href={`/deliveries/${delivery.id}`}
                className="whole-words"
                aria-label={t.deliveries.open(messageText(delivery))}
              >
                {messageText(delivery)}
              </Link>
            ),
          },
          { head: columns.made, cell: ({ createdAt }) => <Time iso={createdAt} /> },
          ...(isOfOne
            ? []
            : [
                {
                  head: columns.to,
                  cell: (delivery: Delivery) => (
                    <div>
                      <Receiver delivery={delivery} />
                      {delivery.url !== null && <div className="mono small muted">{delivery.url}</div>}
                    </div>
                  ),
                },
              ]),
          {
            head: columns.state,
            cell: (delivery) => (
              <span className="row">
                <DeliveryState delivery={delivery} />
                {delivery.copyState !== 'none' && (
                  <Button
                    look="quiet"
                    onClick={() => setCopied(delivery)}
                    aria-label={t.deliveries.copiesOf(delivery.id)}
                  >
                    {delivery.copiesFailed === 0
                      ? t.deliveries.copies
                      : t.deliveries.notCopied(formatNumber(delivery.copiesFailed))}
                  </Button>
                )}
              </span>
            ),
          },
          { head: columns.attempts, align: 'end', cell: ({ attempts }) => formatNumber(attempts) },
          {
            head: columns.actions,
            isHeadHidden: true,
            align: 'end',
            cell: (delivery) =>
              canReplay(delivery) && (
                <Button
                  icon={RotateCw}
                  isBusy={replay.isPending && replay.variables === delivery.id}
                  onClick={() => replay.mutate(delivery.id)}
                >
                  {t.deliveries.sendAgain}
                </Button>
              ),
          },
        ]}
      />
      {copied !== undefined && <Copies delivery={copied} onClose={() => setCopied(undefined)} />}
    </>
  );
}

export function useReplay() {
  return useAction((id: string) => request('POST', `/manage/deliveries/${id}/replay`), {
    says: t.deliveries.sentAgain,
    refreshes: ['/manage/deliveries', '/manage/receivers', '/manage/overview'],
  });
}

/** Without a receiver nothing was ever sent. */
export function canReplay({ state, attempts, url }: Delivery): boolean {
  return url !== null && (state === 'dead' || (state === 'delivered' && attempts > 0));
}

export function DeliveryState({ delivery }: { readonly delivery: Delivery }): ReactElement {
  const { state, copyState, nextAttemptAt } = delivery;
  if (state === 'pending' && copyState === 'pending') return <Badge tone="info">{t.deliveries.copying}</Badge>;
  return (
    <>
      <Badge tone={TONES[state]}>{t.deliveries.states[state]}</Badge>
      {state === 'pending' && nextAttemptAt !== null && (
        <span className="small muted">
          {t.deliveries.nextTry} <Countdown iso={nextAttemptAt} />
        </span>
      )}
    </>
  );
}

export function messageText({ type, fileCount, webhookId }: Delivery): string {
  if (type === 'watched_folder.files_missing') return t.deliveries.noFile;
  if (type === 'watched_folder.test') return t.deliveries.test;
  if (webhookId !== null || type === 'job.finished') return type;
  return t.deliveries.files(fileCount, formatNumber(fileCount));
}

/** Whose receiver it is, by name once that is known. */
export function Receiver({ delivery }: { readonly delivery: Delivery }): ReactElement {
  const { watchedFolderId, webhookId, jobId } = delivery;
  const folders = useRead<{ watchedFolders: WatchedFolder[] }>('/manage/watched-folders');
  const webhooks = useRead<{ webhooks: Webhook[] }>('/api/webhooks');
  if (webhookId !== null) {
    const url = webhooks.data?.webhooks.find(({ id }) => id === webhookId)?.url ?? '';
    const host = URL.canParse(url) ? new URL(url).host : t.deliveries.aWebhook;
    return <Link href={`/webhooks/${webhookId}`}>{host}</Link>;
  }
  if (watchedFolderId !== null) {
    const name = folders.data?.watchedFolders.find(({ id }) => id === watchedFolderId)?.name;
    return <Link href={`/watched/${watchedFolderId}`}>{name ?? t.deliveries.aFolder}</Link>;
  }
  return <Link href={`/jobs/${jobId ?? ''}`}>{t.deliveries.aJob}</Link>;
}
