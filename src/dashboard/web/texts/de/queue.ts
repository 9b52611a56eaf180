import { formatNumber } from '../../format.ts';
import type { Texts } from '../catalogue.ts';
import { plural } from '../plural.ts';

const files = (n: number): string => plural(n, { one: '1 Datei', other: `${formatNumber(n)} Dateien` });
const also = (skipped: number): string => (skipped === 0 ? '' : `, ${formatNumber(skipped)} übersprungen`);
const at = (connection: string, folder: string): string => `${connection}:${folder}`;

export const queue: Texts['queue'] = {
  sameFolder: 'Der Ordner, in dem es schon liegt. Wählen Sie einen anderen.',
  label: 'Warteschlange',
  list: 'Was in der Warteschlange steht',
  progress: 'Fortschritt der Warteschlange',
  said: {
    atWork: 'Die Warteschlange ist gestartet',
    conflicts: 'Die Warteschlange braucht eine Entscheidung',
    failed: 'In der Warteschlange ist etwas fehlgeschlagen',
    cancelled: 'Die Warteschlange ist zu Ende, ein Teil wurde abgebrochen',
    finished: 'Die Warteschlange ist fertig',
  },
  toGo: (active, all) => `Noch ${formatNumber(active)} von ${formatNumber(all)}`,
  toDecide: (n) =>
    plural(n, { one: 'Eine Datei existiert schon', other: `${formatNumber(n)} Dateien existieren schon` }),
  failed: (n) => `${formatNumber(n)} fehlgeschlagen`,
  allDone: 'Alles erledigt',
  outcome: {
    upload: (n) => `${n} hochgeladen`,
    copy: (n) => `${n} kopiert`,
    move: (n) => `${n} verschoben`,
    delete: (n) => `${n} gelöscht`,
    skipped: (n) => `${n} übersprungen`,
    cancelled: (n) => `${n} abgebrochen`,
  },
  finding: 'Dateien werden gesucht …',
  unreadable: (path) =>
    `„${path}“ auf diesem Rechner war nicht lesbar, deshalb wird nicht alles hochgeladen. Prüfen Sie, ob es vorhanden ist und Sie es öffnen dürfen, und legen Sie alles noch einmal ab.`,
  retryFailed: (n) => plural(n, { one: 'Erneut versuchen', other: `Alle ${formatNumber(n)} erneut versuchen` }),
  cancelAll: 'Alles abbrechen',
  clearDone: 'Erledigte entfernen',
  clearFailed: 'Leeren',
  conflicts: 'Schon vorhandene Dateien',
  taken: (n) =>
    plural(n, {
      one: 'Eine Datei mit diesem Namen existiert schon. Was möchten Sie tun?',
      other: 'Was möchten Sie mit ihnen tun? Die Antwort gilt auch für den Rest dieses Vorgangs.',
    }),
  replace: 'Ersetzen',
  replaceAll: 'Alle ersetzen',
  skip: 'Überspringen',
  skipAll: 'Alle überspringen',
  keepBoth: 'Beide behalten',
  exists: (folder) => `In ${folder} schon vorhanden`,
  tryAgain: (name) => `${name} erneut versuchen`,
  dismiss: (name) => `${name} aus der Warteschlange entfernen`,
  showJob: 'Auftrag zeigen',
  waiting: {
    upload: (connection, folder) => `Wartet, nach ${at(connection, folder)}`,
    copy: (connection, folder) => `Wartet auf die Kopie nach ${at(connection, folder)}`,
    move: (connection, folder) => `Wartet auf das Verschieben nach ${at(connection, folder)}`,
    delete: (connection, folder) => `Wartet auf das Löschen aus ${at(connection, folder)}`,
  },
  running: {
    upload: (connection, folder) => `Wird nach ${at(connection, folder)} hochgeladen`,
    copy: (connection, folder) => `Wird nach ${at(connection, folder)} kopiert`,
    move: (connection, folder) => `Wird nach ${at(connection, folder)} verschoben`,
    delete: (connection, folder) => `Wird aus ${at(connection, folder)} gelöscht`,
  },
  done: {
    upload: (connection, folder) => `Nach ${at(connection, folder)} hochgeladen`,
    copy: (connection, folder) => `Nach ${at(connection, folder)} kopiert`,
    move: (connection, folder) => `Nach ${at(connection, folder)} verschoben`,
    delete: (connection, folder) => `Aus ${at(connection, folder)} gelöscht`,
  },
  sent: (size, connection, folder) => `${size} nach ${at(connection, folder)}`,
  finishing: 'Wird abgeschlossen …',
  skipped: 'Übersprungen: Die vorhandene Datei bleibt',
  jobRunning: (ended, found, isListed) =>
    `${formatNumber(ended)} von ${files(found)}${isListed ? '' : ', es wird noch aufgelistet'}`,
  jobCancelled: (ended, found, isListed) =>
    `Abgebrochen nach ${formatNumber(ended)} von ${files(found)}${isListed ? '' : ', bevor alle aufgelistet waren'}`,
  jobDone: {
    upload: (n, skipped) => `${files(n)} hochgeladen${also(skipped)}`,
    copy: (n, skipped) => `${files(n)} kopiert${also(skipped)}`,
    move: (n, skipped) => `${files(n)} verschoben${also(skipped)}`,
    delete: (n, skipped) => `${files(n)} gelöscht${also(skipped)}`,
  },
  jobFailed: (n) =>
    n === 0 ? 'Nicht alles wurde erledigt.' : `${files(n)} fehlgeschlagen; die anderen sind erledigt.`,
  interrupted: 'Unterbrochene Uploads',
  interruptedState: (size, connection, folder) => `${size} nach ${at(connection, folder)}, unterbrochen.`,
  chooseAgain: 'Wählen Sie die Datei noch einmal, dann geht es dort weiter, wo es stand.',
  chooseFile: 'Datei wählen …',
  chooseFileOf: (name) => `Die Datei ${name} noch einmal`,
  giveUp: 'Aufgeben',
  uploadFolder: 'Ordner hochladen',
  folderToUpload: 'Hochzuladender Ordner',
  makeFolder: 'Ordner anlegen',
  moveTitle: (name) => `${name} verschieben`,
  moveMany: (n) => `${formatNumber(n)} Einträge verschieben`,
  toFolder: 'In den Ordner',
  moveHint: 'Ein Ordner, der fehlt, wird angelegt. Ersetzt wird dort nur, was Sie freigeben.',
  deleteMany: (n) => `${formatNumber(n)} Einträge löschen?`,
  deleteForGood: 'Der Server behält keine Kopie. Das lässt sich nicht rückgängig machen.',
  deleteFolders: (n) =>
    plural(n, {
      one: 'Der Ordner wird mit allem gelöscht, was er enthält.',
      other: `Die ${formatNumber(n)} Ordner werden mit allem gelöscht, was sie enthalten.`,
    }),
  copy: 'Kopieren',
  copyTitle: (name) => `${name} kopieren`,
  copyMany: (n) => `${formatNumber(n)} Einträge kopieren`,
  toConnection: 'Auf die Verbindung',
  folderThere: 'Ordner dort',
  copyHint: 'Ein Ordner, der fehlt, wird angelegt. Eine Datei gleichen Namens wird nur ersetzt, wenn Sie es sagen.',
  inFolders: 'Dateien in Ordnern, die es dort schon gibt',
  inFoldersRules: {
    skip: 'Überspringen',
    rename: 'Beide behalten',
    newer: 'Ersetzen, wo die kopierte neuer ist',
    replace: 'Ersetzen',
  },
  zipTooMany: (most) =>
    `Ein Archiv fasst höchstens ${formatNumber(most)} Einträge. Wählen Sie weniger, oder den Ordner, der sie enthält.`,
  zipRawName: 'Ein Name, der kein UTF-8 ist, kommt nur allein in ein Archiv. Laden Sie ihn einzeln herunter.',
  anotherFile: (name) => `Das ist eine andere Datei als ${name}: Ihre Größe oder ihre Zeit weicht ab.`,
};
