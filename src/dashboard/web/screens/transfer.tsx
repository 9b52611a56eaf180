/** One transfer: how far it came, what the server said, where its time went, and what may follow. */
import type { ReactElement, ReactNode } from 'react';
import { Link } from 'wouter';
import { segment, withQuery } from '../api/client.ts';
import { useLiveTransfers } from '../api/live.ts';
import { useRead } from '../api/hooks.ts';
import { useConnectionName } from '../api/names.ts';
import type { Job, Live, TransferDetail } from '../api/types.ts';
import { formatBytes, formatDuration, formatNumber, formatSpeed } from '../format.ts';
import { t } from '../texts/texts.ts';
import { Badge, Button, CopyButton, Facts, Page, Panel, Pending, Time } from '../ui/basics.tsx';
import { Ban, CircleCheck, CircleX, LoaderCircle } from '../ui/icons.tsx';
import { titleOf as titleOfJob } from './jobs/words.ts';
import { Again } from './transfers/again.tsx';
import { Meaning } from './transfers/meaning.tsx';
import { Proof } from './transfers/proof.tsx';
import { LiveNumbers, LiveProgress, stageName, StatusBadge, titleOf, useCancel } from './transfers/rows.tsx';
import { StageBar } from './transfers/stage-bar.tsx';

const words = t.transfers;

export default function TransferScreen({ id }: { readonly id: string }): ReactElement {
  const live = useLiveTransfers().transfers.find((transfer) => transfer.id === id);
  const read = useRead<TransferDetail>(`/manage/transfers/${id}`, { everyMs: 5_000 });
  const back = <Link href="/transfers">{words.title}</Link>;
  if (read.data === undefined) {
    return (
      <Page title={words.one} lead={back}>
        <Panel>
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        </Panel>
      </Page>
    );
  }
  const transfer = read.data;
  const running = transfer.status === 'pending' ? (live?.live ?? transfer.live) : undefined;
  return (
    <Page
      title={titleOf(transfer)}
      lead={
        <span className="row">
          {back}
          <StatusBadge status={transfer.status} />
        </span>
      }
      actions={transfer.status === 'pending' ? <Cancel id={id} /> : <Again transfer={transfer} />}
    >
      {running !== undefined && (
        <Panel>
          <div className="panel-body">
            <LiveProgress live={running} label={words.progress} />
            <LiveNumbers live={running} />
          </div>
        </Panel>
      )}
      <div className="split">
        <Panel title={words.what}>
          <Steps transfer={transfer} live={running} />
        </Panel>
        <Panel title={words.facts}>
          <div className="panel-body">
            <TransferFacts transfer={transfer} />
          </div>
        </Panel>
      </div>
      <StageBar transfer={transfer} />
      <Proof transfer={transfer} />
    </Page>
  );
}

function Cancel({ id }: { readonly id: string }): ReactElement {
  const cancel = useCancel();
  return (
    <Button icon={Ban} isBusy={cancel.isPending} onClick={() => cancel.mutate(id)}>
      {words.cancelThis}
    </Button>
  );
}

function Steps({ transfer, live }: { transfer: TransferDetail; live: Live | undefined }): ReactElement {
  const { createdAt, status, durationMs, errorMessage, errorCode, fileSize, connectionId } = transfer;
  return (
    <ol className="panel-body test-steps">
      <li className="test-step ok">
        <CircleCheck aria-hidden size={18} />
        <div>
          <strong>{words.accepted}</strong>
          <p className="muted small">
            <Time iso={createdAt} isLong />
          </p>
        </div>
      </li>
      {live !== undefined && (
        <li className="test-step">
          <LoaderCircle aria-hidden size={18} className="spin" />
          <div>
            <strong>{stageName(live.step)}</strong>
            <p className="muted small">
              {words.since} <Time iso={live.startedAt} isLong />
            </p>
          </div>
        </li>
      )}
      {status === 'success' && (
        <li className="test-step ok">
          <CircleCheck aria-hidden size={18} />
          <div>
            <strong>{words.done}</strong>
            <p className="muted small">
              {words.doneIn(formatBytes(fileSize), formatDuration(durationMs))}
              {durationMs > 0 && fileSize > 0 && `, ${formatSpeed(fileSize / (durationMs / 1_000))}`}
            </p>
          </div>
        </li>
      )}
      {status === 'failed' && (
        <li className="test-step failed">
          <CircleX aria-hidden size={18} />
          <div className="stack tight">
            <strong>{words.failedAfter(formatDuration(durationMs))}</strong>
            <pre className="words">{errorMessage ?? words.noReason}</pre>
            <div className="row">
              {errorCode !== null && <Badge tone="bad">{errorCode}</Badge>}
              {errorMessage !== null && <CopyButton text={errorMessage} label={words.copyWords} look="quiet" />}
            </div>
            {errorCode !== null && <Meaning code={errorCode} connectionId={connectionId} />}
          </div>
        </li>
      )}
    </ol>
  );
}

const KIB = 1_024;
/** The others have no size, and go nowhere. */
const MOVE_BYTES = new Set<TransferDetail['type']>(['upload', 'download', 'read', 'write', 'append', 'copy']);

/** By its name, once that is known. */
function JobLink({ id }: { readonly id: string }): ReactElement {
  const read = useRead<Job>(`/manage/jobs/${id}`);
  return <Link href={`/jobs/${id}`}>{read.data === undefined ? words.fact.job : titleOfJob(read.data)}</Link>;
}

function TransferFacts({ transfer }: { readonly transfer: TransferDetail }): ReactElement {
  const { connectionId, path, type, direction, fileSize, requestId, key, id, jobId, linkId } = transfer;
  const { verified, verifiedReason } = transfer;
  const nameOf = useConnectionName();
  const names = words.fact;
  const bytes = names.bytes(formatNumber(fileSize));
  const mono = (text: string): ReactNode => <span className="mono">{text}</span>;
  const items: readonly (readonly [string, ReactNode])[] = [
    [
      names.connection,
      connectionId === null ? (
        '–'
      ) : (
        <Link href={`/connections/${segment(connectionId)}`} title={connectionId}>
          {nameOf(connectionId)}
        </Link>
      ),
    ],
    [names.path, mono(path)],
    ...(MOVE_BYTES.has(type)
      ? [
          [names.direction, words.directions[direction]] as const,
          [names.size, fileSize < KIB ? bytes : `${formatBytes(fileSize)} (${bytes})`] as const,
        ]
      : []),
    ...(verified === null ? [] : [[names.verified, names.verification[verifiedReason ?? 'seen']] as const]),
    ...(jobId === null ? [] : [[names.partOf, <JobLink key="j" id={jobId} />] as const]),
    ...(linkId === null
      ? []
      : [
          [
            names.cameBy,
            <Link key="l" href="/links" title={linkId}>
              {t.links.one}
            </Link>,
          ] as const,
        ]),
    [
      names.askedBy,
      key === null ? (
        names.nobody
      ) : (
        <Link href={withQuery('/transfers', { keyId: key.id })}>{names.key(key.name)}</Link>
      ),
    ],
    [
      names.requestId,
      requestId === null ? (
        '–'
      ) : (
        <Link href={withQuery('/transfers', { requestId, lookups: 'true' })} className="mono">
          {requestId}
        </Link>
      ),
    ],
    [names.id, mono(id)],
  ];
  return <Facts items={items} />;
}
