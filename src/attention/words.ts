/** What needs a person, in words: English for the API, and the languages of the mails. */
import type { Language } from '../contract/alarm.js';
import type { AttentionItem } from './items.js';

export function wordsOf(item: AttentionItem, language: Language = 'en'): string {
  return WORDS[language](item);
}

const WORDS: Readonly<Record<Language, (item: AttentionItem) => string>> = { en: english, de: german };

function english(item: AttentionItem): string {
  switch (item.kind) {
    case 'connection_failing':
      return `Connection "${item.name}" fails: ${item.error ?? 'the reason is unknown'}`;
    case 'watched_folder_failing':
      return `Checks of the watched folder "${item.name}" fail: ${item.error ?? 'the reason is unknown'}`;
    case 'schedule_stopped':
      return `The schedule "${item.name}" has stopped: ${item.error ?? 'the reason is unknown'}`;
    case 'schedule_late':
      return `The schedule "${item.name}" was due at ${item.dueAt.toISOString()} and has not run`;
    case 'copies_failed':
      return `${item.count} ${item.count === 1 ? 'file' : 'files'} of watched folders could not be copied`;
    case 'dead_letters':
      return `${item.count} webhook ${item.count === 1 ? 'event' : 'events'} could not be delivered`;
    case 'quota':
      return `${item.used} of the ${item.limit} actions of this month are used`;
    case 'certificate_expiring':
      return `The certificate of connection "${item.name}" expires at ${item.expiresAt.toISOString()}`;
    case 'key_expiring':
      return `API key "${item.name}" expires at ${item.expiresAt.toISOString()}`;
    case 'host_keys_waiting':
      return item.count === 1
        ? `The server of connection "${item.name}" has announced a new host key, which needs a decision`
        : `The server of connection "${item.name}" has announced ${item.count} new host keys, which need a decision`;
  }
}

function german(item: AttentionItem): string {
  switch (item.kind) {
    case 'connection_failing':
      return `Die Verbindung „${item.name}“ schlägt fehl: ${item.error ?? 'der Grund ist nicht bekannt'}`;
    case 'watched_folder_failing':
      return `Prüfungen des überwachten Ordners „${item.name}“ schlagen fehl: ${item.error ?? 'der Grund ist nicht bekannt'}`;
    case 'schedule_stopped':
      return `Der Zeitplan „${item.name}“ ist angehalten: ${item.error ?? 'der Grund ist nicht bekannt'}`;
    case 'schedule_late':
      return `Der Zeitplan „${item.name}“ war um ${item.dueAt.toISOString()} fällig und ist nicht gelaufen`;
    case 'copies_failed':
      return item.count === 1
        ? '1 Datei aus überwachten Ordnern konnte nicht kopiert werden'
        : `${item.count} Dateien aus überwachten Ordnern konnten nicht kopiert werden`;
    case 'dead_letters':
      return item.count === 1
        ? '1 Webhook-Ereignis konnte nicht zugestellt werden'
        : `${item.count} Webhook-Ereignisse konnten nicht zugestellt werden`;
    case 'quota':
      return `${item.used} von ${item.limit} Aktionen dieses Monats sind verbraucht`;
    case 'certificate_expiring':
      return `Das Zertifikat der Verbindung „${item.name}“ läuft ab: ${item.expiresAt.toISOString()}`;
    case 'key_expiring':
      return `Der API-Schlüssel „${item.name}“ läuft ab: ${item.expiresAt.toISOString()}`;
    case 'host_keys_waiting':
      return item.count === 1
        ? `Der Server der Verbindung „${item.name}“ hat einen neuen Hostschlüssel angekündigt; er wartet auf Ihre Entscheidung`
        : `Der Server der Verbindung „${item.name}“ hat ${item.count} neue Hostschlüssel angekündigt; sie warten auf Ihre Entscheidung`;
  }
}
