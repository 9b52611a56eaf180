/** One job: how far it is, what it does now, what failed and why. */
import { useState, type ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { request, withQuery } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import { useLiveTransfers } from '../api/live.ts';
import type { Job, JobFile } from '../api/types.ts';
import { formatBytes, formatDuration, formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import {
  Badge,
  Button,
  CopyButton,
  Facts,
  LinkButton,
  Notice,
  Page,
  Panel,
  Pending,
  Table,
  Time,
} from '../ui/basics.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Ban, CalendarClock, Pause, Play, RotateCw } from '../ui/icons.tsx';
import { sameAgain } from './jobs/draft.ts';
import { factsOf } from './jobs/facts.tsx';
import { JobFiles } from './jobs/files.tsx';
import { useJob } from './jobs/live.ts';
import { JobProgress, leftText, speedText, starterOf, StateBadge, useConnectionNames } from './jobs/rows.tsx';
import { countsText, filesText, hasEnded, isRepeatable, titleOf } from './jobs/words.ts';
import { LiveRows } from './transfers/rows.tsx';

const words = t.jobs.screen;
const JOBS = ['/manage/jobs', '/api/jobs'];
/** Of the failed files so many are shown with their words; the list below has all. */
const FAILURES = 20;

export default function JobScreen({ id }: { readonly id: string }): ReactElement {
  const read = useJob(id);
  if (read.data === undefined) {
    return (
      <Page title={t.jobs.one} lead={<Link href="/jobs">{t.jobs.title}</Link>}>
        <Panel>
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        </Panel>
      </Page>
    );
  }
  const job = read.data;
  const isOpen = !hasEnded(job);
  return (
    <Page
      isWide
      title={titleOf(job)}
      lead={
        <span className="row">
          <Link href="/jobs">{t.jobs.title}</Link>
          <StateBadge job={job} />
        </span>
      }
      actions={<Actions job={job} />}
    >
      {job.error !== null && (
        <Notice tone="bad" title={words.endedAll}>
          <pre className="words">{job.error}</pre>
          <div className="row">
            {job.errorCode !== null && <Badge tone="bad">{job.errorCode}</Badge>}
            <CopyButton text={job.error} label={words.copyWords} look="quiet" />
          </div>
        </Notice>
      )}
      {isOpen ? <Running job={job} /> : <Progressed job={job} />}
      {job.counts.failed > 0 && <Failures job={job} />}
      <Panel title={t.jobs.facts.title}>
        <div className="panel-body">
          <JobFacts job={job} />
        </div>
      </Panel>
      <JobFiles id={id} isOpen={isOpen} />
    </Page>
  );
}

function Actions({ job }: { readonly job: Job }): ReactElement {
  const { id, state, settings } = job;
  const [isCancelling, setCancelling] = useState(false);
  const [, navigate] = useLocation();
  const change = useAction((verb: 'pause' | 'resume') => request('POST', `/api/jobs/${id}/${verb}`), {
    refreshes: JOBS,
  });
  const cancel = useAction(() => request('POST', `/api/jobs/${id}/cancel`), {
    says: words.cancelled,
    refreshes: JOBS,
    showsError: true,
    onDone: () => setCancelling(false),
  });
  const toNew = { refreshes: JOBS, onDone: (answer: { job: { id: string } }) => navigate(`/jobs/${answer.job.id}`) };
  const retry = useAction(() => request<{ job: { id: string } }>('POST', `/api/jobs/${id}/retry`), toNew);
  const start = useAction(
    () => request<{ job: { id: string } }>('POST', '/api/jobs', isRepeatable(job) && sameAgain(job, false)),
    toNew,
  );
  const isOpen = !hasEnded(job);
  const isPaused = state === 'paused';
  return (
    <>
      {isOpen && (
        // One button for both: the focus stays on it.
        <Button
          look={isPaused ? 'primary' : 'plain'}
          icon={isPaused ? Play : Pause}
          isBusy={change.isPending}
          onClick={() => change.mutate(isPaused ? 'resume' : 'pause')}
        >
          {isPaused ? words.resume : words.pause}
        </Button>
      )}
      {isOpen && (
        <Button icon={Ban} onClick={() => setCancelling(true)}>
          {words.cancel}
        </Button>
      )}
      {!isOpen && state !== 'succeeded' && !settings.dryRun && (
        <Button look="primary" icon={RotateCw} isBusy={retry.isPending} onClick={() => retry.mutate(undefined)}>
          {words.retry}
        </Button>
      )}
      {state === 'succeeded' && settings.dryRun && (
        <Button look="primary" icon={Play} isBusy={start.isPending} onClick={() => start.mutate(undefined)}>
          {words.forReal}
        </Button>
      )}
      {!isOpen && isRepeatable(job) && <LinkButton href={`/jobs/new?like=${id}`}>{words.again}</LinkButton>}
      {isRepeatable(job) && (
        <LinkButton href={`/schedules/new?like=${id}`} icon={CalendarClock}>
          {words.asSchedule}
        </LinkButton>
      )}
      {isCancelling && (
        <Confirm
          title={words.cancelTitle(titleOf(job))}
          verb={words.cancelVerb}
          isBusy={cancel.isPending}
          error={cancel.error}
          onClose={() => setCancelling(false)}
          onConfirm={() => cancel.mutate(undefined)}
        >
          <p>{words.cancelText}</p>
        </Confirm>
      )}
    </>
  );
}

function Progressed({ job }: { readonly job: Job }): ReactElement {
  const { counts, isListed, startedAt } = job;
  return (
    <Panel>
      <div className="panel-body stack tight">
        <JobProgress job={job} />
        <p role="status">{countsText(job)}</p>
        <div className="live-numbers number">
          <span>
            {words.found(filesText(counts.found))}
            {!isListed && !hasEnded(job) && `, ${t.jobs.stillListing}`}
          </span>
          <span>{t.jobs.of(formatBytes(counts.bytes), formatBytes(counts.bytesTotal))}</span>
          {startedAt !== null && <span>{speedText(job)}</span>}
          {job.etaSeconds !== null && <span>{leftText(job)}</span>}
        </div>
      </div>
    </Panel>
  );
}

function Running({ job }: { readonly job: Job }): ReactElement {
  const { transfers } = useLiveTransfers();
  const own = transfers.filter(({ jobId }) => jobId === job.id);
  return (
    <>
      <Progressed job={job} />
      <Panel title={words.now}>
        {own.length === 0 ? <p className="panel-body muted">{words.nothingNow}</p> : <LiveRows transfers={own} />}
      </Panel>
    </>
  );
}

function Failures({ job: { id, counts, state } }: { readonly job: Job }): ReactElement {
  const path = withQuery(`/api/jobs/${id}/files`, { state: 'failed', limit: FAILURES });
  const read = useRead<{ files: JobFile[] }>(path, hasEnded({ state }) ? {} : { everyMs: 3_000 });
  return (
    <Panel title={words.failed}>
      {read.data === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Table
          label={words.failedFiles}
          rows={read.data.files}
          rowKey={(file) => file.path}
          columns={[
            { head: t.jobs.columns.file, cell: (file) => <span className="mono">{file.path}</span> },
            {
              head: t.jobs.columns.why,
              cell: ({ error }) => <span className="bad-text">{error ?? words.noReason}</span>,
            },
            { head: t.jobs.columns.size, align: 'end', cell: ({ size }) => formatBytes(size) },
          ]}
        />
      )}
      {counts.failed > FAILURES && (
        <p className="panel-body muted small">{words.firstOf(formatNumber(FAILURES), filesText(counts.failed))}</p>
      )}
    </Panel>
  );
}

function JobFacts({ job }: { readonly job: Job }): ReactElement {
  const nameOf = useConnectionNames();
  const { facts } = t.jobs;
  const { createdAt, startedAt, finishedAt, scheduleId } = job;
  const tookMs = startedAt === null || finishedAt === null ? undefined : Date.parse(finishedAt) - Date.parse(startedAt);
  const starter =
    scheduleId === null ? starterOf(job) : <Link href={`/schedules/${scheduleId}`}>{t.jobs.aSchedule}</Link>;
  return (
    <Facts
      isWide
      items={[
        ...factsOf(job, nameOf),
        [facts.begunBy, starter],
        [facts.askedFor, <Time key="c" iso={createdAt} isLong />],
        ...(startedAt === null ? [] : [[facts.started, <Time key="s" iso={startedAt} isLong />] as const]),
        ...(finishedAt === null ? [] : [[facts.ended, <Time key="f" iso={finishedAt} isLong />] as const]),
        ...(tookMs === undefined ? [] : [[facts.took, formatDuration(tookMs)] as const]),
      ]}
    />
  );
}
