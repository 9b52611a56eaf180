import { actions } from '../../../../contract/de/audit.ts';
import type { audit as English } from '../en/audit.ts';

export const audit: typeof English = {
  lead: 'Jede Änderung und jede Anmeldung, auch abgelehnte.',
  areas: {
    login: 'Anmeldungen',
    session: 'Sitzungen',
    account: 'Konto',
    connection: 'Verbindungen',
    api_key: 'API-Schlüssel',
    key_pair: 'Schlüsselpaare',
    schedule: 'Zeitpläne',
    alarms: 'Alarme',
    watched_folder: 'Überwachte Ordner',
    delivery: 'Zustellungen',
    webhook: 'Webhooks',
    webhook_secret: 'Webhook-Geheimnis des Kontos',
    link: 'Links',
    transfer: 'Übertragungen',
  },
  none: 'Keine Einträge',
  noneText:
    'Hier erscheinen Änderungen an Verbindungen, Schlüsseln und dem Konto: wer sie vorgenommen hat und von welcher Adresse.',
  action: 'Aktion',
  on: 'Ziel',
  actor: 'Von',
  address: 'Adresse',
  raw: 'Der rohe Eintrag',
  openOne: (sentence) => `Öffnen: ${sentence}`,
  anonymous: 'jemand, der nicht angemeldet ist',
  by: (sentence, actor) => `${sentence}, durch ${actor}`,
  actions,
};
