import type { Texts } from '../catalogue.ts';
import { plural } from '../plural.ts';

export const palette: Texts['palette'] = {
  title: 'Suche und Befehle',
  placeholder: 'Seite, Verbindung, Aktion, ID …',
  results: 'Ergebnisse',
  none: 'Keine Treffer. Versuchen Sie es mit weniger Buchstaben.',
  count: (count) => plural(count, { one: '1 Treffer', other: `${count} Treffer` }),
  filesOf: (name) => `Dateien von ${name}`,
  kinds: {
    screen: 'Seite',
    action: 'Aktion',
    connection: 'Verbindung',
    files: 'Dateien',
    watched: 'Überwachter Ordner',
    webhook: 'Webhook',
    key: 'API-Schlüssel',
    transfer: 'Übertragung',
  },
  byId: { transfers: 'Übertragung mit dieser ID öffnen', jobs: 'Auftrag mit dieser ID öffnen' },
  does: {
    upload: 'Dateien hochladen',
    issueKey: 'API-Schlüssel ausstellen',
    newJob: 'Auftrag starten',
    newSchedule: 'Zeitplan anlegen',
    theme: (name) => `Farben: ${name}`,
    language: (name) => `Sprache: ${name}`,
    keyboard: 'Tastenkürzel zeigen',
    docs: 'API-Referenz öffnen',
  },
};
