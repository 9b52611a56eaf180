import type { Texts } from '../catalogue.ts';

export const keys: Texts['keys'] = {
  title: 'API-Schlüssel',
  lead: 'Programme senden bei jeder Anfrage einen Schlüssel. Jeder lässt sich auf Verbindungen, Rechte und Adressen beschränken.',
  add: 'Schlüssel ausstellen',
  none: 'Noch kein Schlüssel',
  noneText:
    'Stellen Sie für jedes Programm einen eigenen aus, damit sich eines sperren lässt, ohne die anderen zu treffen. Ein Schlüssel wird nur einmal gezeigt: wenn er ausgestellt wird.',
  fromFile: 'aus der Konfigurationsdatei',
  everyConnection: 'Jede Verbindung',
  from: (addresses) => `nur von ${addresses}`,
  lastUsed: 'Zuletzt benutzt',
  never: 'nie',
  states: { active: 'Aktiv', expired: 'Abgelaufen', revoked: 'Gesperrt' },
  rotate: 'Austauschen …',
  revoke: 'Sperren …',
  changed: 'Schlüssel geändert',
  revoking: {
    title: (name) => `${name} sperren?`,
    verb: 'Schlüssel sperren',
    done: (name) => `${name} ist gesperrt`,
    text: 'Anfragen mit ihm werden binnen einer Sekunde abgewiesen. Das lässt sich nicht rückgängig machen.',
    fromFile: 'Er steht in der Konfigurationsdatei: Wird er dort nicht entfernt, bringt ihn der nächste Start zurück.',
  },
  issued: {
    warning: 'Kopieren Sie ihn jetzt: Er wird nicht noch einmal gezeigt.',
    text: 'Das Gateway speichert nur eine Prüfsumme. Ein verlorener Schlüssel lässt sich nur ersetzen.',
    key: 'Schlüssel',
    tryIt: 'Ausprobieren',
    curl: 'Zeile für curl',
    kept: 'Ich habe ihn gespeichert',
  },
  rotating: {
    title: (name) => `${name} austauschen`,
    verb: 'Neuen Schlüssel ausstellen',
    text: 'Ein neuer Schlüssel mit denselben Rechten wird ausgestellt. Setzen Sie ihn ein, bevor der jetzige endet.',
    ends: 'Der jetzige Schlüssel läuft ab',
    overlaps: {
      now: 'Sofort',
      hour: 'In einer Stunde',
      day: 'In einem Tag',
      week: 'In einer Woche',
      month: 'In 30 Tagen',
    },
  },
  form: {
    verb: 'Schlüssel jetzt ausstellen',
    every: 'Jede Verbindung, auch neue',
    some: 'Ausgewählte Verbindungen',
    chooseSome: 'Wählen Sie mindestens eine.',
    adminHint: 'Ein Schlüssel mit dem Recht admin darf jede Verbindung benutzen: Er darf alle bearbeiten.',
  },
};
