/** The times of a schedule, chosen in words or as a cron. The next five runs are shown before it is saved. */
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useId, useState, type ReactElement } from 'react';
import { ApiError, request } from '../../api/client.ts';
import { dayIn, formatHour, formatIn } from '../../format.ts';
import { timeZone as ownZone } from '../../preferences.ts';
import { t } from '../../texts/texts.ts';
import { Failure } from '../../ui/basics.tsx';
import { ChoiceField, TextField } from '../../ui/fields.tsx';
import { cronFault, cronOf, type Rhythm, STEPS, type Times, wordsOf } from './cron.ts';

const words = t.schedules.form;
const fields = t.fields.schedule;
/** Delay between the last key and the request. */
const REST_MS = 300;

interface Preview {
  /** The next runs of the current cron; undefined before the answer. */
  readonly nextRuns: readonly string[] | undefined;
  readonly error: Error | null;
}

export function usePreview(cron: string, timeZone: string): Preview {
  const [asked, setAsked] = useState({ cron, timeZone });
  useEffect(() => {
    const timer = setTimeout(() => setAsked({ cron, timeZone }), REST_MS);
    return () => clearTimeout(timer);
  }, [cron, timeZone]);
  const read: UseQueryResult<{ nextRuns: string[] }, Error> = useQuery({
    queryKey: ['/api/schedules/preview', asked.cron, asked.timeZone],
    queryFn: ({ signal }) => request('POST', '/api/schedules/preview', asked, signal),
    enabled: asked.cron !== '' && cronFault(asked.cron) === undefined && isTimeZone(asked.timeZone),
  });
  const isOfNow = asked.cron === cron && asked.timeZone === timeZone;
  return { nextRuns: isOfNow ? read.data?.nextRuns : undefined, error: isOfNow ? read.error : null };
}

export function TimeFields({
  times,
  timeZone,
  preview,
  onTimes,
  onTimeZone,
}: {
  readonly times: Times;
  readonly timeZone: string;
  readonly preview: Preview;
  readonly onTimes: (to: Partial<Times>) => void;
  readonly onTimeZone: (timeZone: string) => void;
}): ReactElement {
  const zones = useId();
  return (
    <>
      <div className="form-grid">
        <ChoiceField
          label={words.often}
          value={times.rhythm}
          onText={(rhythm) => onTimes({ rhythm: rhythm as Rhythm })}
          options={Object.entries(t.schedules.rhythms)}
        />
        <RhythmFields
          times={times}
          isRefused={preview.error instanceof ApiError && preview.error.status === 400}
          onTimes={onTimes}
        />
        <TextField
          label={fields.timeZone.label}
          required
          maxLength={64}
          list={zones}
          value={timeZone}
          onText={onTimeZone}
          fault={isTimeZone(timeZone.trim()) ? undefined : words.zoneFault}
          hint={fields.timeZone.hint}
        />
        <datalist id={zones}>
          {ZONES.map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </div>
      <section className="inset stack tight" aria-label={t.schedules.nextRuns}>
        <h3>{words.fiveRuns}</h3>
        <p>{wordsOf(cronOf(times)) ?? '…'}</p>
        {preview.error === null ? (
          <div role="status">
            <RunTimes nextRuns={preview.nextRuns} timeZone={timeZone} />
          </div>
        ) : (
          <Failure error={preview.error} title={words.cannot} />
        )}
      </section>
    </>
  );
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).format();
    return true;
  } catch {
    return false;
  }
}

const ZONES: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

function RhythmFields({
  times: { rhythm, step, minute, time, weekday, day, cron },
  isRefused,
  onTimes,
}: {
  readonly times: Times;
  /** The gateway does not take the cron. Its reason is below the form. */
  readonly isRefused: boolean;
  readonly onTimes: (to: Partial<Times>) => void;
}): ReactElement {
  if (rhythm === 'cron') {
    return (
      <TextField
        label={fields.cron.label}
        term="cron"
        required
        maxLength={200}
        value={cron}
        onText={(text) => onTimes({ cron: text })}
        className="mono"
        fault={cron.trim() === '' ? undefined : (cronFault(cron) ?? (isRefused ? words.cannot : undefined))}
        hint={fields.cron.hint}
      />
    );
  }
  if (rhythm === 'minutes') {
    const options = STEPS.map((one) => [one, t.words.minutes(one)] as const);
    return (
      <ChoiceField label={t.words.every} value={step} onText={(text) => onTimes({ step: text })} options={options} />
    );
  }
  if (rhythm === 'hours') {
    return (
      <TextField
        label={words.past}
        type="number"
        required
        min={0}
        max={59}
        value={minute}
        onText={(text) => onTimes({ minute: text })}
      />
    );
  }
  return (
    <>
      <TextField label={words.at} type="time" required value={time} onText={(text) => onTimes({ time: text })} />
      {rhythm === 'week' && (
        <ChoiceField
          label={words.on}
          value={weekday}
          onText={(text) => onTimes({ weekday: text })}
          options={t.schedules.days.map((name, index) => [String(index), name] as const)}
        />
      )}
      {rhythm === 'month' && (
        <TextField
          label={words.onDay}
          type="number"
          required
          min={1}
          max={31}
          value={day}
          onText={(text) => onTimes({ day: text })}
          hint={words.onDayHint}
        />
      )}
    </>
  );
}

/** As many as the gateway answers. Their room is kept until then, so that nothing moves under the mouse. */
const RUNS = 5;

/** Times in the schedule's zone, and in the reader's zone if that differs. */
export function RunTimes({
  nextRuns,
  timeZone,
}: {
  readonly nextRuns: readonly string[] | undefined;
  readonly timeZone: string;
}): ReactElement {
  return (
    <ol className="run-times">
      {nextRuns === undefined &&
        Array.from({ length: RUNS }, (_, index) => (
          <li key={index} aria-hidden>
            …
          </li>
        ))}
      {nextRuns?.map((iso) => {
        const here = hereIfOther(iso, timeZone);
        return (
          <li key={iso}>
            <time dateTime={iso}>{formatIn(iso, timeZone)}</time>
            {here !== undefined && <span className="muted small"> {words.here(here)}</span>}
          </li>
        );
      })}
    </ol>
  );
}

/** The time in the reader's zone, with the day if that differs. */
function hereIfOther(iso: string, timeZone: string): string | undefined {
  const [there, here] = [formatIn(iso, timeZone), formatIn(iso, ownZone)];
  if (there === here) return undefined;
  return dayIn(iso, timeZone) === dayIn(iso, ownZone) ? formatHour(iso) : here;
}
