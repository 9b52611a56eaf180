/** A schedule, a new one or one that is changed: when, and the job that it begins. */
import { useState, type ReactElement } from 'react';
import { useLocation } from 'wouter';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { Connection, NewJob, NewSchedule, Schedule } from '../../api/types.ts';
import { timeZone as ownZone } from '../../preferences.ts';
import { t } from '../../texts/texts.ts';
import { Panel } from '../../ui/basics.tsx';
import { TextField } from '../../ui/fields.tsx';
import { useUnsaved } from '../../ui/unsaved.ts';
import { deletes, draftOf, type JobDraft, requestOf, type Told } from '../jobs/draft.ts';
import { JobFields } from '../jobs/fields.tsx';
import { JobForm } from '../jobs/form.tsx';
import { titleOf } from '../jobs/words.ts';
import { cronOf, NIGHTLY, timesOf } from './cron.ts';
import { TimeFields, usePreview } from './times.tsx';

/** The job of a schedule as one that was begun tells of itself. */
export function toldOf({ job }: Schedule): Told {
  const { type, name, source, destination, ...settings } = job;
  return { type, name, source, destination, settings };
}

export function ScheduleForm({
  initial,
  former,
  connections,
}: {
  /** Its name is the schedule's. */
  readonly initial: JobDraft;
  readonly former?: Schedule;
  readonly connections: readonly Connection[];
}): ReactElement {
  const [draft, setDraft] = useState(initial);
  const [firstTimes] = useState(former === undefined ? NIGHTLY : timesOf(former.cron));
  const [times, setTimes] = useState(firstTimes);
  const [timeZone, setTimeZone] = useState(former?.timeZone ?? ownZone);
  const [, navigate] = useLocation();
  const words = t.schedules.form;
  const change = (to: Partial<JobDraft>): void => setDraft((before) => ({ ...before, ...to }));
  const cron = cronOf(times);
  const preview = usePreview(cron, timeZone.trim());
  const save = useAction(
    () => {
      const body = scheduleOf(draft, cron, timeZone.trim(), former);
      return former === undefined
        ? request<{ schedule: { id: string } }>('POST', '/api/schedules', body)
        : request<{ schedule: { id: string } }>('PATCH', `/api/schedules/${former.id}`, body);
    },
    {
      says: former === undefined ? words.saved : words.changed,
      refreshes: ['/manage/schedules'],
      showsError: true,
      onDone: ({ schedule }) => navigate(`/schedules/${schedule.id}`),
    },
  );
  useUnsaved(times !== firstTimes && !save.isPending);
  // What was looked at when it was made need not be looked at to give it another time.
  const isSameJob = former !== undefined && jobText(draft) === jobText(initial);
  return (
    <JobForm
      draft={draft}
      isAnswered={preview.nextRuns !== undefined}
      mustLook={deletes(draft) && !isSameJob}
      verb={former === undefined ? words.save : words.saveChanges}
      refused={words.refused}
      back={former === undefined ? '/schedules' : `/schedules/${former.id}`}
      isBusy={save.isPending}
      error={save.error}
      onSend={() => save.mutate(undefined)}
    >
      <Panel title={t.words.when}>
        <div className="panel-body stack">
          <TextField
            label={words.name}
            maxLength={200}
            value={draft.name}
            onText={(name) => change({ name })}
            hint={words.nameHint}
          />
          <TimeFields
            times={times}
            timeZone={timeZone}
            preview={preview}
            onTimes={(to) => setTimes((before) => ({ ...before, ...to }))}
            onTimeZone={setTimeZone}
          />
        </div>
      </Panel>
      <Panel title={t.words.what}>
        <div className="panel-body stack">
          <JobFields draft={draft} onChange={change} connections={connections} />
        </div>
      </Panel>
    </JobForm>
  );
}

export function draftOfSchedule(schedule: Schedule): JobDraft {
  return { ...draftOf(toldOf(schedule)), name: schedule.name };
}

function scheduleOf(draft: JobDraft, cron: string, timeZone: string, former: Schedule | undefined): NewSchedule {
  const { name: typed, ...job } = requestOf(draft, former?.job.dryRun ?? false);
  const { type, sourcePath: path, sourceId: connectionId } = draft;
  const name = typed ?? titleOf({ name: null, type, source: { connectionId, path }, destination: null });
  // A name of its jobs that is not the schedule's was given by another way than this form.
  const ownName = former?.job.name ?? null;
  return { name, cron, timeZone, job: ownName === null ? job : { ...job, name: ownName } };
}

function jobText(draft: JobDraft): string {
  const { name: _, ...job }: NewJob = requestOf(draft, false);
  return JSON.stringify(job);
}
