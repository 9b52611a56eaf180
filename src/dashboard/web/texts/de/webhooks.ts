import type { Texts } from '../catalogue.ts';

export const webhooks: Texts['webhooks'] = {
  one: 'Webhook',
  lead: 'URLs, die die Ereignisse dieses Kontos erhalten. Jede Nachricht ist signiert.',
  add: 'Webhook hinzufügen',
  none: 'Noch kein Webhook',
  noneText:
    'Wählen Sie eine URL und ihre Ereignisse, etwa fehlgeschlagene Übertragungen oder ausgefallene Server. Fehlgeschlagene Nachrichten werden wiederholt und aufbewahrt.',
  allConnections: 'Alle Verbindungen',
  ended: 'Beendet',
  failing: 'Gestört',
  newSecret: 'Neuer Signaturschlüssel …',
  removed: 'Der Webhook ist gelöscht',
  goneTitle: 'Der Empfänger hat geantwortet, dass es ihn nicht mehr gibt (410)',
  goneRemedy: 'Setzen Sie ihn fort, sobald es den Empfänger wieder gibt.',
  tabs: 'Zu diesem Webhook',
  noDelivery: 'Noch kein passendes Ereignis.',
  removeTitle: 'Diesen Webhook löschen?',
  removeVerb: 'Webhook löschen',
  removeText: 'Noch nicht zugestellte Nachrichten entfallen. Die Ereignisse bleiben beim Konto.',
  about: 'Nur für',
  form: {
    addTitle: 'Webhook hinzufügen',
    editTitle: 'Webhook bearbeiten',
    addVerb: 'Webhook hinzufügen',
  },
  secret: {
    title: 'Der Signaturschlüssel',
    warning: 'Kopieren Sie ihn jetzt: Er wird nicht wieder angezeigt.',
    text: 'Der Empfänger prüft damit jede Nachricht (Standard Webhooks). Ein verlorener lässt sich nur ersetzen.',
    label: 'Signaturschlüssel',
    kept: 'Ich habe ihn kopiert',
    rotateTitle: 'Einen neuen Signaturschlüssel erzeugen?',
    rotate: 'Neuen erzeugen',
    rotateText:
      'Ab jetzt wird damit signiert. Der bisherige signiert 24 Stunden lang mit: Geben Sie dem Empfänger den neuen.',
  },
};
