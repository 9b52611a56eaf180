import type { errors as English } from '../en/errors.ts';

export const errors: Record<keyof typeof English, readonly [meaning: string, remedy: string]> = {
  already_exists: [
    'Am Ziel steht schon eine Datei, und niemand hat das Ersetzen erlaubt.',
    'Wählen Sie einen anderen Namen, oder erlauben Sie das Überschreiben.',
  ],
  not_found: [
    'Die Datei oder der Ordner ist auf dem Server nicht vorhanden.',
    'Sehen Sie im Ordner nach: Vielleicht wurde sie verschoben, oder der Name ist anders geschrieben.',
  ],
  is_a_folder: [
    'Wo eine Datei stehen soll, steht ein Ordner.',
    'Wählen Sie einen anderen Namen, oder verschieben Sie den Ordner.',
  ],
  not_a_folder: [
    'Wo ein Ordner stehen soll, steht eine Datei.',
    'Wählen Sie einen anderen Ordner, oder verschieben Sie die Datei.',
  ],
  not_empty: [
    'Der Ordner enthält etwas und wurde deshalb nicht entfernt.',
    'Leeren Sie ihn zuerst, oder löschen Sie ihn mit allem, was darin ist.',
  ],
  permission_denied: [
    'Der Server erlaubt das an diesem Pfad nicht.',
    'Bitten Sie seinen Betreiber um das Recht, oder verwenden Sie eine Anmeldung, die es hat.',
  ],
  bad_path: [
    'Der Pfad oder der Name ist leer, zu lang oder führt über die Wurzel hinaus.',
    'Berichtigen Sie den Pfad in der Anfrage.',
  ],
  bad_request: ['Ein Feld der Anfrage fehlte oder war falsch.', 'Die Meldung nennt das Feld. Berichtigen Sie es.'],
  bad_range: ['Der verlangte Teil liegt außerhalb der Datei.', 'Fragen Sie zuerst nach der Größe der Datei.'],
  digest_mismatch: [
    'Angekommen ist nicht, was die Anfrage angekündigt hatte. Nichts wurde ersetzt.',
    'Senden Sie erneut. Wenn es öfter geschieht, prüfen Sie, was dazwischen liegt.',
  ],
  size_mismatch: [
    'Es kamen weniger oder mehr Bytes an, als gesendet wurden. Nichts wurde ersetzt.',
    'Versuchen Sie es erneut.',
  ],
  readback_mismatch: [
    'Was der Server gespeichert hat, ist beim Zurücklesen nicht das Gesendete.',
    'Versuchen Sie es erneut. Wenn es wieder geschieht, lassen Sie die Platte des Servers prüfen.',
  ],
  copy_unverified: [
    'Die Kopie wurde übergeben, ließ sich danach aber nicht ansehen. Das Original wurde behalten.',
    'Fragen Sie beim Empfänger nach der Kopie. Ist sie angekommen, löschen Sie das Original selbst; ein neuer Versuch liefert sie noch einmal.',
  ],
  unsupported_operation: [
    'Diese Art von Server kann das nicht.',
    'Verwenden Sie einen anderen Vorgang: S3 kann zum Beispiel nicht anhängen.',
  ],
  connection_inactive: ['Die Verbindung ist ausgeschaltet.', 'Schalten Sie sie unter „Verbindungen“ ein.'],
  address_denied: [
    'Die Netzregeln des Gateways erlauben diese Adresse nicht.',
    'Bitten Sie den Betreiber des Gateways, sie zu erlauben.',
  ],
  plan_required: [
    'Der Tarif des Kontos enthält das nicht.',
    'Wählen Sie einen anderen Tarif oder einen anderen Vorgang.',
  ],
  quota_exceeded: [
    'Die Aktionen dieses Monats sind verbraucht.',
    'Warten Sie auf den nächsten Monat, oder wählen Sie einen anderen Tarif.',
  ],
  share_exceeded: [
    'Das Konto nutzt seinen Anteil am Gateway schon aus.',
    'Senden Sie weniger Anfragen zugleich, oder versuchen Sie es später.',
  ],
  sessions_exhausted: [
    'Es braucht mehr Sitzungen einer Anmeldung zugleich, als Server oder Verbindung erlauben.',
    'Erhöhen Sie die Zahl der Sitzungen an der Verbindung, wenn der Server es zulässt.',
  ],
  too_large: [
    'Die Datei überschreitet eine Grenze.',
    'Senden Sie sie als fortsetzbaren Upload, oder bitten Sie den Betreiber um eine höhere Grenze.',
  ],
  source_suspicious: [
    'Die Quelle ist leer oder hat seit dem letzten Lauf mehr als die Hälfte ihrer Dateien verloren. Nichts wurde gelöscht.',
    'Prüfen Sie die Quelle. Wenn sie stimmt, starten Sie den Auftrag einmal mit „Auch löschen, wenn die Quelle leer ist“.',
  ],
  cancelled: ['Jemand hat abgebrochen.', 'Starten Sie es erneut, wenn es noch gewünscht ist.'],
  client_gone: [
    'Das anfragende Programm ging vor dem Ende weg.',
    'Prüfen Sie sein Zeitlimit, und senden Sie die Anfrage erneut.',
  ],
  internal: [
    'Das Gateway hat einen Fehler, oder es wurde währenddessen beendet.',
    'Versuchen Sie es erneut. Das Protokoll hat Einzelheiten unter der Anfrage-Id.',
  ],
  resume_unsupported: [
    'Der Server kann eine angefangene Datei nicht fortsetzen.',
    'Verwenden Sie einen gewöhnlichen Upload.',
  ],
  dns_failed: ['Der Name des Servers lässt sich nicht auflösen.', 'Prüfen Sie den Host der Verbindung.'],
  unreachable: [
    'Der Server lehnt die Verbindung ab, oder es führt kein Weg zu ihm.',
    'Prüfen Sie Host und Port, und ob eine Firewall im Weg ist. Testen Sie die Verbindung.',
  ],
  login_refused: [
    'Der Server lehnt Benutzer, Passwort oder Schlüssel ab.',
    'Berichtigen Sie die Anmeldung der Verbindung, und testen Sie sie.',
  ],
  host_key_mismatch: [
    'Der Server zeigt einen anderen Host-Key als den festgelegten.',
    'Klären Sie den Grund, und legen Sie den neuen Schlüssel an der Verbindung fest.',
  ],
  certificate_rejected: [
    'Dem Zertifikat des Servers wird nicht vertraut, es ist abgelaufen oder gilt für einen anderen Namen.',
    'Lassen Sie es erneuern, oder geben Sie der Verbindung ihre Zertifizierungsstelle.',
  ],
  connection_lost: [
    'Der Server hat die Verbindung getrennt. Von einem Upload ist nichts zu sehen.',
    'Versuchen Sie es erneut.',
  ],
  protocol_error: [
    'Der Server hat etwas geantwortet, das sein Protokoll nicht erlaubt.',
    'Testen Sie die Verbindung. Der Wortlaut hilft seinem Betreiber.',
  ],
  remote_failure: [
    'Der Server hat aus einem eigenen Grund abgelehnt.',
    'Seine Worte oben nennen ihn. Versuchen Sie es später, oder fragen Sie seinen Betreiber.',
  ],
  no_space: [
    'Der Server hat keinen Platz mehr, oder sein Kontingent ist verbraucht.',
    'Schaffen Sie dort Platz, und versuchen Sie es erneut.',
  ],
  fetch_failed: ['Die URL hat die Datei nicht geliefert.', 'Öffnen Sie die URL selbst. Vielleicht ist sie abgelaufen.'],
  too_many_sessions: [
    'Der Server lässt keine weitere Sitzung zu.',
    'Versuchen Sie es später, oder senken Sie die Zahl der Sitzungen an der Verbindung.',
  ],
  pool_full: [
    'Zu viele Anfragen warten auf eine Sitzung dieses Servers.',
    'Senden Sie weniger zugleich, oder erhöhen Sie die Zahl der Sitzungen an der Verbindung.',
  ],
  acquire_timeout: [
    'Keine Sitzung dieses Servers wurde rechtzeitig frei.',
    'Senden Sie weniger zugleich, oder erhöhen Sie die Zahl der Sitzungen an der Verbindung.',
  ],
  too_slow: [
    'Der Client war zu langsam, während andere auf den Server warteten.',
    'Versuchen Sie es über eine schnellere Leitung oder mit einem fortsetzbaren Upload.',
  ],
  overloaded: ['Das Gateway ist an seinen Grenzen.', 'Versuchen Sie es später.'],
  draining: ['Das Gateway wurde gerade beendet.', 'Versuchen Sie es erneut.'],
  database_away: [
    'Die Datenbank des Gateways war nicht erreichbar.',
    'Versuchen Sie es erneut. Dauert es an, sagen Sie es dem Betreiber des Gateways.',
  ],
  outcome_unrecorded: [
    'Auf dem Server ist es geschehen, aber das Gateway konnte es nicht festhalten: Seine Datenbank nahm nichts an.',
    'Sehen Sie auf dem Server nach, bevor Sie es wiederholen. Sagen Sie es dem Betreiber des Gateways.',
  ],
  connect_timeout: [
    'Der Server hat nicht rechtzeitig geantwortet.',
    'Prüfen Sie Host und Port, und ob eine Firewall im Weg ist. Testen Sie die Verbindung.',
  ],
  stall_timeout: [
    'Zu lange hat sich kein Byte bewegt.',
    'Versuchen Sie es erneut. Wenn es öfter geschieht, prüfen Sie Leitung und Server.',
  ],
  command_timeout: [
    'Der Server hat einen Befehl nicht rechtzeitig beantwortet.',
    'Versuchen Sie es erneut. Wenn es öfter geschieht, fragen Sie seinen Betreiber.',
  ],
};
