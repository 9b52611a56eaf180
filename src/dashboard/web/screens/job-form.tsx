/**
 * The form of a job or a schedule: a new one, a copy of an earlier job, or an edited schedule. Jobs that delete files show
 * a
 * dry run first.
 */
import { useId, useState, type ReactElement } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { JOB_FILTERS } from '../../../contract/job-options.ts';
import { request } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { Connection, RepeatableJob, Schedule } from '../api/types.ts';
import { timeZone as ownZone } from '../preferences.ts';
import { t } from '../texts/texts.ts';
import { Button, Empty, Failure, LinkButton, Page, Panel, Pending } from '../ui/basics.tsx';
import { CheckedForm } from '../ui/checked-form.tsx';
import type { Draft } from '../ui/draft.ts';
import { RadioGroup, TextField } from '../ui/fields.tsx';
import { usePreferredConnections } from '../ui/connection-status.tsx';
import { FormFields, type FormState, RestoredNotice, useForm } from '../ui/form.tsx';
import { Server } from '../ui/icons.tsx';
import { useUnsaved } from '../ui/unsaved.ts';
import { asksJob, deletes, flatFields, jobOfSchedule } from './jobs/draft.ts';
import { DryRun } from './jobs/dry-run.tsx';
import { ORDERS, titleOf } from './jobs/words.ts';
import { cronOf, NIGHTLY, timesIn, timesOf } from './schedules/cron.ts';
import { TimeFields, usePreview } from './schedules/times.tsx';

const words = t.jobs.form;

interface Props {
  readonly of: 'job' | 'schedule';
  /** The id of an edited schedule; absent for a new one. */
  readonly id?: string;
}

export default function JobFormScreen({ of, id }: Props): ReactElement {
  const [parameters] = useSearchParams();
  const like = parameters.get('like');
  const connections = useRead('/manage/connections');
  const at =
    id !== undefined
      ? (`/manage/schedules/${id}` as const)
      : like !== null
        ? (`/manage/jobs/${like}` as const)
        : undefined;
  // Without a source this read costs nothing, because the connections are read anyway.
  const read = useRead(at ?? '/manage/connections');
  const known = at === undefined ? undefined : (read.data as RepeatableJob | Schedule | undefined);
  const former = known !== undefined && 'cron' in known ? known : undefined;
  const all = of === 'job' ? t.jobs : t.schedules;
  const usable = connections.data?.connections.filter(({ isActive }) => isActive);
  const found = usePreferredConnections(at === undefined);
  // A known job has its connections.
  const preferred = at === undefined ? found : [];
  const isLoading = usable === undefined || preferred === undefined || (at !== undefined && known === undefined);
  return (
    <Page
      title={id === undefined ? all.add : former === undefined ? all.one : t.words.editing(former.name)}
      lead={
        id === undefined ? (
          <Link href={`/${of}s`}>{t.places[`${of}s`]}</Link>
        ) : (
          <Link href={`/schedules/${id}`}>{former?.name ?? all.one}</Link>
        )
      }
    >
      {isLoading ? (
        <Pending
          error={connections.error ?? read.error}
          onRetry={() => void Promise.all([connections.refetch(), at !== undefined && read.refetch()])}
        />
      ) : usable.length === 0 ? (
        <Panel>
          <Empty
            icon={Server}
            title={words.noConnection}
            action={<LinkButton href="/connections/new">{t.connections.add}</LinkButton>}
          >
            {words.noConnectionText}
          </Empty>
        </Panel>
      ) : of === 'job' ? (
        <JobForm {...beginningOf(known, preferred, parameters)} />
      ) : (
        <ScheduleForm former={former} {...beginningOf(known, preferred, parameters)} />
      )}
    </Page>
  );
}

interface Beginning {
  readonly like?: object;
  readonly start?: Draft;
  /** Whether the name of the source folder is not UTF-8. */
  readonly hasRawName: boolean;
}

const RAW_NAME = 'source.rawName';

/** The first values: those of the known job, or the place in the address and the second connection as the destination. */
function beginningOf(
  known: RepeatableJob | Schedule | undefined,
  preferred: readonly Connection[],
  parameters: URLSearchParams,
): Beginning {
  if (known !== undefined) {
    const job = 'cron' in known ? { ...jobOfSchedule(known), name: known.name } : known;
    return { like: flatFields(job), hasRawName: job.source.rawName !== undefined };
  }
  const rawName = parameters.get('rawName') ?? '';
  return {
    hasRawName: rawName !== '',
    start: {
      'source.connectionId': parameters.get('source') ?? preferred[0]?.id ?? '',
      'source.path': parameters.get('path') ?? '',
      [RAW_NAME]: rawName,
      'destination.connectionId': preferred[1]?.id ?? preferred[0]?.id ?? '',
    },
  };
}

