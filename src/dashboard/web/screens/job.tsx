/** A job: its progress, its current files, and its failures with reasons. */
import { useState, type ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { request, withQuery } from '../api/client.ts';
import { useRows } from '../api/hooks.ts';
import { useLiveTransfers } from '../api/live.ts';
import { useConnectionName } from '../api/names.ts';
import type { Job } from '../api/types.ts';
import { formatBytes, formatDuration, formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { ActionButton } from '../ui/actions.tsx';
import { ConfirmAction } from '../ui/form-dialog.tsx';
import { Button, Facts, LinkButton, Mono, Panel, Time } from '../ui/basics.tsx';
import { Detail, DetailPage } from '../ui/detail.tsx';
import { Ban, CalendarClock, RotateCw } from '../ui/icons.tsx';
import { Pause, Play } from '../ui/later-icons.ts';
import { List } from '../ui/list.tsx';
import { Reason } from '../ui/reason.tsx';
import { Trouble } from '../ui/trouble.tsx';
import { repeatRequest } from './jobs/draft.ts';
import { factsOf } from './jobs/facts.tsx';
import { JobFiles } from './jobs/files.tsx';
import { useJob } from '../api/live-job.ts';
import { canRetry, JobProgress, leftText, speedText, starterOf, StateBadge } from './jobs/rows.tsx';
import { countsText, filesText, isRepeatable, titleOf } from './jobs/words.ts';
import { LiveRows } from './transfers/rows.tsx';
import { hasEnded } from '../../../contract/job-states.ts';

const words = t.jobs.screen;
const UP = ['/jobs', t.places.jobs] as const;
const JOBS = ['/manage/jobs', '/api/jobs'];
/** The number of failed files that are shown with their errors. The list below has all files. */
const FAILURES = 20;

export default function JobScreen({ id }: { readonly id: string }): ReactElement {
  return (
    <Detail of={useJob(id)} title={t.jobs.one} up={UP}>
      {(job) => (
        <DetailPage title={titleOf(job)} up={UP} state={<StateBadge job={job} />} actions={<Actions job={job} />}>
          {job.error !== null && <Trouble title={words.endedAll} text={job.error} code={job.errorCode} />}
          <Progressed job={job} />
          {!hasEnded(job) && <Running job={job} />}
          {job.counts.failed > 0 && <Failures job={job} />}
          <Panel isPadded title={t.words.details}>
            <JobFacts job={job} />
          </Panel>
          <JobFiles id={id} isOpen={!hasEnded(job)} />
        </DetailPage>
      )}
    </Detail>
  );
}

interface Begun {
  readonly job: { readonly id: string };
}

function Actions({ job }: { readonly job: Job }): ReactElement {
  const { id, state, settings } = job;
  const [isCancelling, setCancelling] = useState(false);
  const [, navigate] = useLocation();
  const toNew = {
    variant: 'primary',
    refreshes: JOBS,
    onDone: (begun: Begun) => navigate(`/jobs/${begun.job.id}`),
  } as const;
  const isOpen = !hasEnded(job);
  const isPaused = state === 'paused';
  return (
    <>
      {isOpen && (
        // One button for both actions keeps the focus.
        <ActionButton
          variant={isPaused ? 'primary' : 'plain'}
          icon={isPaused ? Play : Pause}
          run={() => request('POST', `/api/jobs/${id}/${isPaused ? 'resume' : 'pause'}`)}
          refreshes={JOBS}
        >
          {isPaused ? t.words.resume : t.words.pause}
        </ActionButton>
      )}
      {isOpen && (
        <Button icon={Ban} onClick={() => setCancelling(true)}>
          {words.cancel}
        </Button>
      )}
      {canRetry(job) && (
        <ActionButton {...toNew} icon={RotateCw} run={() => request('POST', `/api/jobs/${id}/retry`)}>
          {words.retry}
        </ActionButton>
      )}
      {state === 'succeeded' && settings.dryRun && isRepeatable(job) && (
        <ActionButton {...toNew} icon={Play} run={() => request('POST', '/api/jobs', repeatRequest(job, false))}>
          {words.forReal}
        </ActionButton>
      )}
      {!isOpen && isRepeatable(job) && <LinkButton href={`/jobs/new?like=${id}`}>{words.again}</LinkButton>}
      {isRepeatable(job) && (
        <LinkButton href={`/schedules/new?like=${id}`} icon={CalendarClock}>
          {words.asSchedule}
        </LinkButton>
      )}
      {isCancelling && (
        <ConfirmAction
          title={words.cancelTitle(titleOf(job))}
          verb={words.cancelVerb}
          run={() => request('POST', `/api/jobs/${id}/cancel`)}
          says={words.cancelled}
          refreshes={JOBS}
          onClose={() => setCancelling(false)}
        >
          <p>{words.cancelText}</p>
        </ConfirmAction>
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
          <span>{t.words.of(formatBytes(counts.bytes), formatBytes(counts.bytesTotal))}</span>
          {startedAt !== null && <span>{speedText(job)}</span>}
          {job.etaSeconds !== null && <span>{leftText(job)}</span>}
        </div>
      </div>
    </Panel>
  );
}

function Running({ job }: { readonly job: Job }): ReactElement {
  const own = useLiveTransfers().transfers.filter(({ jobId }) => jobId === job.id);
  return (
    <Panel title={words.now}>
      {own.length === 0 ? <p className="panel-body muted">{words.nothingNow}</p> : <LiveRows transfers={own} />}
    </Panel>
  );
}

function Failures({ job: { id, counts, state } }: { readonly job: Job }): ReactElement {
  const path = withQuery(`/api/jobs/${id}/files`, { state: 'failed', limit: FAILURES });
  const { columns } = t.jobs;
  return (
    <Panel title={words.failed}>
      <List
        list={useRows(path, 'files', hasEnded({ state }) ? {} : { everyMs: 3_000 })}
        label={words.failedFiles}
        none=""
        rowKey={(file) => file.path}
        columns={[
          { head: t.words.file, cell: (file) => <Mono>{file.path}</Mono> },
          {
            head: columns.why,
            cell: ({ error, errorCode }) => (
              <span className="bad-text">
                {error === null ? t.common.noReason : <Reason code={errorCode} text={error} isShort />}
              </span>
            ),
          },
          { head: t.words.size, align: 'end', cell: ({ size }) => formatBytes(size) },
        ]}
      />
      {counts.failed > FAILURES && (
        <p className="panel-body muted small">{words.firstOf(formatNumber(FAILURES), filesText(counts.failed))}</p>
      )}
    </Panel>
  );
}

function JobFacts({ job }: { readonly job: Job }): ReactElement {
  const nameOf = useConnectionName();
  const { facts } = t.jobs;
  const { createdAt, startedAt, finishedAt, waitsUntil, scheduleId } = job;
  const tookMs = startedAt === null || finishedAt === null ? undefined : Date.parse(finishedAt) - Date.parse(startedAt);
  const starter = starterOf(job);
  return (
    <Facts
      isWide
      of={{
        ...factsOf(job, nameOf),
        [facts.begunBy]: scheduleId === null ? starter : <Link href={`/schedules/${scheduleId}`}>{starter}</Link>,
        [facts.askedFor]: <Time iso={createdAt} form="long" />,
        [t.words.started]: startedAt === null ? undefined : <Time iso={startedAt} form="long" />,
        [facts.waitsUntil]: waitsUntil === null ? undefined : <Time iso={waitsUntil} form="long" />,
        [facts.ended]: finishedAt === null ? undefined : <Time iso={finishedAt} form="long" />,
        [t.words.duration]: tookMs === undefined ? undefined : formatDuration(tookMs),
      }}
    />
  );
}
