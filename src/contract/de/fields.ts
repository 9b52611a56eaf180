/** The German texts of fields (../things.ts): a field without its texts does not compile. */
import type { ThingTexts } from '../things.js';

export const fields: ThingTexts = {
  alarms: {
    isOn: { label: 'E-Mails senden' },
    kinds: { label: 'Alarm senden, wenn' },
    language: { label: 'Sprache der E-Mails' },
    quiet: {
      label: 'Ruhezeit',
      hint: 'Alarme aus dieser Zeit werden an ihrem Ende gesendet.',
      parts: { from: { label: 'Von' }, to: { label: 'Bis' }, timeZone: { label: 'Zeitzone' } },
    },
    urgentBreaksQuiet: {
      label:
        'Dringende Alarme auch in der Ruhezeit senden: fehlschlagende Verbindungen und Ordner, angehaltene Zeitpläne, ein verbrauchter Monat',
    },
  },
  apiKey: {
    name: { label: 'Bezeichnung', hint: 'Das Programm, das ihn benutzen wird.' },
    scopes: {
      label: 'Rechte',
      choices: {
        read: 'Dateien auflisten, nachschlagen, lesen und herunterladen.',
        write: 'Dateien hochladen, schreiben, anhängen, verschieben, kopieren und löschen.',
        watch: 'Überwachte Ordner sehen und ändern.',
        exec: 'Befehle auf SFTP-Servern ausführen.',
        admin: 'Alles, was diese Oberfläche kann. Behandeln Sie ihn wie das Passwort.',
      },
    },
    connections: { label: 'Darf benutzen' },
    allowedIps: { label: 'Nur von diesen Adressen', hint: 'Eine je Zeile, mit oder ohne Maske. Leer: von überall.' },
    expiresAt: { label: 'Läuft ab', hint: 'Leer: nie.' },
  },
  brand: {
    name: { label: 'Name', hint: 'Alle, die einen Link haben, lesen ihn. Leer: die Seite sagt nichts über Sie.' },
    color: { label: 'Farbe', hint: 'Die Schaltflächen haben sie: # und sechs hexadezimale Ziffern. Leer: Blau.' },
    logo: { label: 'Logo', hint: 'PNG, JPEG oder WebP, höchstens 64 KiB.' },
  },
  connection: {
    id: {
      label: 'Kennung',
      hint: 'So nennen API-Anfragen die Verbindung. Aus der Bezeichnung gebildet und änderbar, danach bleibt sie für immer.',
    },
    name: { label: 'Bezeichnung', hint: 'Wird in der Oberfläche gezeigt.' },
    isActive: { label: 'Eingeschaltet' },
    keyPairId: { label: 'Erzeugtes Schlüsselpaar' },
    hostKeys: {
      label: 'Fingerabdrücke der Hostschlüssel',
      hint: 'Nur einem Server, der einen dieser Schlüssel zeigt, wird vertraut. Leer: dem ersten, den er zeigt.',
    },
    host: {
      label: 'Server',
      hint: 'Hostname oder IP-Adresse. Eine URL wie sftp://benutzer@host:22/ordner füllt die Felder.',
    },
    port: { label: 'Port-Nummer' },
    username: { label: 'Benutzername' },
    rootPath: { label: 'Stammordner', hint: 'Was darüber liegt, ist nicht erreichbar.' },
    defaultPath: {
      label: 'Ausgangsordner',
      hint: 'Hier beginnt eine Anfrage, die keinen Ordner nennt. Leer: im Ordner der Anmeldung.',
    },
    tls: {
      label: 'Verschlüsselung',
      hint: 'Wie die Steuerverbindung verschlüsselt wird.',
      choices: { explicit: 'Mit TLS (AUTH TLS)', implicit: 'TLS von Anfang an', none: 'Keine' },
    },
    acct: {
      label: 'Abrechnungskonto (ACCT)',
      hint: 'Nur für einen Server, der nach dem Passwort danach fragt.',
    },
    listing: {
      label: 'Format der Listen',
      hint: 'Wie der Server Ordner auflistet. Selbsttätig: mit MLSD, sonst so, wie die Zeilen aussehen.',
      choices: {
        auto: 'Selbsttätig',
        unix: 'Wie unter Unix (ls -l)',
        dos: 'Wie unter Windows und DOS (dir)',
        ibmi: 'IBM i (AS/400)',
        netware: 'Novell NetWare',
        vms: 'OpenVMS (DEC)',
        mvs: 'z/OS mit MVS',
        eplf: 'EPLF (Bernstein)',
      },
    },
    encoding: {
      label: 'Zeichencodierung der Namen',
      hint: 'Zum Beispiel windows-1251, shift_jis oder gbk, wenn Namen falsch aussehen.',
    },
    timeZone: {
      label: 'Zeitzone der Listen',
      hint: 'Zum Beispiel Europe/Berlin. Leer: Das Gateway lernt sie vom Server.',
    },
    tlsVerify: {
      label: 'Zertifikat des Servers prüfen',
      hint: 'Ohne diese Prüfung kann ein Angreifer im Netzwerk alles lesen.',
    },
    tlsCa: { label: 'Zertifikate Ihrer eigenen Stelle (PEM)', hint: 'Ihnen wird neben den üblichen vertraut.' },
    endpoint: { label: 'Endpunkt', hint: 'URL des S3-Dienstes. Leer: AWS. Eine URL mit Bucket füllt beide Felder.' },
    region: { label: 'Region (AWS)' },
    bucket: { label: 'Bucket-Name', hint: 'Er muss vorhanden sein.' },
    prefix: { label: 'Präfix', hint: 'Steht vor jedem Schlüssel. Es ist der Stamm der Verbindung.' },
    accessKeyId: { label: 'ID des Zugangsschlüssels' },
    secretAccessKey: { label: 'Geheimer Zugangsschlüssel' },
    sessionToken: { label: 'Sitzungstoken', hint: 'Für vorübergehende Zugangsdaten.' },
    forcePathStyle: { label: 'Bucket im Pfad', hint: 'Der Bucket steht im Pfad, nicht im Namen des Servers.' },
    uploader: {
      label: 'Art des Hochladens',
      hint: 'Für einen Speicher, der fortlaufende Teile nicht annimmt.',
      choices: { streamed: 'Teile, wie sie kommen', sdk: 'Wie AWS selbst: jeder Teil wird im Speicher gesammelt' },
    },
    storageClass: { label: 'Speicherklasse', hint: 'Neuer Objekte. Leer: die Klasse, die der Speicher wählt.' },
    acl: {
      label: 'Zugriffsliste (ACL)',
      hint: 'Neuer Objekte. Viele Buckets nehmen keine an.',
      choices: {
        none: 'Keine mitsenden',
        private: 'Nur der Besitzer',
        'public-read': 'Jeder darf lesen',
        'public-read-write': 'Jeder darf lesen und schreiben',
        'authenticated-read': 'Jedes AWS-Konto darf lesen',
        'aws-exec-read': 'Amazon EC2 darf lesen',
        'bucket-owner-read': 'Der Besitzer des Buckets darf lesen',
        'bucket-owner-full-control': 'Alle Rechte für den Besitzer des Buckets',
      },
    },
    credentials: {
      label: 'Anmeldedaten',
      choices: {
        static: 'Der Zugriffsschlüssel der Verbindung',
        environment: 'Der Zugriffsschlüssel in der Umgebung des Gateways',
        instance: 'Die Rolle seiner Maschine oder seines Containers',
        webIdentity: 'Eine Rolle durch Web-Identität',
      },
    },
    role: {
      label: 'Rolle',
      parts: {
        arn: { label: 'Rolle (ARN)', hint: 'Ihre Schlüssel signieren die Anfragen. Leer: der Zugriffsschlüssel.' },
        externalId: { label: 'Externe Kennung', hint: 'Wenn die Vertrauensrichtlinie der Rolle eine verlangt.' },
        sessionName: { label: 'Name der Sitzung', hint: 'In den Protokollen des Speichers zu sehen.' },
        endpoint: { label: 'URL von STS', hint: 'Leer: AWS in der Region, oder der Speicher selbst.' },
      },
    },
    encryption: {
      label: 'Verschlüsselung',
      parts: {
        type: {
          label: 'Verschlüsselung',
          hint: 'Wie der Speicher neue Objekte verschlüsselt.',
          choices: {
            none: 'Wie der Bucket es vorgibt',
            aes256: 'Mit Schlüsseln des Speichers (SSE-S3)',
            kms: 'Mit einem Schlüssel seiner Schlüsselverwaltung (SSE-KMS)',
            customer: 'Mit einem eigenen Schlüssel (SSE-C)',
          },
        },
        keyId: { label: 'Kennung des KMS-Schlüssels', hint: 'Nur für SSE-KMS.' },
        key: {
          label: 'Schlüssel der Objekte',
          hint: 'Nur für SSE-C: 32 Bytes in base64. Ohne ihn kann niemand die Objekte lesen.',
        },
      },
    },
    encryptionKey: { label: 'Schlüssel der Objekte' },
    requesterPays: {
      label: 'Anforderer zahlt',
      hint: 'Für Buckets, deren Besitzer die Kosten der Anfragen nicht trägt.',
    },
    checksums: {
      label: 'Prüfsummen',
      hint: 'Ein Bucket mit Object Lock verlangt sie.',
      choices: { auto: 'Wo der Bucket sie verlangt', always: 'Bei jeder Sendung', never: 'Nie' },
    },
    password: { label: 'Passwort' },
    privateKey: { label: 'Privater Schlüssel', hint: 'In der Form von PEM, OpenSSH oder PuTTY.' },
    passphrase: { label: 'Passphrase des Schlüssels' },
    proxy: {
      label: 'Proxy-Server',
      parts: {
        url: { label: 'Proxy-Server', hint: 'http://host:port oder socks5://host:port. Leer: kein Proxy.' },
        username: { label: 'Benutzername für den Proxy' },
        password: { label: 'Passwort für den Proxy' },
      },
    },
    proxyPassword: { label: 'Passwort für den Proxy' },
    bytesPerSecond: {
      label: 'Höchstens Bytes je Sekunde',
      hint: 'Für alle Übertragungen dieser Verbindung zusammen, in beiden Richtungen. Leer: keine Grenze.',
    },
    hours: {
      label: 'Zeiten',
      hint: 'Zum Beispiel Mo-Fr 20:00-06:00; Sa,Su 00:00-24:00 Europe/Berlin, mit englischen Tagen. Leer: immer.',
    },
    digests: {
      label: 'Prüfsummen und Belege',
      hint: 'Wann SHA-256 der übertragenen Dateien gebildet wird.',
      choices: { asked: 'Wo eine Anfrage es verlangt', always: 'Von jeder Datei' },
    },
    verify: {
      label: 'Prüfung des Gespeicherten',
      hint: 'Was verglichen wird, bevor eine Datei ihren Platz einnimmt.',
      choices: { size: 'Ihre Länge', readback: 'Alles, noch einmal gelesen' },
    },
    atomicUploads: {
      label: 'Unter verborgenem Namen hochladen, dann umbenennen',
      hint: 'Eine Datei erhält ihren Namen, sobald sie vollständig ist.',
    },
    via: {
      label: 'Sprunghost',
      hint: 'Die ID einer SFTP-Verbindung, über deren Server diese erreicht wird. Leer: keiner.',
    },
    algorithms: {
      label: 'Algorithmen',
      hint: 'Alte Server brauchen vielleicht SHA-1 oder CBC.',
      choices: { default: 'Die heutigen', legacy: 'Auch alte, für Server, die keine anderen haben' },
      parts: {
        kex: { label: 'Schlüsselaustausch', hint: 'Nur diese, in dieser Folge. Leer: die heutigen.' },
        ciphers: { label: 'Verschlüsselung', hint: 'Nur diese, in dieser Folge. Leer: die heutigen.' },
        macs: { label: 'MAC', hint: 'Nur diese, in dieser Folge. Leer: die heutigen.' },
        hostKeys: { label: 'Arten von Hostschlüsseln', hint: 'Nur diese, in dieser Folge. Leer: die heutigen.' },
      },
    },
    fileMode: {
      label: 'Rechte neuer Dateien',
      hint: 'Oktal, wie 0640. Der Besitzer muss lesen und schreiben dürfen. Leer: wie der Server entscheidet.',
    },
    folderMode: {
      label: 'Rechte neuer Ordner',
      hint: 'Oktal, wie 0750. Der Besitzer muss lesen, schreiben und hineingehen dürfen. Leer: wie der Server entscheidet.',
    },
    certificate: {
      label: 'Zertifikat des privaten Schlüssels',
      hint: 'Der Inhalt der Datei …-cert.pub, die eine Zertifizierungsstelle erstellt hat. Leer: keines.',
    },
    hostCa: {
      label: 'Zertifizierungsstellen der Hostschlüssel',
      hint: 'Die Zeile in der Datei ….pub einer Stelle, die Hostschlüssel zertifiziert. Leer: Hostschlüssel werden gemerkt.',
    },
    hostKeyRotation: {
      label: 'Angekündigte Hostschlüssel',
      hint: 'Was geschieht, wenn ein vertrauter Server neue Schlüssel ankündigt.',
      choices: { ask: 'Nachfragen', accept: 'Annehmen' },
    },
    pool: {
      label: 'Grenzen',
      parts: {
        maxSessions: { label: 'Höchstzahl der Sitzungen' },
        maxChannelsPerSession: {
          label: 'Höchstzahl der Kanäle je Sitzung',
          hint: 'SFTP-Kanäle, die sich eine SSH-Verbindung teilen.',
        },
        idleTimeoutMs: { label: 'Ungenutzte Sitzungen schließen nach (ms)' },
        maxWaiting: { label: 'Höchstzahl wartender Anfragen', hint: 'Weitere werden sofort abgewiesen.' },
        acquireTimeoutMs: { label: 'Längstes Warten auf eine Sitzung (ms)' },
        connectTimeoutMs: { label: 'Längste Anmeldung (ms)' },
        stallTimeoutMs: { label: 'Längste Zeit ohne ein Byte (ms)', hint: 'Danach schlägt die Übertragung fehl.' },
      },
    },
  },
  copy: {
    state: {
      label: 'Status',
      choices: { waiting: 'Wartet', done: 'Kopiert', skipped: 'Übersprungen', failed: 'Nicht kopiert' },
    },
  },
  delivery: {
    state: {
      label: 'Status',
      choices: { pending: 'Wartet', delivered: 'Zugestellt', dead: 'Unzustellbar', cancelled: 'Abgebrochen' },
    },
    nextAttemptAt: { label: 'Nächster Versuch' },
    afterAction: {
      label: 'Danach',
      choices: {
        pending: 'Die Dateien werden verschoben oder gelöscht',
        done: 'Die Dateien wurden verschoben oder gelöscht',
      },
    },
    deliveredAt: { label: 'Zugestellt' },
  },
  job: {
    type: {
      label: 'Aktion',
      choices: {
        copy: 'Kopieren',
        move: 'Verschieben',
        sync: 'Abgleichen',
        delete: 'Löschen',
        upload: 'Hochladen von einer URL',
      },
    },
    name: { label: 'Name', hint: 'Leer: die Aktion und der Ordner.' },
    source: {
      label: 'Von',
      parts: {
        connectionId: { label: 'Quellverbindung' },
        path: {
          label: 'Quellordner',
          hint: 'Mit Unterordnern. Auch der Pfad einer einzelnen Datei ist möglich.',
        },
        rawName: { label: 'Genauer Name (base64)', hint: 'Die Bytes des Namens, die kein UTF-8 sind.' },
      },
    },
    destination: {
      label: 'Nach',
      parts: {
        connectionId: { label: 'Zielverbindung' },
        path: { label: 'Zielordner', hint: 'Er wird angelegt, wenn er fehlt.' },
      },
    },
  },
  jobOptions: {
    include: {
      label: 'Nur Dateien wie',
      hint: 'Ein Muster je Zeile; mit / oder ** gilt es dem Pfad unter dem Ordner, sonst dem Namen.',
    },
    exclude: { label: 'Aber nicht wie', hint: 'Dateien und Ordner, die ausgelassen werden.' },
    maxDepth: { label: 'Höchste Tiefe', hint: '1: die Dateien des Ordners selbst.' },
    minSize: { label: 'Mindestgröße' },
    maxSize: { label: 'Höchstgröße' },
    minAgeSeconds: { label: 'Mindestalter', hint: 'Seit der letzten Änderung, wenn der Auftrag beginnt.' },
    maxAgeSeconds: { label: 'Höchstalter' },
    onConflict: {
      label: 'Wenn eine Datei existiert',
      choices: {
        replace: 'Ersetzen',
        skip: 'Überspringen',
        newer: 'Ersetzen, wenn die Quelle neuer ist',
        rename: 'Beide behalten: die neue umbenennen',
        fail: 'Einen Fehler melden',
      },
    },
    compare: {
      label: 'Eine Datei ist unverändert, wenn',
      choices: {
        'size-and-time': 'Größe und Zeit gleich sind',
        size: 'die Größe gleich ist',
        digest: 'der Inhalt gleich ist (liest beide Dateien)',
      },
    },
    deleteExtra: {
      label: 'Am Ziel löschen, was die Quelle nicht hat',
      hint: 'Nach allem anderen, und nur wenn alles aufgelistet und kopiert werden konnte.',
    },
    maxDeletes: { label: 'Höchstzahl der Löschungen', hint: 'Gäbe es mehr zu löschen, wird nichts gelöscht.' },
    allowEmptySource: {
      label: 'Auch löschen, wenn die Quelle leer ist',
      hint: 'Oder wenn sie seit dem letzten Lauf mehr als die Hälfte ihrer Dateien verloren hat.',
    },
    bytesPerSecond: { label: 'Höchsttempo je Sekunde', hint: 'Für alle Dateien zusammen. Leer: keine Grenze.' },
    dryRun: { label: 'Probelauf' },
    webhookUrl: { label: 'Webhook am Ende aufrufen', hint: 'Erhält ein signiertes job.finished. Leer: keiner.' },
  },
  keyPair: {
    name: { label: 'Name eines neuen Schlüsselpaars' },
  },
  link: {
    operation: {
      label: 'Wofür ist er?',
      choices: { upload: 'Andere senden mir Dateien', download: 'Andere holen eine Datei ab' },
    },
    connectionId: { label: 'Verbindung' },
    path: {
      label: 'Ordner für die Dateien',
      hint: 'Dateien kommen nur hier an. Die Absender sehen nichts von diesem Ordner.',
    },
    filename: { label: 'Dateiname', hint: 'Leer: Jede Datei behält ihren Namen.' },
    note: { label: 'Nachricht', hint: 'Alle, die den Link öffnen, lesen sie.' },
    overwrite: { label: 'Darf eine Datei ersetzen', hint: 'Sonst wird ein Name abgelehnt, den es schon gibt.' },
    folders: {
      label: 'Nimmt Ordner an',
      hint: 'Absender dürfen ganze Ordner senden, auch in solche, die es hier schon gibt.',
    },
    digest: { label: 'SHA-256', hint: 'Eine andere Datei als die mit dieser Prüfsumme wird abgelehnt.' },
    maxBytes: { label: 'Größte Datei', hint: 'Leer: so groß, wie das Gateway erlaubt.' },
    maxUses: { label: 'Anzahl der Nutzungen', hint: 'Leer: unbegrenzt.' },
    expiresAt: { label: 'Gültig' },
  },
  schedule: {
    name: { label: 'Name', hint: 'So heißen auch seine Aufträge. Leer: die Aktion und der Ordner.' },
    cron: { label: 'Cron', hint: 'Minute, Stunde, Tag des Monats, Monat, Wochentag.' },
    timeZone: { label: 'Zeitzone', hint: 'Zum Beispiel Europe/Berlin. Die Sommerzeit wird berücksichtigt.' },
    isActive: { label: 'Aktiv' },
  },
  watchedFolder: {
    connectionId: { label: 'Verbindung' },
    name: { label: 'Name', hint: 'Leer: der Name des Ordners.' },
    path: { label: 'Ordner', hint: 'Muss vorhanden sein.' },
    filePattern: { label: 'Nur Dateien wie', hint: 'Mit / oder ** auch in Unterordnern.' },
    scheduleMinutes: { label: 'Prüfen alle (Minuten)' },
    webhookUrl: {
      label: 'Webhook',
      hint: 'Erhält einen signierten POST mit den gefundenen Dateien. Leer: Sie stehen nur im Verlauf.',
    },
    detectModified: {
      label: 'Auch geänderte Dateien melden',
      hint: 'Eine Datei mit anderer Größe oder anderem Datum.',
    },
    detectDeleted: { label: 'Auch gelöschte Dateien melden', hint: 'Dateien, die da waren und fehlen.' },
    excludePattern: { label: 'Aber keine Dateien wie' },
    doneFile: {
      label: 'Auf eine Fertig-Datei warten',
      hint: 'Eine Datei zählt erst, wenn auch diese da ist. {filename} ist ihr Name, {name} der ohne Endung.',
    },
    initial: {
      label: 'Vorhandene Dateien',
      choices: { ignore: 'Ausgangsstand: nicht melden', report: 'Als neu melden' },
    },
    recursive: { label: 'Mit Unterordnern' },
    minAgeSeconds: {
      label: 'Mindestalter in Sekunden',
      hint: 'Jüngere Dateien warten auf eine spätere Prüfung.',
    },
    afterDelivery: {
      label: 'Nach der Zustellung',
      hint: 'Was mit der Datei geschieht.',
      choices: {
        keep: 'Datei lassen, wo sie ist',
        move: 'In einen anderen Ordner verschieben',
        delete: 'Löschen',
      },
    },
    moveTo: {
      label: 'Verschieben nach',
      hint: 'Unterhalb des überwachten Ordners, oder mit / ab der Wurzel.',
    },
    expectEveryMinutes: {
      label: 'Alarm nach Minuten ohne Datei',
      hint: 'Der Webhook erhält eine eigene Nachricht. Leer: kein Alarm.',
    },
    copyTo: {
      label: 'Jede Datei kopieren',
      parts: {
        connectionId: { label: 'Jede Datei kopieren nach', hint: 'Bevor der Webhook aufgerufen wird.' },
        path: { label: 'Zielordner', hint: 'Wird angelegt, wenn er fehlt.' },
        filename_template: { label: 'Name der Kopien', hint: 'Leer: der Name der Datei.' },
        onConflict: {
          label: 'Wenn eine Datei existiert',
          choices: {
            replace: 'Ersetzen',
            skip: 'Überspringen',
            newer: 'Ersetzen, wenn sie älter ist',
            rename: 'Beide behalten: die Kopie umbenennen',
            fail: 'Einen Fehler melden',
          },
        },
      },
    },
  },
  webhook: {
    url: {
      label: 'URL',
      hint: 'Erhält für jedes Ereignis einen signierten POST. Zugangsdaten darin werden versiegelt aufbewahrt und nicht wieder angezeigt.',
    },
    events: { label: 'Ereignisse' },
    operations: { label: 'Nur den Erfolg dieser Vorgänge', hint: 'Keine gewählt: alle.' },
    format: { label: 'Format', choices: { standard: 'Standard Webhooks', cloudevents: 'CloudEvents 1.0' } },
    connections: { label: 'Nur für diese Verbindungen', hint: 'Keine gewählt: alle, auch neue.' },
    isActive: { label: 'Aktiv' },
  },
};
