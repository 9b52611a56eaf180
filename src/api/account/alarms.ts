/** Alarms: who gets mails about what needs a person, and at which times not. */
import { Type } from 'typebox';
import { MOST_RECIPIENTS } from '../../alarms/service.js';
import { alarmFields } from '../../contract/alarm.js';
import { MAIL_ADDRESS } from '../../contract/patterns.js';
import { dateTimeOrNull, flag, listOf, object, success, text, textOrNull, texts } from '../../contract/schema.js';
import { newFields, shownFields } from '../../contract/thing.js';
import { runsAfter } from '../../jobs/schedules.js';
import { successAnswer } from '../fields.js';
import { CLOSED } from '../fields.js';
import { actorOf, badField } from '../services.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Alarms');
export const alarmEndpoints = endpoint.all;

const ADDRESS = { maxLength: 254, pattern: MAIL_ADDRESS };

const answer = {
  schema: object('Alarms', {
    ...shownFields(alarmFields, 'owner'),
    recipients: listOf(
      Type.Object({
        address: text('E-mail address.'),
        isConfirmed: flag('Whether mails are sent to it; the account’s own address needs no code.'),
        sentAt: dateTimeOrNull('When the mail server took the last alarm for it.'),
        failingSince: dateTimeOrNull('Since when alarms to it fail.'),
        error: textOrNull('What the last alarm to it failed with.'),
      }),
      'Whom.',
    ),
    isMailConfigured: flag('Whether the operator of this gateway has set a mail server; without one no mail is sent.'),
  }),
  example: {
    isOn: true,
    kinds: ['connection_failing' as const, 'dead_letters' as const],
    language: 'en' as const,
    quiet: { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' },
    urgentBreaksQuiet: true,
    recipients: [{ address: 'ops@example.com', isConfirmed: true, sentAt: null, failingSince: null, error: null }],
    isMailConfigured: true,
  },
};

endpoint('GET /manage/alarms', {
  operationId: 'showAlarms',
  summary: 'Show the alarms',
  description:
    'Who gets an e-mail when something needs attention (`attention` of the overview), and when. Each recipient gets at most one e-mail every 15 minutes, with everything that is new since the last one. Programs subscribe a webhook to `attention.raised` and `attention.cleared` instead.',
  answer,
}).handle(async ({ caller }, { alarms }) => alarms.show(caller.accountId));

endpoint('PUT /manage/alarms', {
  operationId: 'saveAlarms',
  summary: 'Set the alarms',
  description:
    'Recipients that are left out are forgotten. New ones wait for their code, the account’s own address does not.',
  body: object(
    'AlarmsRequest',
    {
      ...newFields(alarmFields),
      recipients: texts('Whom: e-mail addresses.', { maxItems: MOST_RECIPIENTS, uniqueItems: true }, ADDRESS),
    },
    CLOSED,
  ),
  bodyExamples: {
    body: {
      isOn: true,
      kinds: ['connection_failing', 'dead_letters'],
      language: 'en',
      quiet: { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' },
      recipients: ['ops@example.com'],
    },
  },
  answer,
}).handle(async (input, { alarms }) => {
  const { recipients, ...wanted } = input.body;
  if (wanted.quiet !== null) {
    runsAfter(new Date(), '0 0 * * *', wanted.quiet.timeZone);
    if (wanted.quiet.from === wanted.quiet.to) throw badField('quiet', 'must end at another time than it begins');
  }
  const known = new Set(recipients.map((address) => address.toLowerCase()));
  if (known.size < recipients.length) throw badField('recipients', 'names an address twice');
  return alarms.save(actorOf(input), wanted, recipients);
});

const address = text('E-mail address of a recipient.', ADDRESS);

endpoint('POST /manage/alarms/code', {
  operationId: 'sendAlarmCode',
  summary: 'Mail a code to a recipient',
  description: 'The code before it is good no longer. An account can ask for 20 mails a day, tests among them.',
  body: object('AlarmCodeRequest', { address }, CLOSED),
  bodyExamples: { body: { address: 'night-shift@example.com' } },
  answer: { schema: successAnswer, example: { success: true } },
  errors: ['unsupported_operation', 'unknown_item', 'rate_limited', 'remote_failure'],
}).handle(async (input, { alarms }) => {
  await alarms.sendCode(actorOf(input), input.body.address);
  return { success: true };
});

endpoint('POST /manage/alarms/confirm', {
  operationId: 'confirmAlarmRecipient',
  summary: 'Confirm a recipient',
  description: 'By the code that was mailed to it, within 24 hours and five tries. Any other is 403 `forbidden`.',
  body: object(
    'AlarmConfirmation',
    { address, code: text('As it was mailed.', { minLength: 1, maxLength: 40 }) },
    CLOSED,
  ),
  bodyExamples: { body: { address: 'night-shift@example.com', code: 'b7Kx02mQpZ' } },
  answer,
}).handle(async (input, { alarms }) => {
  await alarms.confirm(actorOf(input), input.body.address, input.body.code);
  return alarms.show(input.caller.accountId);
});

endpoint('POST /manage/alarms/test', {
  operationId: 'sendAlarmTest',
  summary: 'Send a test mail',
  description:
    'To all recipients that have confirmed, at once and at any hour. 502 `remote_failure` says what the mail server says.',
  answer: {
    schema: object('AlarmTestAnswer', { success: success(), recipients: texts('Whom it was sent to.') }),
    example: { success: true, recipients: ['ops@example.com'] },
  },
  errors: ['unsupported_operation', 'unknown_item', 'rate_limited', 'remote_failure'],
}).handle(async ({ caller }, { alarms }) => ({
  success: true,
  recipients: [...(await alarms.sendTest(caller.accountId))],
}));