function useJobForm({ like, start = {}, hasRawName }: Beginning, keepAs?: string, more: Draft = {}): FormState {
  // Each form has its own button for a dry run.
  const without = hasRawName ? ['dryRun'] : ['dryRun', RAW_NAME];
  const form = useForm(['job', 'jobOptions'], {
    former: like,
    start: { ...start, ...more },
    without,
    asks: asksJob,
    keepAs: keepAs === undefined ? undefined : `${keepAs} ${location.search}`,
  });
  // The exact name belongs to the folder that the form began with.
  const set = (to: Draft): void =>
    form.set('source.connectionId' in to || 'source.path' in to ? { ...to, [RAW_NAME]: '' } : to);
  return { ...form, set };
}

/** The body of POST /api/jobs. A dry run sends no webhook. */
function requestOf({ answers }: FormState, dryRun: boolean): Readonly<Record<string, unknown>> {
  return { ...answers(), dryRun, ...(dryRun ? { webhookUrl: undefined } : {}) };
}

function JobForm(beginning: Beginning): ReactElement {
  const form = useJobForm(beginning, 'job');
  const [, navigate] = useLocation();
  const start = useAction(() => request('POST', '/api/jobs', requestOf(form, false)), {
    says: words.started,
    refreshes: ['/manage/jobs'],
    showsError: true,
    onDone: ({ job }) => {
      form.forget();
      navigate(`/jobs/${job.id}`);
    },
  });
  return (
    <Frame
      form={form}
      needsDryRun={deletes(form.draft)}
      verb={words.start}
      refused={words.refused}
      back="/jobs"
      isBusy={start.isPending}
      error={start.error}
      onSend={() => start.mutate(undefined)}
    >
      <Panel>
        <div className="panel-body stack">
          <JobFields form={form} />
        </div>
      </Panel>
    </Frame>
  );
}

function ScheduleForm({ former, ...beginning }: Beginning & { readonly former: Schedule | undefined }): ReactElement {
  const form = useJobForm(beginning, former === undefined ? 'schedule' : undefined, {
    ...(former === undefined ? NIGHTLY : timesOf(former.cron)),
    timeZone: former?.timeZone ?? ownZone,
  });
  const times = timesIn(form.draft);
  const timeZone = String(form.draft['timeZone']);
  const [, navigate] = useLocation();
  const cron = cronOf(times);
  const preview = usePreview(cron, timeZone.trim());
  const said = t.schedules.form;
  const save = useAction(
    () => {
      const { name: typed, ...job } = requestOf(form, former?.job.dryRun ?? false);
      // A job name that differs from the schedule's was set through the API.
      const ownName = former?.job.name ?? null;
      const body = {
        name: typed ?? nameOf(form.draft),
        cron,
        timeZone: timeZone.trim(),
        job: ownName === null ? job : { ...job, name: ownName },
      };
      return former === undefined
        ? request('POST', '/api/schedules', body)
        : request('PATCH', `/api/schedules/${former.id}`, body);
    },
    {
      says: former === undefined ? said.saved : t.form.saved,
      refreshes: ['/manage/schedules'],
      showsError: true,
      onDone: ({ schedule }) => {
        form.forget();
        navigate(`/schedules/${schedule.id}`);
      },
    },
  );
  const job = jobText(form);
  const [firstJob] = useState(job);
  const { label, hint } = t.fields.schedule.name;
  return (
    <Frame
      form={form}
      // A schedule with an unchanged job needs no new dry run.
      needsDryRun={deletes(form.draft) && (former === undefined || job !== firstJob)}
      verb={former === undefined ? said.save : said.saveChanges}
      refused={said.refused}
      back={former === undefined ? '/schedules' : `/schedules/${former.id}`}
      isBusy={save.isPending}
      error={save.error}
      onSend={() => save.mutate(undefined)}
    >
      <Panel title={t.words.when}>
        <div className="panel-body stack">
          <TextField
            label={label}
            hint={hint}
            maxLength={200}
            value={String(form.draft['name'])}
            onText={(name) => form.set({ name })}
          />
          <TimeFields
            times={times}
            timeZone={timeZone}
            preview={preview}
            onTimes={form.set}
            onTimeZone={(zone) => form.set({ timeZone: zone })}
          />
        </div>
      </Panel>
      <Panel title={t.words.what}>
        <div className="panel-body stack">
          <JobFields form={form} isNamed />
        </div>
      </Panel>
    </Frame>
  );
}

