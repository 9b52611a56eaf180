import type { audit as English } from '../en/audit.ts';

export const audit: typeof English = {
  title: 'Änderungsprotokoll',
  lead: 'Jede Änderung und jede Anmeldung, auch abgelehnte.',
  show: 'Anzeigen',
  areas: {
    '': 'Alles',
    login: 'Anmeldungen',
    session: 'Sitzungen',
    account: 'Konto',
    connection: 'Verbindungen',
    api_key: 'API-Schlüssel',
    key_pair: 'Schlüsselpaare',
    watched_folder: 'Überwachte Ordner',
    delivery: 'Zustellungen',
    webhook: 'Webhooks',
    transfer: 'Übertragungen',
  },
  none: 'Hier ist nichts',
  noneText:
    'Änderungen an Verbindungen, Schlüsseln und dem Konto werden aufgezeichnet, mit der Person oder dem Schlüssel dahinter und der Adresse, von der sie kamen.',
  when: 'Wann',
  action: 'Aktion',
  on: 'Woran',
  by: 'Von',
  nobody: 'niemand angemeldet',
  apiKey: '(API-Schlüssel)',
  older: 'Ältere anzeigen',
};
