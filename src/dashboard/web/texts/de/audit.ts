import type { audit as English } from '../en/audit.ts';

export const audit: typeof English = {
  lead: 'Jede Änderung und jede Anmeldung, auch abgelehnte.',
  everything: 'Alles',
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
    link: 'Links',
    transfer: 'Übertragungen',
  },
  none: 'Keine Einträge',
  noneText:
    'Hier erscheinen Änderungen an Verbindungen, Schlüsseln und dem Konto: wer sie vorgenommen hat und von welcher Adresse.',
  action: 'Aktion',
  on: 'Ziel',
  by: 'Von',
  nobody: 'nicht angemeldet',
  apiKey: '(API-Schlüssel)',
};
