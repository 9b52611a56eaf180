import type { Texts } from '../catalogue.ts';

export const terms: Texts['terms'] = {
  whatIs: (word) => `Was bedeutet „${word}“?`,
  connection: {
    word: 'Verbindung',
    text: 'Eine Anmeldung an einem SFTP-, FTP- oder S3-Server, unter einem Namen gespeichert. Programme nennen sie in ihren Anfragen und sehen ihr Passwort nie.',
  },
  connectionId: {
    word: 'Kennung einer Verbindung',
    text: 'Der kurze Name, den Programme in ihre Anfragen schreiben, etwa /api/list/lager. Er lässt sich später nicht ändern.',
  },
  hostKey: {
    word: 'Hostschlüssel',
    text: 'Damit weist sich ein SSH-Server aus. Das Gateway merkt ihn sich und meldet sich nicht an, wenn ein anderer gezeigt wird: Es könnte jemand dazwischenstehen.',
  },
  fingerprint: {
    word: 'Fingerabdruck',
    text: 'Die Kurzform eines Schlüssels. Vergleichen Sie ihn mit dem, den Ihnen der Betreiber des Servers nennt: Gleiche Fingerabdrücke bedeuten gleiche Schlüssel.',
  },
  pinned: {
    word: 'Festgelegt',
    text: 'Sie haben bestätigt, dass dieser Schlüssel der richtige ist. Nur an einem Server, der ihn zeigt, meldet sich das Gateway an.',
  },
  keyPair: {
    word: 'Schlüsselpaar',
    text: 'Ein privater Schlüssel, der im Gateway bleibt, und ein öffentlicher, den Sie dem Server geben. Ein Passwort ist damit nicht nötig.',
  },
  passphrase: {
    word: 'Passphrase',
    text: 'Manche privaten Schlüssel sind in ihrer Datei verschlüsselt. Die Passphrase öffnet sie.',
  },
  rootFolder: {
    word: 'Stammordner',
    text: 'Der oberste Ordner, den diese Verbindung zeigt. Was darüber liegt, ist mit ihr nicht erreichbar.',
  },
  atomicUpload: {
    word: 'Verborgener Name, dann umbenennen',
    text: 'Eine Datei kommt unter einem verborgenen Namen an und erhält ihren eigenen, sobald sie vollständig ist. So liest niemand eine halbe Datei.',
  },
  apiKey: {
    word: 'API-Schlüssel',
    text: 'Den zeigt ein Programm bei jeder Anfrage, wie ein Mensch sein Passwort. Stellen Sie für jedes Programm einen eigenen aus: Dann lässt sich einer sperren, ohne die anderen zu treffen.',
  },
  rights: {
    word: 'Rechte',
    text: 'Was ein Schlüssel darf: lesen, schreiben, Ordner überwachen, Befehle ausführen oder alles. Geben Sie jedem Programm nur, was es braucht.',
  },
  rotate: {
    word: 'Austauschen',
    text: 'Ein neuer Schlüssel tritt an die Stelle des jetzigen. Eine Zeit lang gelten beide, damit kein Programm stehen bleibt.',
  },
  secondFactor: {
    word: 'Zweiter Faktor',
    text: 'Ein Code aus einer App auf Ihrem Telefon, nach dem zusätzlich zum Passwort gefragt wird. Ein gestohlenes Passwort allein öffnet dann nichts.',
  },
  recoveryCodes: {
    word: 'Wiederherstellungscodes',
    text: 'Jeder ersetzt einmal einen Code der App, für den Tag, an dem das Telefon verloren geht.',
  },
  watchedFolder: {
    word: 'Überwachter Ordner',
    text: 'Das Gateway sieht immer wieder in einen Ordner auf einem Server und meldet einem Webhook jede Datei, die neu ist oder sich geändert hat.',
  },
  baseline: {
    word: 'Ausgangsstand',
    text: 'Die Liste dessen, was beim ersten Blick im Ordner lag. Gemeldet wird nur, was danach neu oder anders ist.',
  },
  settle: {
    word: 'Zur Ruhe gekommen',
    text: 'Eine Datei ist zur Ruhe gekommen, wenn Größe und Zeit zwischen zwei Blicken gleich bleiben. Bis dahin schreibt vielleicht noch jemand an ihr.',
  },
  webhook: {
    word: 'Webhook (Rückruf)',
    text: 'Eine Adresse von Ihnen, die das Gateway aufruft, wenn etwas geschieht. Jeder Aufruf ist signiert und wird wiederholt, bis er beantwortet ist.',
  },
  deadLetter: {
    word: 'Unzustellbare Nachricht',
    text: 'Eine Nachricht, die so oft wie erlaubt versucht und nie gut beantwortet wurde. Sie bleibt erhalten, und Sie können sie erneut senden.',
  },
  glob: {
    word: 'Muster',
    text: '* steht für beliebige Zeichen, ? für eines. *.csv passt auf jeden Namen, der auf .csv endet.',
  },
  digest: {
    word: 'Prüfsumme',
    text: 'Eine Zahl, die aus jedem Byte einer Datei errechnet wird (SHA-256). Zwei Dateien mit derselben Prüfsumme sind gleich.',
  },
  receipt: {
    word: 'Beleg',
    text: 'Eine signierte Aufzeichnung dessen, was wann wohin bewegt wurde. Belege bilden eine Kette: Ein geänderter oder entfernter fällt auf.',
  },
  requestId: {
    word: 'Anfrage-ID',
    text: 'Jede Antwort der API nennt eine, in X-Request-Id. Damit finden Sie die Anfrage im Verlauf und im Protokoll.',
  },
  cron: {
    word: 'Cron-Ausdruck',
    text: 'Fünf Felder für Minute, Stunde, Tag, Monat und Wochentag. 30 2 * * 1-5 heißt: werktags um halb drei Uhr nachts.',
  },
  dryRun: {
    word: 'Probelauf',
    text: 'Zeigt, was geschehen würde, und tut nichts.',
  },
  resumable: {
    word: 'Fortsetzbarer Upload',
    text: 'Ein Upload, der nach einem Abbruch dort weitergeht, wo er war, statt von vorn zu beginnen.',
  },
  session: {
    word: 'Sitzung',
    text: 'Eine offene Anmeldung an einem Server. Server erlauben nur eine bestimmte Zahl zugleich; das Gateway teilt sie unter den Anfragen auf.',
  },
  p95: {
    word: 'p95 (95. Perzentil)',
    text: '95 von 100 dauerten nicht länger als so lange. Das zeigt, wie langsame Fälle sind, was ein Mittelwert verbirgt.',
  },
  availability: {
    word: 'Verfügbarkeit',
    text: 'Der Anteil der Prüfungen, bei denen der Server in Ordnung war.',
  },
  outage: {
    word: 'Ausfall',
    text: 'Die Zeit von der ersten Prüfung, die fehlschlug, bis zur nächsten, die gelang.',
  },
  route: {
    word: 'Weiterleitung',
    text: 'Ein überwachter Ordner, der das Gefundene zusätzlich auf eine andere Verbindung kopiert.',
  },
  plan: {
    word: 'Tarif',
    text: 'Wie viele Verbindungen und Aktionen im Monat das Konto hat. Ihn legt der Betreiber des Gateways fest.',
  },
};
