/** A transfer: its progress, the server's answer, its time by stages, and the possible next steps. */
import { KIB } from '../../../contract/units.ts';
import type { ReactElement, ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { segment, withQuery } from '../api/client.ts';
import { useLiveTransfers } from '../api/live.ts';
import { useRead } from '../api/hooks.ts';
import { useConnectionName } from '../api/names.ts';
import type { Live, TransferDetail } from '../api/types.ts';
import { formatBytes, formatDuration, formatNumber, formatSpeed } from '../format.ts';
import { t } from '../texts/texts.ts';
import { Facts, LinkButton, Mono, Panel, Time } from '../ui/basics.tsx';
import { Detail, DetailPage } from '../ui/detail.tsx';
import { CircleCheck, LoaderCircle } from '../ui/icons.tsx';
import { CircleX } from '../ui/later-icons.ts';
import { Trouble } from '../ui/trouble.tsx';
import { titleOf as titleOfJob } from './jobs/words.ts';
import { Again } from './transfers/again.tsx';
import { TryAgain } from './transfers/try-again.tsx';
import { Proof, WITH_CONTENT } from './transfers/proof.tsx';
import { Cancel, LiveNumbers, LiveProgress, stageName, StatusBadge } from './transfers/rows.tsx';
import { titleOf } from './transfers/words.ts';
import { StageBar } from './transfers/stage-bar.tsx';

const words = t.transfers;

export default function TransferScreen({ id }: { readonly id: string }): ReactElement {
  const live = useLiveTransfers().transfers.find((transfer) => transfer.id === id);
  const read = useRead(`/manage/transfers/${id}`, { everyMs: 5_000 });
  const up = ['/transfers', t.places.transfers] as const;
  return (
    <Detail of={read} title={words.one} up={up}>
      {(transfer) => {
        const running = transfer.status === 'pending' ? (live?.live ?? transfer.live) : undefined;
        return (
          <DetailPage
            title={titleOf(transfer)}
            up={up}
            state={<StatusBadge status={transfer.status} />}
            actions={
              transfer.status === 'pending' ? (
                <Cancel id={id}>{words.cancelThis}</Cancel>
              ) : (
                <Again transfer={transfer} />
              )
            }
          >
            {transfer.status === 'failed' && <Cause transfer={transfer} />}
            {running !== undefined && (
              <Panel isPadded>
                <LiveProgress live={running} label={t.jobs.columns.progress} />
                <LiveNumbers live={running} />
              </Panel>
            )}
            <div className="split">
              <Panel title={words.what}>
                <Steps transfer={transfer} live={running} />
              </Panel>
              <Panel isPadded title={t.words.details}>
                <TransferFacts transfer={transfer} />
              </Panel>
            </div>
            <StageBar transfer={transfer} />
            <Proof transfer={transfer} />
          </DetailPage>
        );
      }}
    </Detail>
  );
}

function Cause({ transfer }: { readonly transfer: TransferDetail }): ReactElement {
  const { errorCode, errorMessage, connectionId, jobId } = transfer;
  const [, navigate] = useLocation();
  return (
    <Trouble code={errorCode} text={errorMessage} connectionId={connectionId}>
      <TryAgain transfer={transfer} label={t.common.tryAgain} onDone={(id) => navigate(`/transfers/${id}`)} />
      {jobId !== null && <LinkButton href={`/jobs/${jobId}`}>{words.again.openJob}</LinkButton>}
      {errorCode !== null && <LinkButton href={withQuery('/transfers', { errorCode })}>{words.others}</LinkButton>}
    </Trouble>
  );
}

function Steps({ transfer, live }: { transfer: TransferDetail; live: Live | undefined }): ReactElement {
  const { createdAt, status, durationMs, fileSize } = transfer;
  const speed = durationMs > 0 && fileSize > 0 ? `, ${formatSpeed(fileSize / (durationMs / 1_000))}` : '';
  return (
    <ol className="panel-body test-steps">
      <Step kind="ok" title={words.accepted}>
        <Time iso={createdAt} form="long" />
      </Step>
      {live !== undefined && (
        <Step title={stageName(live.step)}>
          {t.words.since} <Time iso={live.startedAt} form="long" />
        </Step>
      )}
      {status === 'success' && (
        <Step kind="ok" title={t.transfers.status.success}>
          {words.doneIn(formatBytes(fileSize), formatDuration(durationMs))}
          {speed}
        </Step>
      )}
      {status === 'failed' && (
        <li className="test-step failed">
          <CircleX aria-hidden size={18} />
          <strong>{words.failedAfter(formatDuration(durationMs))}</strong>
        </li>
      )}
    </ol>
  );
}

/** A step without `ok` is still running. */
function Step(props: { readonly kind?: 'ok'; readonly title: string; readonly children: ReactNode }): ReactElement {
  const { kind, title, children } = props;
  return (
    <li className={kind === 'ok' ? 'test-step ok' : 'test-step'}>
      {kind === 'ok' ? <CircleCheck aria-hidden size={18} /> : <LoaderCircle aria-hidden size={18} className="spin" />}
      <div>
        <strong>{title}</strong>
        <p className="muted small">{children}</p>
      </div>
    </li>
  );
}

/** A link with the job's name once that is known. */
function JobLink({ id }: { readonly id: string }): ReactElement {
  const read = useRead(`/manage/jobs/${id}`);
  return <Link href={`/jobs/${id}`}>{read.data === undefined ? words.fact.job : titleOfJob(read.data)}</Link>;
}

function TransferFacts({ transfer }: { readonly transfer: TransferDetail }): ReactElement {
  const { connectionId, path, type, direction, fileSize, requestId, key, id, jobId, linkId } = transfer;
  const { verified, verifiedReason } = transfer;
  const nameOf = useConnectionName();
  const names = words.fact;
  const bytes = names.bytes(formatNumber(fileSize));
  const hasSize = WITH_CONTENT.includes(type);
  return (
    <Facts
      of={{
        [t.words.connection]:
          connectionId === null ? (
            '–'
          ) : (
            <Link href={`/connections/${segment(connectionId)}`} title={connectionId}>
              {nameOf(connectionId)}
            </Link>
          ),
        [t.words.path]: <Mono>{path}</Mono>,
        [t.words.direction]: hasSize ? words.directions[direction] : undefined,
        [t.words.size]: hasSize ? (fileSize < KIB ? bytes : `${formatBytes(fileSize)} (${bytes})`) : undefined,
        [names.verified]: verified === null ? undefined : names.verification[verifiedReason ?? 'seen'],
        [names.partOf]: jobId === null ? undefined : <JobLink id={jobId} />,
        [names.cameBy]:
          linkId === null ? undefined : (
            <Link href="/links" title={linkId}>
              {t.links.one}
            </Link>
          ),
        [names.askedBy]:
          key === null ? (
            names.noKey
          ) : (
            <Link href={withQuery('/transfers', { keyId: key.id })}>{t.words.keyNamed(key.name)}</Link>
          ),
        [t.words.requestId]:
          requestId === null ? (
            '–'
          ) : (
            <Link href={withQuery('/transfers', { requestId, lookups: 'true' })} className="mono">
              {requestId}
            </Link>
          ),
        [names.id]: <Mono>{id}</Mono>,
      }}
    />
  );
}
