/** Cron expressions as people choose and read them. An expression that fits none of the rhythms stays a cron. */
import cronstrue from 'cronstrue';
import 'cronstrue/locales/de.js';
import { language } from '../../preferences.ts';
import { t } from '../../texts/texts.ts';

export type Rhythm = keyof typeof t.schedules.rhythms;

/** The steps that divide an hour. */
export const STEPS = ['5', '10', '15', '20', '30'] as const;

const NICKNAMES: Readonly<Record<string, string>> = {
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** The choices in the form. Only those that the rhythm uses matter. */
export interface Times {
  readonly rhythm: Rhythm;
  readonly step: string;
  readonly minute: string;
  /** HH:MM */
  readonly time: string;
  readonly weekday: string;
  readonly day: string;
  readonly cron: string;
}

export const NIGHTLY: Times = {
  rhythm: 'day',
  step: '15',
  minute: '0',
  time: '02:30',
  weekday: '1',
  day: '1',
  cron: '30 2 * * *',
};

/** The times among the input of a form. */
export function timesIn(draft: Readonly<Record<string, unknown>>): Times {
  const typed = Object.fromEntries(Object.keys(NIGHTLY).map((name) => [name, String(draft[name])]));
  return { ...NIGHTLY, ...typed };
}

export function timesOf(cron: string): Times {
  const fields = (NICKNAMES[cron.trim().toLowerCase()] ?? cron.trim()).split(/ +/);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  const own: Times = { ...NIGHTLY, rhythm: 'cron', cron };
  if (fields.length !== 5 || month !== '*') return own;
  const isEveryDay = day === '*' && weekday === '*';
  const step = /^\*\/(\d+)$/.exec(minute)?.[1];
  if (isEveryDay && hour === '*') {
    if (step !== undefined && STEPS.some((one) => one === step)) return { ...own, rhythm: 'minutes', step };
    return isNumber(minute, 59) ? { ...own, rhythm: 'hours', minute: String(Number(minute)) } : own;
  }
  if (!isNumber(minute, 59) || !isNumber(hour, 23)) return own;
  const at = { ...own, time: `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}` };
  if (isEveryDay) return { ...at, rhythm: 'day' };
  if (day === '*' && /^(1-5|mon-fri)$/i.test(weekday)) return { ...at, rhythm: 'weekdays' };
  if (day === '*' && isNumber(weekday, 7)) return { ...at, rhythm: 'week', weekday: String(Number(weekday) % 7) };
  return weekday === '*' && isNumber(day, 31) && day !== '0'
    ? { ...at, rhythm: 'month', day: String(Number(day)) }
    : own;
}

export function cronOf({ rhythm, step, minute, time, weekday, day, cron }: Times): string {
  const [hour = 0, past = 0] = time.split(':').map(Number);
  const at = `${past} ${hour}`;
  switch (rhythm) {
    case 'minutes':
      return `*/${step} * * * *`;
    case 'hours':
      return `${minute} * * * *`;
    case 'day':
      return `${at} * * *`;
    case 'weekdays':
      return `${at} * * 1-5`;
    case 'week':
      return `${at} * * ${weekday}`;
    case 'month':
      return `${at} ${day} * *`;
    case 'cron':
      return cron.trim();
  }
}

/** The fields of a cron: least and greatest value, and the names that are possible instead. */
const PARTS = [
  ['minute', 0, 59],
  ['hour', 0, 23],
  ['day', 1, 31],
  ['month', 1, 12, /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)$/i],
  ['weekday', 0, 7, /^(?:sun|mon|tue|wed|thu|fri|sat)$/i],
] as const;

/** Every value, and the last, nearest and n-th day. */
const OTHER_PARTS = /^(?:[*?]|\+|.*[lw#].*)$/i;

/** The first part that cannot be right, and what would be; undefined if the gateway has to decide. */
export function cronFault(cron: string): string | undefined {
  const { cronFaults } = t.schedules.form;
  const text = cron.trim();
  if (text.startsWith('@'))
    return /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/i.test(text) ? undefined : cronFaults.nickname;
  const fields = text.split(/\s+/);
  if (fields.length !== PARTS.length) return cronFaults.count(fields.length);
  for (const [index, [part, least, most, names]] of PARTS.entries()) {
    const numbers = (fields[index] ?? '').split(/[,/-]/);
    const wrong = numbers.find((one) =>
      /^\d+$/.test(one)
        ? Number(one) < least || Number(one) > most
        : !OTHER_PARTS.test(one) && names?.test(one) !== true,
    );
    if (wrong !== undefined) return cronFaults.part(t.schedules.form.cronParts[part], least, most, wrong);
  }
  return undefined;
}

/** Undefined if the library does not know the form of this cron. */
export function wordsOf(cron: string): string | undefined {
  try {
    return cronstrue.toString(cron, { locale: language, use24HourTimeFormat: true });
  } catch {
    return undefined;
  }
}

function isNumber(text: string, most: number): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) <= most;
}
