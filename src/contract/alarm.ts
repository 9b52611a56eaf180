/** Alarms: the mails that an account gets when something needs a person. */
import { Type } from 'typebox';
import { ATTENTION_KINDS } from './attention.js';
import { LANGUAGES } from './languages.js';
import { flag, listOf, oneOf, orNull, text } from './schema.js';
import { given, needed, type SettingsOf } from './thing.js';

const TIME_OF_DAY = { pattern: '^([01]\\d|2[0-3]):[0-5]\\d$' };

export const alarmFields = {
  isOn: needed(flag('Whether mails are sent.'), { texts: { label: 'Send e-mails' } }),
  kinds: needed(listOf(oneOf(ATTENTION_KINDS, 'A kind.'), 'The kinds that are sent.', { uniqueItems: true }), {
    texts: { label: 'Send an alarm when' },
  }),
  language: needed(oneOf(LANGUAGES, 'The language of the mails.'), {
    texts: { label: 'Language of the e-mails' },
  }),
  /** Three columns, which the statements join. */
  quiet: needed(
    orNull(
      Type.Object(
        {
          from: text('`HH:MM`.', TIME_OF_DAY),
          to: text('`HH:MM`; earlier than `from` = on the next day.', TIME_OF_DAY),
          timeZone: text('A name of the IANA database.', { minLength: 1, maxLength: 64 }),
        },
        { additionalProperties: false },
      ),
      'No mail is sent in these hours; what is new then comes when they end. null = there are none.',
    ),
    {
      texts: {
        label: 'Quiet hours',
        hint: 'Alarms from this time are sent when it ends.',
        parts: { from: { label: 'From' }, to: { label: 'To' }, timeZone: { label: 'Time zone' } },
      },
    },
  ),
  urgentBreaksQuiet: given(
    flag(
      'Whether a connection or watched folder that fails, a schedule that has stopped, and a month that is used up are sent in quiet hours, too.',
    ),
    {
      texts: {
        label:
          'Send urgent alarms in quiet hours too: failing connections and folders, stopped schedules, a used-up month',
      },
      default: false,
    },
  ),
};

export type AlarmSettings = SettingsOf<typeof alarmFields>;
export type QuietHours = NonNullable<AlarmSettings['quiet']>;
