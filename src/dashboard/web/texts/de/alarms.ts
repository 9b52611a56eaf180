import type { Texts } from '../catalogue.ts';
import { plural } from '../plural.ts';

export const alarms: Texts['alarms'] = {
  wrongAddress: 'Eine E-Mail-Adresse wie ops@example.com.',
  title: 'Alarme',
  noTest: 'Ein Test braucht einen Mailserver in der Konfiguration und einen bestätigten Empfänger.',
  lead: 'Eine E-Mail, wenn etwas Aufmerksamkeit braucht. Höchstens alle 15 Minuten eine.',
  off: 'Dieses Gateway kann noch keine E-Mails senden. Der Betreiber gibt in der Konfiguration einen Mailserver an: mail.url und mail.from. Webhooks gehen auch ohne ihn: Wählen Sie dort attention.raised.',
  recipients: 'Empfänger',
  recipientsHint: 'Bis zu fünf Adressen, eine je Zeile.',
  save: 'Alarme speichern',
  saved: (state) => `Gespeichert. ${state}`,
  inactive: 'Nicht aktiv',
  states: {
    active: 'E-Mails gehen an die bestätigten Empfänger.',
    off: 'Es werden keine E-Mails gesendet: Sie sind ausgeschaltet.',
    noMail: 'Es werden keine E-Mails gesendet: Dieses Gateway hat keinen Mailserver.',
    noKinds: 'Es werden keine E-Mails gesendet: Es ist kein Anlass gewählt.',
    unconfirmed: 'Es werden keine E-Mails gesendet, bis ein Empfänger bestätigt ist.',
  },
  test: 'Test-E-Mail senden',
  tested: (count) =>
    plural(count, { one: 'Die Test-E-Mail ist gesendet', other: `${count} Test-E-Mails sind gesendet` }),
  waits: 'noch nicht bestätigt',
  sent: 'Letzte E-Mail',
  failing: (error) => `E-Mails an diese Adresse schlagen fehl: ${error}`,
  sendCode: 'Code senden',
  sendCodeTo: (address) => `Code an ${address} senden`,
  codeSent: 'Code gesendet',
  code: (address) => `Code aus der E-Mail an ${address}`,
  confirm: 'Bestätigen',
  confirmed: 'Empfänger bestätigt',
};
