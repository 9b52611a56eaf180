/** The texts of mails, in each of their languages; the troubles have the words of contract/attention.ts. */
import type { Language } from '../contract/languages.js';

interface MailWords {
  readonly subject: (news: number, worst: string) => string;
  readonly news: (count: number) => string;
  readonly goesOn: (count: number) => string;
  readonly over: (count: number) => string;
  readonly more: (count: number) => string;
  readonly open: string;
  readonly why: string;
  readonly code: { readonly subject: string; readonly text: (account: string, code: string) => string };
  readonly test: { readonly subject: string; readonly text: string };
}

const english: MailWords = {
  subject: (news, worst) => (news === 1 ? worst : `${news} things need attention: ${worst}`),
  news: (count) => (count === 1 ? 'This needs attention:' : `These ${count} things need attention:`),
  goesOn: (count) => (count === 1 ? 'This still needs attention:' : `These ${count} things still need attention:`),
  over: (count) => (count === 1 ? 'This is resolved:' : `These ${count} things are resolved:`),
  more: (count) => `and ${count} more`,
  open: 'Open',
  why: 'You get this e-mail because alarms are on in the settings of this File Transfer Gateway account. At most one is sent every 15 minutes.',
  code: {
    subject: 'Confirm this address for alarms',
    text: (account, code) =>
      `The account ${account} of a File Transfer Gateway wants to send its alarms to this address.\n\nIf you want them, enter this code in Settings, Alarms, or give it to the owner of the account:\n\n${code}\n\nThe code is valid for 24 hours. If you do not want them, do nothing: you get no further e-mail.`,
  },
  test: {
    subject: 'Test of the alarms',
    text: 'This is the test e-mail that you asked for. Alarms are sent to this address.',
  },
};

const german: MailWords = {
  subject: (news, worst) => (news === 1 ? worst : `${news} Dinge brauchen Aufmerksamkeit: ${worst}`),
  news: (count) => (count === 1 ? 'Das braucht Aufmerksamkeit:' : `Diese ${count} Dinge brauchen Aufmerksamkeit:`),
  goesOn: (count) =>
    count === 1 ? 'Das braucht weiterhin Aufmerksamkeit:' : `Diese ${count} Dinge brauchen weiterhin Aufmerksamkeit:`,
  over: (count) => (count === 1 ? 'Das ist vorbei:' : `Diese ${count} Dinge sind vorbei:`),
  more: (count) => `und ${count} weitere`,
  open: 'Öffnen',
  why: 'Sie erhalten diese E-Mail, weil in den Einstellungen dieses Kontos des File Transfer Gateway Alarme eingeschaltet sind. Höchstens alle 15 Minuten kommt eine.',
  code: {
    subject: 'Bestätigen Sie, dass Alarme hierher kommen dürfen',
    text: (account, code) =>
      `Das Konto ${account} eines File Transfer Gateway möchte seine Alarme an diese Adresse senden.\n\nWenn Sie das möchten, geben Sie diesen Code an den Inhaber des Kontos. Er gibt ihn unter Einstellungen, Alarme ein:\n\n${code}\n\nDer Code gilt 24 Stunden. Wenn Sie das nicht möchten, tun Sie nichts: Es kommt keine weitere E-Mail.`,
  },
  test: {
    subject: 'Test der Alarme',
    text: 'Das ist die Test-E-Mail, um die gebeten wurde. Alarme kommen an diese Adresse.',
  },
};

export const MAIL_WORDS: Readonly<Record<Language, MailWords>> = { en: english, de: german };
