/** Transfers as rows: those under way with a way to stop them, and those of the history. */
import { Ban } from '../../ui/icons.tsx';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { Transfer } from '../../api/types.ts';
import { formatBytes, formatDuration, formatSpeed, secondsLeft } from '../../format.ts';
import { Badge, Button, Progress, Table, Time, type Tone } from '../../ui/basics.tsx';

export function LiveRows({ transfers }: { readonly transfers: readonly Transfer[] }): ReactElement {
  return (
    <ul className="live-rows">
      {transfers.map((transfer) => (
        <LiveRow key={transfer.id} transfer={transfer} />
      ))}
    </ul>
  );
}

function LiveRow({ transfer: { id, type, filename, path, connectionId, live } }: { transfer: Transfer }): ReactElement {
  const cancel = useCancel();
  const name = filename === '' ? path : filename;
  const left = live === undefined ? undefined : secondsLeft(live.bytes, live.totalBytes, live.bytesPerSecond);
  return (
    <li className="live-row">
      <div className="live-name">
        <Link href={`/transfers/${id}`}>
          {type} {name}
        </Link>
        <span className="muted small"> {connectionId}</span>
      </div>
      {live !== undefined && (
        <>
          <Progress
            value={live.totalBytes === null ? undefined : live.bytes}
            max={live.totalBytes ?? 0}
            label={`Progress of ${name}`}
          />
          <div className="live-numbers number small">
            <span>
              {formatBytes(live.bytes)}
              {live.totalBytes !== null && ` of ${formatBytes(live.totalBytes)}`}
            </span>
            <span>{formatSpeed(live.bytesPerSecond)}</span>
            <span>{left === undefined ? live.step : `${formatDuration(left * 1_000)} left`}</span>
          </div>
        </>
      )}
      <Button icon={Ban} isBusy={cancel.isPending} onClick={() => cancel.mutate(id)} aria-label={`Cancel ${name}`}>
        Cancel
      </Button>
    </li>
  );
}

export function useCancel() {
  return useAction((id: string) => request('POST', `/manage/transfers/${id}/cancel`), {
    says: 'The transfer is being cancelled',
    refreshes: ['/manage/transfers'],
  });
}

export const STATUS: Readonly<Record<Transfer['status'], readonly [text: string, tone: Tone]>> = {
  success: ['Done', 'good'],
  failed: ['Failed', 'bad'],
  pending: ['Running', 'info'],
};

export function TransferTable({ transfers }: { readonly transfers: readonly Transfer[] }): ReactElement {
  return (
    <Table
      label="Transfers"
      rows={transfers}
      rowKey={({ id }) => id}
      columns={[
        { head: 'Started', cell: ({ createdAt }) => <Time iso={createdAt} /> },
        {
          head: 'What',
          cell: ({ id, type, filename, path, errorMessage, status }) => (
            <div>
              <Link href={`/transfers/${id}`}>
                {type} {filename === '' ? path : filename}
              </Link>
              <div className="muted small">
                {status === 'failed' && errorMessage !== null ? <span className="bad-text">{errorMessage}</span> : path}
              </div>
            </div>
          ),
        },
        {
          head: 'Connection',
          cell: ({ connectionId }) => connectionId ?? '–',
        },
        { head: 'Size', align: 'end', cell: ({ fileSize }) => formatBytes(fileSize) },
        {
          head: 'Took',
          align: 'end',
          cell: ({ durationMs, status }) => (status === 'pending' ? '–' : formatDuration(durationMs)),
        },
        {
          head: 'Status',
          cell: ({ status }) => {
            const [text, tone] = STATUS[status];
            return <Badge tone={tone}>{text}</Badge>;
          },
        },
      ]}
    />
  );
}
