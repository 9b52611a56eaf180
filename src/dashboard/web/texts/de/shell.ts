import type { Texts } from '../catalogue.ts';
import { plural } from '../plural.ts';

export const shell: Texts['shell'] = {
  skip: 'Zum Inhalt',
  menu: 'Menü',
  main: 'Hauptmenü',
  ctrl: 'Strg',
  find: 'Suchen …',
  docs: 'API-Referenz',
  plan: (plan) => `Tarif ${plan}`,
  logOut: 'Abmelden',
  groups: { work: 'Arbeiten', setUp: 'Einrichten', lookAfter: 'Überwachen' },
  keyboard: {
    title: 'Tastatur',
    everywhere: 'Überall',
    search: 'Zum Suchfeld',
    help: 'Diese Hilfe',
    inFiles: 'In einer Liste von Dateien',
    files: [
      ['↑ ↓', 'Durch die Liste gehen'],
      ['a … z', 'Zu einem Namen nach seinen ersten Buchstaben'],
      ['Enter', 'Ordner öffnen, Vorschau einer Datei'],
      ['Backspace', 'Zum Ordner darüber'],
      ['Space', 'Auswählen'],
      ['F2', 'Umbenennen'],
      ['Shift F10', 'Menü öffnen'],
      ['Delete', 'Auswahl löschen'],
    ],
    off: 'Kürzel aus einzelnen Tasten lassen sich in den Einstellungen abschalten.',
  },
  bell: {
    title: 'Benachrichtigungen',
    label: (needs, finished) =>
      needs + finished === 0
        ? 'Benachrichtigungen: nichts Neues'
        : `Benachrichtigungen: ${needs} mit Handlungsbedarf, ${finished} fertig`,
    nothing: 'Zurzeit nichts.',
    finished: 'Fertig, seit Sie zuletzt hier waren',
    noneFinished: 'Noch nichts.',
    notify: 'Auch als Benachrichtigung im Browser',
    notifyHint: 'Nur solange die Seite im Hintergrund offen ist.',
    refused: 'Der Browser blockiert Benachrichtigungen. Erlauben Sie sie in seinen Einstellungen zu dieser Seite.',
    job: (name, state) => `${name}: ${state}`,
    queue: (done, cancelled, bad) =>
      `${plural(done, { one: '1 Datei', other: `${done} Dateien` })} fertig${cancelled === 0 ? '' : `, ${cancelled} abgebrochen`}${bad === 0 ? '' : `, ${bad} mit Handlungsbedarf`}`,
    types: { copy: 'Kopie', move: 'Verschieben', delete: 'Löschen', sync: 'Abgleich', upload: 'Hochladen' },
    states: {
      queued: 'wartet',
      running: 'läuft',
      paused: 'angehalten',
      succeeded: 'fertig',
      partly_failed: 'fertig, einige Dateien schlugen fehl',
      failed: 'fehlgeschlagen',
      cancelled: 'abgebrochen',
    },
  },
};
