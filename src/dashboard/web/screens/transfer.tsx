/** One transfer: how far it came, and what the server said. */
import type { ReactElement } from 'react';
import { Ban, CircleCheck, CircleX, LoaderCircle } from '../ui/icons.tsx';
import { Link } from 'wouter';
import { useLiveTransfers } from '../api/live.ts';
import { useRead } from '../api/hooks.ts';
import type { Job, Live, TransferDetail } from '../api/types.ts';
import { formatBytes, formatDuration, formatNumber, formatSpeed, secondsLeft } from '../format.ts';
import { Badge, Button, CopyButton, Facts, Page, Panel, Pending, Progress, Time } from '../ui/basics.tsx';
import { titleOf } from './jobs/words.ts';
import { Proof } from './transfers/proof.tsx';
import { STATUS, useCancel } from './transfers/rows.tsx';

export default function TransferScreen({ id }: { readonly id: string }): ReactElement {
  const live = useLiveTransfers().transfers.find((transfer) => transfer.id === id);
  const read = useRead<TransferDetail>(`/manage/transfers/${id}`, { everyMs: 5_000 });
  const back = <Link href="/transfers">Transfers</Link>;
  if (read.data === undefined) {
    return (
      <Page title="Transfer" lead={back}>
        <Panel>
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        </Panel>
      </Page>
    );
  }
  const transfer = read.data;
  const running = transfer.status === 'pending' ? (live?.live ?? transfer.live) : undefined;
  const [text, tone] = STATUS[transfer.status];
  return (
    <Page
      title={`${transfer.type} ${transfer.filename === '' ? transfer.path : transfer.filename}`}
      lead={
        <span className="row">
          {back}
          <Badge tone={tone}>{text}</Badge>
        </span>
      }
      actions={transfer.status === 'pending' && <Cancel id={id} />}
    >
      {running !== undefined && <Moving live={running} />}
      <div className="split">
        <Panel title="What happened">
          <Stages transfer={transfer} live={running} />
        </Panel>
        <Panel title="Facts">
          <div className="panel-body">
            <Facts items={factsOf(transfer)} />
          </div>
        </Panel>
      </div>
      <Proof transfer={transfer} />
    </Page>
  );
}

function Cancel({ id }: { readonly id: string }): ReactElement {
  const cancel = useCancel();
  return (
    <Button icon={Ban} isBusy={cancel.isPending} onClick={() => cancel.mutate(id)}>
      Cancel the transfer
    </Button>
  );
}

function Moving({ live }: { readonly live: Live }): ReactElement {
  const left = secondsLeft(live.bytes, live.totalBytes, live.bytesPerSecond);
  return (
    <Panel>
      <div className="panel-body">
        <Progress
          value={live.totalBytes === null ? undefined : live.bytes}
          max={live.totalBytes ?? 0}
          label="Progress"
        />
        <div className="live-numbers number">
          <span>
            {formatBytes(live.bytes)}
            {live.totalBytes !== null && ` of ${formatBytes(live.totalBytes)}`}
          </span>
          <span>{formatSpeed(live.bytesPerSecond)}</span>
          {left !== undefined && <span>{formatDuration(left * 1_000)} left</span>}
        </div>
      </div>
    </Panel>
  );
}

function Stages({ transfer, live }: { transfer: TransferDetail; live: Live | undefined }): ReactElement {
  const { createdAt, status, durationMs, errorMessage, errorCode, fileSize } = transfer;
  return (
    <ol className="panel-body test-steps">
      <li className="test-step ok">
        <CircleCheck aria-hidden size={18} />
        <div>
          <strong>Accepted</strong>
          <p className="muted small">
            <Time iso={createdAt} isLong />
          </p>
        </div>
      </li>
      {live !== undefined && (
        <li className="test-step">
          <LoaderCircle aria-hidden size={18} className="spin" />
          <div>
            <strong>{live.step}</strong>
            <p className="muted small">
              Since <Time iso={live.startedAt} isLong />
            </p>
          </div>
        </li>
      )}
      {status === 'success' && (
        <li className="test-step ok">
          <CircleCheck aria-hidden size={18} />
          <div>
            <strong>Done</strong>
            <p className="muted small">
              {formatBytes(fileSize)} in {formatDuration(durationMs)}
              {durationMs > 0 && fileSize > 0 && `, ${formatSpeed(fileSize / (durationMs / 1_000))}`}
            </p>
          </div>
        </li>
      )}
      {status === 'failed' && (
        <li className="test-step failed">
          <CircleX aria-hidden size={18} />
          <div className="stack tight">
            <strong>Failed after {formatDuration(durationMs)}</strong>
            <pre className="words">{errorMessage ?? 'No reason was recorded.'}</pre>
            <div className="row">
              {errorCode !== null && <Badge tone="bad">{errorCode}</Badge>}
              {errorMessage !== null && <CopyButton text={errorMessage} label="Copy the words" look="quiet" />}
            </div>
          </div>
        </li>
      )}
    </ol>
  );
}

/** By its name, once that is known. */
function JobLink({ id }: { readonly id: string }): ReactElement {
  const read = useRead<Job>(`/manage/jobs/${id}`);
  return <Link href={`/jobs/${id}`}>{read.data === undefined ? 'a job' : titleOf(read.data)}</Link>;
}

function factsOf(transfer: TransferDetail): readonly (readonly [string, ReactElement | string])[] {
  const { connectionId, path, direction, fileSize, requestId, key, id, jobId } = transfer;
  return [
    [
      'Connection',
      connectionId === null ? (
        '–'
      ) : (
        <Link key="c" href={`/connections/${encodeURIComponent(connectionId)}`}>
          {connectionId}
        </Link>
      ),
    ],
    [
      'Path',
      <span key="p" className="mono">
        {path}
      </span>,
    ],
    ['Direction', direction === 'outbound' ? 'To the server' : 'From the server'],
    ['Size', `${formatNumber(fileSize)} bytes`],
    ...(jobId === null ? [] : [['Part of', <JobLink key="j" id={jobId} />] as const]),
    ['Asked by', key === null ? 'the dashboard, or the gateway itself' : `API key ${key.name}`],
    [
      'Request id',
      <span key="r" className="mono">
        {requestId ?? '–'}
      </span>,
    ],
    [
      'Transfer id',
      <span key="i" className="mono">
        {id}
      </span>,
    ],
  ];
}
