/** The German texts of the catalogue (../errors.ts): a code without its text does not compile. */
import type { ErrorCode, ErrorTexts } from '../errors.js';

export const errors: Readonly<Record<ErrorCode, ErrorTexts>> = {
  bad_request: {
    meaning: 'Ein Feld der Anfrage fehlte oder war falsch.',
    remedy: 'Die Meldung nennt das Feld. Berichtigen Sie es.',
  },
  bad_path: {
    meaning: 'Der Pfad oder der Name ist leer, zu lang, enthält Steuerzeichen oder führt über die Wurzel hinaus.',
    remedy: 'Berichtigen Sie den Pfad in der Anfrage.',
  },
  bad_base64: {
    meaning: 'Der Inhalt ist kein Base64.',
    remedy: 'Kodieren Sie die Bytes neu.',
  },
  digest_mismatch: {
    meaning: 'Angekommen ist nicht, was die Anfrage angekündigt hatte. Nichts wurde ersetzt.',
    remedy: 'Senden Sie erneut. Wenn es öfter geschieht, prüfen Sie, was dazwischen liegt.',
  },
  invalid_part: {
    meaning: 'Ein mehrteiliger Upload hat diesen Teil nicht, oder eine andere Fassung davon als die Anfrage nennt.',
    remedy: 'Senden Sie den Teil noch einmal, und schließen Sie den Upload mit dem ETag der Antwort ab.',
  },
  invalid_part_order: {
    meaning: 'Die Teile eines mehrteiligen Uploads sind nicht in aufsteigender Reihenfolge genannt.',
    remedy: 'Nennen Sie jeden Teil einmal, in der Reihenfolge der Nummern.',
  },
  part_too_small: {
    meaning: 'Ein Teil eines mehrteiligen Uploads, der nicht der letzte ist, ist zu klein.',
    remedy: 'Senden Sie Teile von mindestens 5 MiB.',
  },
  unsupported_operation: {
    meaning: 'Diese Art von Server kann das nicht.',
    remedy: 'Verwenden Sie einen anderen Vorgang: S3 kann zum Beispiel nicht anhängen.',
  },
  unauthenticated: {
    meaning: 'Der API-Schlüssel fehlt, ist unbekannt, abgelaufen oder widerrufen.',
    remedy: 'Verwenden Sie einen gültigen Schlüssel.',
  },
  totp_required: {
    meaning: 'Das Passwort war richtig, aber der Einmalcode fehlt oder ist falsch.',
    remedy: 'Senden Sie die Anfrage mit dem Code erneut.',
  },
  forbidden: {
    meaning: 'Der API-Schlüssel gilt nicht für diese Verbindung oder diese Adresse.',
    remedy: 'Verwenden Sie eine Verbindung, für die er gilt, oder fragen Sie den Besitzer des Schlüssels.',
  },
  scope_missing: {
    meaning: 'Dem API-Schlüssel fehlt das Recht, das der Endpunkt verlangt.',
    remedy: 'Verwenden Sie einen Schlüssel mit dem Recht, das die Meldung nennt.',
  },
  csrf_rejected: {
    meaning: 'Der Anfrage fehlt das CSRF-Token ihrer Sitzung, oder sie kommt von einer anderen Website.',
    remedy: 'Senden Sie das Token aus GET /manage/session in X-CSRF-Token.',
  },
  plan_required: {
    meaning: 'Der Tarif des Kontos enthält das nicht.',
    remedy: 'Wählen Sie einen anderen Tarif oder einen anderen Vorgang.',
  },
  connection_inactive: {
    meaning: 'Die Verbindung ist ausgeschaltet.',
    remedy: 'Schalten Sie sie unter „Verbindungen“ ein.',
  },
  permission_denied: {
    meaning: 'Der Server erlaubt das an diesem Pfad nicht.',
    remedy: 'Bitten Sie seinen Betreiber um das Recht, oder verwenden Sie eine Anmeldung, die es hat.',
  },
  address_denied: {
    meaning: 'Die Netzregeln des Gateways erlauben diese Adresse nicht.',
    remedy: 'Bitten Sie den Betreiber des Gateways, sie zu erlauben.',
  },
  unknown_route: {
    meaning: 'Diesen Endpunkt gibt es nicht.',
    remedy: 'Prüfen Sie die Adresse. Einem Gateway, das älter ist als der Client, kann der Endpunkt fehlen.',
  },
  unknown_connection: {
    meaning: 'Das Konto hat keine Verbindung mit dieser Id.',
    remedy: 'Sehen Sie in der Liste der Verbindungen nach, und verwenden Sie eine Id daraus.',
  },
  unknown_watched_folder: {
    meaning: 'Das Konto hat keinen überwachten Ordner mit dieser Id.',
    remedy: 'Sehen Sie in der Liste der überwachten Ordner nach, und verwenden Sie eine Id daraus.',
  },
  unknown_item: {
    meaning:
      'Es gibt keine Sitzung, keinen API-Schlüssel, kein Schlüsselpaar, keine Übertragung, keinen Auftrag, keinen Webhook und keinen Link mit dieser Id.',
    remedy: 'Sehen Sie in der Liste nach, und verwenden Sie eine Id daraus.',
  },
  unknown_upload: {
    meaning:
      'Diesen fortsetzbaren Upload gibt es an der Verbindung nicht. Er ist abgelaufen oder gescheitert, oder seine Bytes wurden auf dem Server entfernt.',
    remedy: 'Beginnen Sie einen neuen.',
  },
  not_found: {
    meaning: 'Die Datei oder der Ordner ist auf dem Server nicht vorhanden.',
    remedy: 'Sehen Sie im Ordner nach: Vielleicht wurde sie verschoben, oder der Name ist anders geschrieben.',
  },
  method_not_allowed: {
    meaning: 'Den Endpunkt gibt es, aber nicht mit dieser Methode.',
    remedy: 'Allow nennt seine Methoden.',
  },
  already_exists: {
    meaning: 'Am Ziel steht schon eine Datei, und niemand hat das Ersetzen erlaubt.',
    remedy: 'Wählen Sie einen anderen Namen, oder erlauben Sie das Überschreiben.',
  },
  is_a_folder: {
    meaning: 'Wo eine Datei stehen soll, steht ein Ordner.',
    remedy: 'Wählen Sie einen anderen Namen, oder verschieben Sie den Ordner.',
  },
  not_a_folder: {
    meaning: 'Wo ein Ordner stehen soll, steht eine Datei.',
    remedy: 'Wählen Sie einen anderen Ordner, oder verschieben Sie die Datei.',
  },
  not_empty: {
    meaning: 'Der Ordner enthält etwas und wurde deshalb nicht entfernt.',
    remedy: 'Leeren Sie ihn zuerst, oder löschen Sie ihn mit allem, was darin ist.',
  },
  offset_mismatch: {
    meaning: 'Upload-Offset ist nicht die Zahl der Bytes, die das Gateway hat.',
    remedy: 'Fragen Sie mit HEAD nach dem Stand, und fahren Sie dort fort.',
  },
  idempotency_in_progress: {
    meaning: 'Eine Anfrage mit diesem Idempotency-Key läuft noch.',
    remedy: 'Senden Sie sie nach Retry-After erneut: Sie erhalten ihre Antwort.',
  },
  outcome_unknown: {
    meaning:
      'Die erste Anfrage mit diesem Idempotency-Key hatte begonnen, als ihr Gateway oder ihre Sitzung verloren ging. Ob sie ausgeführt wurde, ist nicht bekannt.',
    remedy: 'Sie läuft nie wieder. Sehen Sie auf dem Server nach, und verwenden Sie dann einen neuen Schlüssel.',
  },
  sessions_exhausted: {
    meaning: 'Es braucht mehr Sitzungen einer Anmeldung zugleich, als Server oder Verbindung erlauben.',
    remedy: 'Erhöhen Sie die Zahl der Sitzungen an der Verbindung, wenn der Server es zulässt.',
  },
  in_use: {
    meaning: 'Anderes hängt davon ab, oder es ist schon eingeschaltet. Die Meldung nennt es.',
    remedy: 'Entfernen Sie das zuerst, oder bestätigen Sie.',
  },
  from_configuration: {
    meaning: 'Es gehört der Konfigurationsdatei, und der nächste Start würde es wiederherstellen.',
    remedy: 'Ändern Sie es in der Konfigurationsdatei.',
  },
  not_running: {
    meaning: 'Es ist beendet, widerrufen oder ausgeschaltet.',
    remedy: 'Sehen Sie nach seinem Zustand: Es gibt nichts zu beenden oder zu ändern.',
  },
  not_repeatable: {
    meaning: 'Der Verlauf kann diese Übertragung nicht wiederholen. Die Meldung sagt, warum.',
    remedy:
      'Senden Sie die Anfrage selbst noch einmal, mit ihrer Datei. Eine Datei eines Auftrags wiederholt der Auftrag.',
  },
  source_suspicious: {
    meaning:
      'Die Quelle ist leer oder hat seit dem letzten Lauf mehr als die Hälfte ihrer Dateien verloren. Nichts wurde gelöscht.',
    remedy:
      'Prüfen Sie die Quelle. Wenn sie stimmt, starten Sie den Auftrag einmal mit „Auch löschen, wenn die Quelle leer ist“.',
  },
  cancelled: {
    meaning: 'Jemand hat abgebrochen.',
    remedy: 'Starten Sie es erneut, wenn es noch gewünscht ist.',
  },
  gone: {
    meaning: 'Es wird nicht mehr aufbewahrt, oder es ist ein Link, der nicht mehr gilt.',
    remedy: 'Beginnen Sie dort, wo die Meldung es sagt, oder bitten Sie um einen neuen Link.',
  },
  unsupported_version: {
    meaning: 'Tus-Resumable fehlt oder nennt eine Version, die nicht in Tus-Version steht.',
    remedy: 'Senden Sie Tus-Resumable: 1.0.0.',
  },
  too_large: {
    meaning: 'Die Datei überschreitet eine Grenze.',
    remedy: 'Senden Sie sie als fortsetzbaren Upload, oder bitten Sie den Betreiber um eine höhere Grenze.',
  },
  unsupported_media_type: {
    meaning: 'Der Endpunkt nimmt diesen Content-Type nicht, oder der Inhalt hat ein Content-Encoding.',
    remedy: 'Senden Sie einen Typ, den der Endpunkt nimmt, und ohne Content-Encoding.',
  },
  bad_range: {
    meaning: 'Der verlangte Teil liegt außerhalb der Datei.',
    remedy: 'Fragen Sie zuerst nach der Größe der Datei.',
  },
  idempotency_mismatch: {
    meaning: 'Dieser Idempotency-Key wurde für eine andere Anfrage verwendet.',
    remedy: 'Verwenden Sie einen neuen. Ein neuer Versuch muss denselben Pfad und Inhalt senden wie der erste.',
  },
  upload_locked: {
    meaning: 'Eine andere Anfrage schreibt an diesem Upload.',
    remedy: 'Versuchen Sie es nach Retry-After erneut.',
  },
  rate_limited: {
    meaning:
      'Zu viele Anfragen in der Sekunde mit diesem API-Schlüssel, oder eine andere Grenze, die die Meldung nennt.',
    remedy: 'Warten Sie Retry-After ab, und senden Sie weniger Anfragen zugleich.',
  },
  quota_exceeded: {
    meaning: 'Die Aktionen dieses Monats sind verbraucht.',
    remedy: 'Warten Sie auf den nächsten Monat, oder wählen Sie einen anderen Tarif.',
  },
  share_exceeded: {
    meaning: 'Das Konto nutzt seinen Anteil am Gateway schon aus.',
    remedy: 'Senden Sie weniger Anfragen zugleich, oder versuchen Sie es später.',
  },
  checksum_mismatch: {
    meaning: 'Der Inhalt entspricht nicht seiner Upload-Checksum. Nichts davon wurde behalten.',
    remedy: 'Senden Sie ihn erneut.',
  },
  client_gone: {
    meaning: 'Das anfragende Programm ging vor dem Ende weg.',
    remedy: 'Prüfen Sie sein Zeitlimit, und senden Sie die Anfrage erneut.',
  },
  internal: {
    meaning: 'Das Gateway hat einen Fehler, oder es wurde währenddessen beendet.',
    remedy: 'Versuchen Sie es erneut. Das Protokoll hat Einzelheiten unter der Anfrage-Id.',
  },
  resume_unsupported: {
    meaning: 'Der Server kann eine angefangene Datei nicht fortsetzen.',
    remedy: 'Verwenden Sie einen gewöhnlichen Upload.',
  },
  dns_failed: {
    meaning: 'Der Name des Servers lässt sich nicht auflösen.',
    remedy: 'Prüfen Sie den Host der Verbindung.',
  },
  unreachable: {
    meaning: 'Der Server lehnt die Verbindung ab, oder es führt kein Weg zu ihm.',
    remedy: 'Prüfen Sie Host und Port, und ob eine Firewall im Weg ist. Testen Sie die Verbindung.',
  },
  login_refused: {
    meaning: 'Der Server lehnt Benutzer, Passwort oder Schlüssel ab.',
    remedy: 'Berichtigen Sie die Anmeldung der Verbindung, und testen Sie sie.',
  },
  host_key_mismatch: {
    meaning: 'Der Server zeigt einen anderen Host-Key als den festgelegten.',
    remedy: 'Klären Sie den Grund, und legen Sie den neuen Schlüssel an der Verbindung fest.',
  },
  certificate_rejected: {
    meaning: 'Dem Zertifikat des Servers wird nicht vertraut, es ist abgelaufen oder gilt für einen anderen Namen.',
    remedy: 'Lassen Sie es erneuern, oder geben Sie der Verbindung ihre Zertifizierungsstelle.',
  },
  connection_lost: {
    meaning: 'Der Server hat die Verbindung getrennt. Von einem Upload ist nichts zu sehen.',
    remedy: 'Versuchen Sie es erneut.',
  },
  protocol_error: {
    meaning: 'Der Server hat etwas geantwortet, das sein Protokoll nicht erlaubt.',
    remedy: 'Testen Sie die Verbindung. Der Wortlaut hilft seinem Betreiber.',
  },
  remote_failure: {
    meaning: 'Der Server hat aus einem eigenen Grund abgelehnt.',
    remedy: 'Seine Worte oben nennen ihn. Versuchen Sie es später, oder fragen Sie seinen Betreiber.',
  },
  no_space: {
    meaning: 'Der Server hat keinen Platz mehr, oder sein Kontingent ist verbraucht.',
    remedy: 'Schaffen Sie dort Platz, und versuchen Sie es erneut.',
  },
  size_mismatch: {
    meaning: 'Es kamen weniger oder mehr Bytes an, als gesendet wurden. Nichts wurde ersetzt.',
    remedy: 'Versuchen Sie es erneut.',
  },
  readback_mismatch: {
    meaning: 'Was der Server gespeichert hat, ist beim Zurücklesen nicht das Gesendete.',
    remedy: 'Versuchen Sie es erneut. Wenn es wieder geschieht, lassen Sie die Platte des Servers prüfen.',
  },
  copy_unverified: {
    meaning: 'Die Kopie wurde übergeben, ließ sich danach aber nicht ansehen. Das Original wurde behalten.',
    remedy:
      'Fragen Sie beim Empfänger nach der Kopie. Ist sie angekommen, löschen Sie das Original selbst; ein neuer Versuch liefert sie noch einmal.',
  },
  fetch_failed: {
    meaning: 'Die URL hat die Datei nicht geliefert.',
    remedy: 'Öffnen Sie die URL selbst. Vielleicht ist sie abgelaufen.',
  },
  too_many_sessions: {
    meaning: 'Der Server lässt keine weitere Sitzung zu.',
    remedy: 'Versuchen Sie es später, oder senken Sie die Zahl der Sitzungen an der Verbindung.',
  },
  pool_full: {
    meaning: 'Zu viele Anfragen warten auf eine Sitzung dieses Servers.',
    remedy: 'Senden Sie weniger zugleich, oder erhöhen Sie die Zahl der Sitzungen an der Verbindung.',
  },
  acquire_timeout: {
    meaning: 'Keine Sitzung dieses Servers wurde rechtzeitig frei.',
    remedy: 'Senden Sie weniger zugleich, oder erhöhen Sie die Zahl der Sitzungen an der Verbindung.',
  },
  too_slow: {
    meaning: 'Der Client war zu langsam, während andere auf den Server warteten.',
    remedy: 'Versuchen Sie es über eine schnellere Leitung oder mit einem fortsetzbaren Upload.',
  },
  outside_hours: {
    meaning: 'Die Verbindung hat Zeiten, und jetzt ist keine davon. Nichts wurde begonnen.',
    remedy: 'Versuchen Sie es, wenn ihre Zeit beginnt, oder legen Sie einen Auftrag an: Er wartet darauf.',
  },
  overloaded: {
    meaning: 'Das Gateway ist an seinen Grenzen.',
    remedy: 'Versuchen Sie es später.',
  },
  draining: {
    meaning: 'Das Gateway wird gerade beendet.',
    remedy: 'Versuchen Sie es erneut.',
  },
  database_away: {
    meaning: 'Die Datenbank des Gateways war nicht erreichbar.',
    remedy: 'Versuchen Sie es erneut. Dauert es an, sagen Sie es dem Betreiber des Gateways.',
  },
  outcome_unrecorded: {
    meaning:
      'Auf dem Server ist es geschehen, aber das Gateway konnte es nicht festhalten: Seine Datenbank nahm nichts an.',
    remedy: 'Sehen Sie auf dem Server nach, bevor Sie es wiederholen. Sagen Sie es dem Betreiber des Gateways.',
  },
  connect_timeout: {
    meaning: 'Der Server hat nicht rechtzeitig geantwortet.',
    remedy: 'Prüfen Sie Host und Port, und ob eine Firewall im Weg ist. Testen Sie die Verbindung.',
  },
  stall_timeout: {
    meaning: 'Zu lange hat sich kein Byte bewegt.',
    remedy: 'Versuchen Sie es erneut. Wenn es öfter geschieht, prüfen Sie Leitung und Server.',
  },
  command_timeout: {
    meaning: 'Der Server hat einen Befehl nicht rechtzeitig beantwortet.',
    remedy: 'Versuchen Sie es erneut. Wenn es öfter geschieht, fragen Sie seinen Betreiber.',
  },
};
