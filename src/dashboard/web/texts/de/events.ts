import { events as types } from '../../../../contract/de/events.ts';
import type { Texts } from '../catalogue.ts';

export const events: Texts['events'] = {
  lead: 'Alles, was geschehen ist, lückenlos nummeriert. Webhooks erhalten diese Ereignisse.',
  types,
  type: 'Typ',
  showNewer: 'Neuere anzeigen',
  noneFits: 'Kein Ereignis dieses Typs',
  noneFitsText: 'Seit dem ältesten aufbewahrten Ereignis gab es keines.',
  none: 'Noch kein Ereignis',
  noneText:
    'Fehlgeschlagene Übertragungen, beendete Aufträge, Server, die ausfallen und wiederkommen, und Dateien in überwachten Ordnern erscheinen hier. Webhooks erhalten sie. Programme können GET /api/events folgen.',
  number: 'Nummer',
  openOne: (sequence) => `Ereignis ${sequence} öffnen`,
  one: (sequence) => `Ereignis ${sequence}`,
  previousId: 'Vorige Kennung',
  isFirst: 'keine: Es ist das erste',
  signed: 'Wie signiert',
  bytes: 'Die genauen Bytes',
  bytesHint: (size) => `${size}, genau die Bytes, die Webhooks erhalten.`,
  lines: 'Formatiert',
  inLines: 'Das formatierte Ereignis',
  wasAway: (time) => `war ${time} lang ausgefallen`,
  noFile: (minutes) => `keine Datei seit ${minutes} Minuten`,
  says: {
    failed: 'ist fehlgeschlagen',
    down: 'ist ausgefallen',
    up: 'arbeitet wieder',
    changed: 'zeigt eine andere Identität',
    ended: 'ist beendet',
    'attention.raised': 'braucht Aufmerksamkeit',
    'attention.cleared': 'braucht keine Aufmerksamkeit mehr',
    'watched_folder.files_detected': 'hat neue oder geänderte Dateien',
    'watched_folder.files_deleted': 'hat Dateien verloren',
    late: 'bekam nicht rechtzeitig eine Datei',
    test: 'hat eine Testnachricht geschickt',
  },
};
