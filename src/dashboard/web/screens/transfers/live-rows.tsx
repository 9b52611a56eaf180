/** Transfers under way: bytes, speed, time left, and a way to stop them. */
import type { ReactElement } from 'react';
import { Ban } from '../../ui/icons.tsx';
import { Link } from 'wouter';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { Transfer } from '../../api/types.ts';
import { formatBytes, formatDuration, formatSpeed, secondsLeft } from '../../format.ts';
import { Button, Progress } from '../../ui/basics.tsx';

export function LiveRows({ transfers }: { readonly transfers: readonly Transfer[] }): ReactElement {
  return (
    <ul className="live-rows">
      {transfers.map((transfer) => (
        <LiveRow key={transfer.id} transfer={transfer} />
      ))}
    </ul>
  );
}

function LiveRow({
  transfer: { id, type, filename, path, connectionId, live },
}: {
  readonly transfer: Transfer;
}): ReactElement {
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
