/** Messages to webhooks: delivered, waiting, dead; each with its attempts, and a way to send it again. */
import { useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { RotateCw } from '../../ui/icons.tsx';
import { request, withQuery } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Attempt, Copy, Delivery, WatchedFolder, Webhook } from '../../api/types.ts';
import { formatDuration, formatNumber } from '../../format.ts';
import { Badge, Button, Countdown, Pending, Table, Time, type Tone } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';

const STATES: Readonly<Record<Delivery['state'], readonly [text: string, tone: Tone]>> = {
  pending: ['Waiting', 'info'],
  delivered: ['Delivered', 'good'],
  dead: ['Dead letter', 'bad'],
  cancelled: ['Cancelled', 'plain'],
};

const COPYING = ['Copying', 'info'] as const;

export function Deliveries(props: {
  readonly watchedFolderId?: string;
  readonly webhookId?: string;
  readonly state?: Delivery['state'];
  readonly empty: string;
}): ReactElement {
  const { watchedFolderId, webhookId, state, empty } = props;
  const isOfAll = watchedFolderId === undefined && webhookId === undefined;
  const path = withQuery('/manage/deliveries', { watchedFolderId, webhookId, state });
  const read = useRead<{ deliveries: Delivery[] }>(path, { everyMs: 5_000 });
  const [shown, setShown] = useState<Delivery>();
  const [copied, setCopied] = useState<Delivery>();
  const replay = useAction((id: string) => request('POST', `/manage/deliveries/${id}/replay`), {
    says: 'It is sent again',
    refreshes: ['/manage/deliveries', '/manage/overview'],
  });
  if (read.data === undefined) return <Pending error={read.error} onRetry={() => void read.refetch()} />;
  if (read.data.deliveries.length === 0) return <p className="panel-body muted">{empty}</p>;
  return (
    <>
      <Table
        label="Deliveries"
        rows={read.data.deliveries}
        rowKey={({ id }) => id}
        columns={[
          { head: 'Made', cell: ({ createdAt }) => <Time iso={createdAt} /> },
          { head: 'Message', cell: messageText },
          ...(isOfAll ? [{ head: 'To', cell: (delivery: Delivery) => <Receiver delivery={delivery} /> }] : []),
          {
            head: 'State',
            cell: (delivery) => {
              const isCopying = delivery.state === 'pending' && delivery.copyState === 'pending';
              const [text, tone] = isCopying ? COPYING : STATES[delivery.state];
              return (
                <span className="row">
                  <Badge tone={tone}>{text}</Badge>
                  {delivery.state === 'pending' && delivery.nextAttemptAt !== null && (
                    <span className="small muted">
                      next try <Countdown iso={delivery.nextAttemptAt} />
                    </span>
                  )}
                  {delivery.copyState !== 'none' && (
                    <Button look="quiet" onClick={() => setCopied(delivery)} aria-label={`Copies of ${delivery.id}`}>
                      {delivery.copiesFailed === 0 ? 'Copies' : `${formatNumber(delivery.copiesFailed)} not copied`}
                    </Button>
                  )}
                </span>
              );
            },
          },
          {
            head: 'Attempts',
            cell: (delivery) => (
              <Button
                look="quiet"
                onClick={() => setShown(delivery)}
                aria-label={`${delivery.attempts} attempts of ${delivery.id}`}
              >
                {delivery.attempts}
              </Button>
            ),
          },
          {
            head: 'Actions',
            isHeadHidden: true,
            align: 'end',
            // Without a webhook nothing was ever sent.
            cell: ({ id, state: now, attempts }) =>
              (now === 'dead' || (now === 'delivered' && attempts > 0)) && (
                <Button
                  icon={RotateCw}
                  isBusy={replay.isPending && replay.variables === id}
                  onClick={() => replay.mutate(id)}
                >
                  Send again
                </Button>
              ),
          },
        ]}
      />
      {shown !== undefined && <Attempts delivery={shown} onClose={() => setShown(undefined)} />}
      {copied !== undefined && <Copies delivery={copied} onClose={() => setCopied(undefined)} />}
    </>
  );
}

