/** The German texts of ../advice.ts: a code without its text does not compile. */
import type { AdviceTexts } from '../advice.js';

export const advice: AdviceTexts = {
  dns_failed:
    'Prüfen Sie die Schreibweise des Hostnamens. Wenn es ein Name Ihres eigenen Netzes ist, muss das Gateway einen Nameserver verwenden, der ihn kennt.',
  address_denied:
    'Die Netzregeln dieses Gateways verbieten die Adresse; sein Betreiber kann sie ändern (network.connections).',
  unreachable:
    'Prüfen Sie Host und Port, ob der Server läuft, und ob seine Firewall die ausgehende Adresse dieses Gateways durchlässt.',
  no_data_connection:
    'Die Steuerverbindung kommt zustande, aber keine Datenverbindung: Lassen Sie die passiven Ports des Servers in seiner Firewall öffnen.',
  connect_timeout:
    'Nichts hat geantwortet. Meist verwirft eine Firewall die Pakete: Lassen Sie die ausgehende Adresse dieses Gateways zu, und prüfen Sie den Port.',
  host_key_mismatch:
    'Der Server zeigt einen anderen Schlüssel als den hinterlegten. Fragen Sie seinen Betreiber, ob er geändert wurde; wenn ja, nehmen Sie den neuen unter „Host-Schlüssel“ an. Wenn nicht, fängt vielleicht jemand die Verbindung ab.',
  certificate_rejected:
    'Das Zertifikat ist nicht vertrauenswürdig, abgelaufen oder auf einen anderen Namen ausgestellt. Verwenden Sie einen Namen aus dem Zertifikat, oder geben Sie die Stelle an, die es ausgestellt hat (tlsCa).',
  login_refused:
    'Prüfen Sie Benutzername und Passwort oder Schlüssel, und ob der Server diesen Benutzer von dieser Adresse und auf diese Weise anmeldet.',
  no_identity:
    'Das Gateway hat keine Schlüssel, um seine Anfragen zu signieren. Berichtigen Sie, was der Fehler nennt: eine Variable, eine Datei, den Metadatendienst oder die Rolle und ihre Vertrauensrichtlinie.',
  too_many_sessions:
    'Der Server lässt im Moment keine weitere Anmeldung zu. Senken Sie maxSessions dieser Verbindung, oder lassen Sie die Grenze auf dem Server anheben.',
  protocol_error:
    'Die Antwort gehört nicht zu diesem Protokoll. Prüfen Sie den Port und die Art der Verbindung; ein alter SSH-Server braucht vielleicht die Algorithmen „legacy“.',
  wrong_bucket: 'Prüfen Sie den Namen des Buckets, die Region und das Präfix.',
  not_found: 'Den Standardpfad gibt es nicht. Berichtigen Sie ihn, oder lassen Sie den Ordner auf dem Server anlegen.',
  not_a_folder: 'Der Standardpfad ist eine Datei. Geben Sie den Ordner an, in dem sie liegt.',
  permission_denied:
    'Der Benutzer darf das dort nicht. Lassen Sie die Rechte auf dem Server ändern, oder wählen Sie einen anderen Standardpfad.',
  no_rename: 'Der Server lehnt das Umbenennen ab. Schalten Sie atomicUploads für diese Verbindung aus.',
  no_space: 'Die Platte des Servers ist voll, oder das Kontingent des Benutzers ist aufgebraucht.',
  stall_timeout:
    'Der Server antwortet nicht mehr. Versuchen Sie es erneut; wenn es so bleibt, fragen Sie seinen Betreiber (FTP: ob seine passiven Ports offen sind).',
  command_timeout: 'Der Server antwortet zu langsam für einen Test.',
  connection_lost:
    'Der Server hat die Verbindung beendet. Versuchen Sie es erneut; sein Protokoll nennt vielleicht den Grund.',
  other: 'Sehen Sie sich die Worte des Servers oben an und sein Protokoll.',
};
