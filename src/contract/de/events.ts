/** The German descriptions of event types: a type without its text does not compile. */
import type { SubscribedType } from '../event.js';

export const events: Readonly<Record<SubscribedType, string>> = {
  'transfer.failed': 'Eine Übertragung ist fehlgeschlagen.',
  'transfer.succeeded': 'Eine Übertragung ist gelungen.',
  'link.used': 'Über einen Link kam oder ging eine Datei.',
  'connection.down': 'Ein Server ist nicht erreichbar oder lehnt die Anmeldung ab.',
  'connection.up': 'Ein Server arbeitet wieder.',
  'connection.changed':
    'Ein Server zeigt ein anderes Banner, andere Algorithmen oder Erweiterungen oder einen anderen Hostschlüssel.',
  'attention.raised': 'Etwas braucht Aufmerksamkeit.',
  'attention.cleared': 'Es braucht keine Aufmerksamkeit mehr.',
  'job.finished': 'Ein Auftrag ist beendet, mit oder ohne Fehler.',
  'watched_folder.files_detected': 'Dateien kamen in einen überwachten Ordner oder änderten sich dort.',
  'watched_folder.files_deleted': 'Dateien eines überwachten Ordners sind nicht mehr da.',
  'watched_folder.late': 'Länger als erwartet kam keine Datei in einen überwachten Ordner.',
};