function messageText({ type, fileCount, webhookId }: Delivery): string {
  if (type === 'watched_folder.files_missing') return 'no file came';
  if (type === 'watched_folder.test') return 'test';
  if (webhookId !== null || type === 'job.finished') return type;
  return fileCount === 1 ? '1 file' : `${formatNumber(fileCount)} files`;
}

/** Whose receiver it is, by name once that is known. */
function Receiver({ delivery }: { readonly delivery: Delivery }): ReactElement {
  const { watchedFolderId, webhookId, jobId } = delivery;
  const folders = useRead<{ watchedFolders: WatchedFolder[] }>('/manage/watched-folders');
  const webhooks = useRead<{ webhooks: Webhook[] }>('/api/webhooks');
  if (webhookId !== null) {
    const url = webhooks.data?.webhooks.find(({ id }) => id === webhookId)?.url;
    return <Link href={`/webhooks/${webhookId}`}>{url ?? 'a webhook'}</Link>;
  }
  if (watchedFolderId !== null) {
    const name = folders.data?.watchedFolders.find(({ id }) => id === watchedFolderId)?.name;
    return <Link href={`/watched/${watchedFolderId}`}>{name ?? 'a watched folder'}</Link>;
  }
  return <Link href={`/jobs/${jobId ?? ''}`}>a job</Link>;
}

const COPY_STATES: Readonly<Record<Copy['state'], readonly [text: string, tone: Tone]>> = {
  waiting: ['Waiting', 'info'],
  done: ['Copied', 'good'],
  skipped: ['Left alone', 'plain'],
  failed: ['Not copied', 'bad'],
};

function Copies({ delivery, onClose }: { readonly delivery: Delivery; readonly onClose: () => void }): ReactElement {
  const read = useRead<{ copies: Copy[] }>(`/manage/deliveries/${delivery.id}/copies`, { everyMs: 5_000 });
  return (
    <Dialog title="Copies" onClose={onClose} size="large">
      {read.data === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Table
          label="Copies"
          rows={read.data.copies}
          rowKey={({ path }) => path}
          columns={[
            { head: 'File', cell: ({ path }) => <span className="mono">{path}</span> },
            {
              head: 'State',
              cell: ({ state }) => {
                const [text, tone] = COPY_STATES[state];
                return <Badge tone={tone}>{text}</Badge>;
              },
            },
            {
              head: 'Copy',
              cell: ({ connectionId, target }) =>
                target !== null && <span className="mono">{`${connectionId}:${target}`}</span>,
            },
            { head: 'Words', cell: ({ errorMessage }) => <span className="small">{errorMessage ?? ''}</span> },
          ]}
        />
      )}
    </Dialog>
  );
}

function Attempts({ delivery, onClose }: { readonly delivery: Delivery; readonly onClose: () => void }): ReactElement {
  const read = useRead<{ attempts: Attempt[] }>(`/manage/deliveries/${delivery.id}/attempts`);
  return (
    <Dialog title="Attempts" onClose={onClose} size="large">
      <p className="muted small mono">webhook-id {delivery.eventId}</p>
      {read.data === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : read.data.attempts.length === 0 ? (
        <p className="muted">Not tried yet.</p>
      ) : (
        <Table
          label="Attempts"
          rows={read.data.attempts}
          rowKey={({ id }) => id}
          columns={[
            { head: 'When', cell: ({ startedAt }) => <Time iso={startedAt} isLong /> },
            { head: 'Took', align: 'end', cell: ({ durationMs }) => formatDuration(durationMs) },
            {
              head: 'Answer',
              cell: ({ status, errorCode }) =>
                status === null ? (
                  <Badge tone="bad">{errorCode ?? 'none'}</Badge>
                ) : (
                  <Badge tone={status >= 200 && status < 300 ? 'good' : 'bad'}>{status}</Badge>
                ),
            },
            {
              head: 'Words',
              cell: ({ errorMessage, answer }) => <span className="small">{errorMessage ?? answer ?? ''}</span>,
            },
          ]}
        />
      )}
    </Dialog>
  );
}