function nameOf(draft: Draft): string {
  const type = draft['type'] as RepeatableJob['type'];
  const source = { connectionId: '', path: String(draft['source.path']).trim() };
  return titleOf({ name: null, type, source, destination: null });
}

function jobText(form: FormState): string {
  return JSON.stringify({ ...requestOf(form, false), name: undefined });
}

const BOUNDS = JOB_FILTERS.filter((name) => name !== 'include' && name !== 'exclude');

/** The fields of the job. `isNamed`: another field asks for the name. */
function JobFields({ form, isNamed = false }: { readonly form: FormState; readonly isNamed?: boolean }): ReactElement {
  const { draft, set } = form;
  const [isOpen] = useState(BOUNDS.some((name) => draft[name] !== ''));
  const type = draft['type'] as keyof typeof ORDERS;
  const nothing = { draw: () => null };
  return (
    <FormFields
      form={form}
      groups={[
        { names: ['type'], isPlain: true },
        { names: ['source'] },
        { names: ['destination'] },
        { names: ['include', 'exclude'] },
        { title: words.bounds, isOpen, names: BOUNDS },
        { names: ['onConflict', 'compare', 'deleteExtra', 'maxDeletes', 'allowEmptySource'], isPlain: true },
        { names: ['bytesPerSecond', 'webhookUrl'] },
        { names: ['name'], isPlain: true },
      ]}
      special={{
        type: {
          draw: () => (
            <>
              <RadioGroup
                label={t.fields.job.type.label}
                value={type}
                options={Object.entries(ORDERS) as [keyof typeof ORDERS, string][]}
                onValue={(chosen) => set({ type: chosen })}
              />
              <p className="hint">{t.jobs.hints[type]}</p>
            </>
          ),
        },
        'source.connectionId': { isRequired: true },
        [RAW_NAME]: { isDisabled: true },
        'destination.connectionId': { isRequired: true },
        include: { term: 'glob' },
        ...(draft['deleteExtra'] === true ? {} : { maxDeletes: nothing }),
        ...(isNamed ? { name: nothing } : {}),
      }}
    />
  );
}

/** Sends the form directly, or after a dry run. */
function Frame(props: {
  readonly form: FormState;
  /** The dry run has to be shown before the form is sent. */
  readonly needsDryRun: boolean;
  readonly verb: string;
  readonly refused: string;
  readonly back: string;
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly onSend: () => void;
  readonly children: ReactElement | readonly ReactElement[];
}): ReactElement {
  const { form, needsDryRun: mustLook, verb, refused, back, isBusy, error, onSend, children } = props;
  const look = useId();
  const [dryRun, setDryRun] = useState<string>();
  const dryRunStart = useAction(() => request('POST', '/api/jobs', requestOf(form, true)), {
    showsError: true,
    onDone: ({ job }) => setDryRun(job.id),
  });
  useUnsaved(form.isDirty && !isBusy, 'changes', form.forget);
  return (
    <CheckedForm
      className="stack"
      onSend={(by) => {
        if (mustLook || by?.id === look) dryRunStart.mutate(undefined);
        else onSend();
      }}
    >
      <RestoredNotice form={form} />
      {children}
      {dryRun === undefined && <Failure error={error ?? dryRunStart.error} title={refused} />}
      <div className="row end">
        <LinkButton href={back}>{t.common.discard}</LinkButton>
        {!mustLook && (
          <Button id={look} type="submit" isBusy={dryRunStart.isPending}>
            {t.words.dryRun}
          </Button>
        )}
        <Button
          variant="primary"
          type="submit"
          isBusy={mustLook ? dryRunStart.isPending : isBusy && dryRun === undefined}
        >
          {mustLook ? words.showFirst : verb}
        </Button>
      </div>
      {dryRun !== undefined && (
        <DryRun
          id={dryRun}
          verb={verb}
          refused={refused}
          isBusy={isBusy}
          error={error}
          onStart={onSend}
          onClose={() => setDryRun(undefined)}
        />
      )}
    </CheckedForm>
  );
}
