/** Alarms by mail. */
import { plural } from '../plural.ts';

export const alarms = {
  wrongAddress: 'An e-mail address such as ops@example.com.',
  title: 'Alarms',
  noTest: 'A test needs a mail server in the configuration, and a confirmed recipient.',
  lead: 'Get an e-mail when something needs attention. At most one every 15 minutes.',
  off: 'This gateway cannot send e-mail yet. Its operator sets a mail server in the configuration: mail.url and mail.from. Webhooks work without it: subscribe one to attention.raised.',
  recipients: 'Recipients',
  recipientsHint: 'Up to five addresses, one per line.',
  save: 'Save alarms',
  saved: (state: string): string => `Saved. ${state}`,
  inactive: 'Not active',
  states: {
    active: 'E-mails are sent to the confirmed recipients.',
    off: 'No e-mails are sent: they are switched off.',
    noMail: 'No e-mails are sent: this gateway has no mail server.',
    noKinds: 'No e-mails are sent: nothing is chosen to send them for.',
    unconfirmed: 'No e-mails are sent until a recipient is confirmed.',
  },
  test: 'Send a test e-mail',
  tested: (count: number): string => plural(count, { one: 'Test e-mail sent', other: `${count} test e-mails sent` }),
  waits: 'not confirmed yet',
  sent: 'Last e-mail',
  failing: (error: string): string => `E-mails to this address fail: ${error}`,
  sendCode: 'Send a code',
  sendCodeTo: (address: string): string => `Send a code to ${address}`,
  codeSent: 'Code sent',
  code: (address: string): string => `Code from the e-mail to ${address}`,
  confirm: 'Confirm',
  confirmed: 'Recipient confirmed',
};
