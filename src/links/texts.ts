/** The texts of the pages of links. The other languages must have the same ones as English. */
import type { ErrorCode } from '../base/errors.js';
import { type Language, LANGUAGES } from '../contract/languages.js';

const en = {
  upload: {
    title: 'Send files',
    titleOfOne: 'Send a file',
    asks: '{name} asks you for files',
    asksForOne: '{name} asks you for a file',
    lead: 'The files go straight to the person who gave you this link.',
    storedAs: 'The file will be stored as {name}.',
    drop: 'Drop files here, or',
    choose: 'Choose files',
    dropFolders: 'Drop files or folders here, or',
    chooseFolder: 'Choose a folder',
    dropOne: 'Drop a file here, or',
    chooseOne: 'Choose a file',
    noScript: 'This page needs JavaScript. Without it, send a file from a terminal:',
  },
  download: { title: 'Download a file', shares: '{name} shares a file with you', button: 'Download', size: 'Size' },
  facts: {
    expires: 'Open until',
    most: 'Largest file',
    usesLeft: 'Files left',
    downloadsLeft: 'Downloads left',
  },
  states: {
    waiting: 'Waiting',
    sending: 'Sending: {percent} %',
    broken: 'The connection broke. The upload continues as soon as it is back.',
    storing: 'Sent. The server is storing the file.',
    stored: 'Stored as {name}',
    tooLarge: 'Too large. The largest file may have {most}.',
    unreadable:
      '“{path}” could not be read. Files that are not in this list were not sent. Check that it exists and that you may open it, then drop everything again.',
    again: 'Try again',
  },
  total: {
    sent: '{done} of {all} stored · {percent} % sent',
    left: ' · about {time} left',
    stored: { one: '{count} file is stored.', other: '{count} files are stored.' },
    failed: { one: '{count} file is not.', other: '{count} files are not.' },
  },
  receipt: { save: 'Save a receipt', title: 'Receipt', storedAt: 'Stored at' },
  errors: {
    title: 'This did not work',
    unknown: 'There is no such link. Please check that the address is complete.',
    gone: {
      used_up: 'This link has been used as often as it may be.',
      expired: 'This link has expired.',
      revoked: 'This link was withdrawn.',
      key_ended: 'This link has ended.',
    },
    changed: 'The file is no longer the one that this link is for.',
    ask: 'Please ask for a new one.',
    codes: {
      already_exists: 'A file of this name is there already. Rename yours and try again.',
      is_a_folder: 'A folder has this name. Rename your file and try again.',
      bad_path: 'Files cannot have this name. Rename yours and try again.',
      bad_request: 'Files cannot have this name. Rename yours and try again.',
      too_large: 'The file is too large for this link.',
      digest_mismatch: 'This is not the file that is asked for. Nothing was stored.',
      gone: 'This link has ended. Please ask for a new one.',
      unknown_item: 'This link no longer exists.',
      forbidden: 'This link may not be used from your network.',
      not_found: 'The file no longer exists.',
      no_space: 'The server has no room left. Please contact the person who gave you the link.',
      rate_limited: 'Too many tries. Please wait a minute.',
      quota_exceeded: 'Nothing can be sent or fetched for now. Please contact the person who gave you the link.',
    } satisfies Partial<Record<ErrorCode, string>>,
    server: 'The server cannot do this now. Nothing was stored. Please try again in a minute.',
    network: 'The connection broke, and nothing was stored. Please check your network and try again.',
  },
};

export type PageTexts = typeof en;

const de: PageTexts = {
  upload: {
    title: 'Dateien senden',
    titleOfOne: 'Eine Datei senden',
    asks: '{name} bittet Sie um Dateien',
    asksForOne: '{name} bittet Sie um eine Datei',
    lead: 'Die Dateien gehen direkt an die Person, von der Sie diesen Link haben.',
    storedAs: 'Die Datei wird als {name} gespeichert.',
    drop: 'Dateien hier ablegen oder',
    choose: 'Dateien auswählen',
    dropFolders: 'Dateien oder Ordner hier ablegen oder',
    chooseFolder: 'Ordner auswählen',
    dropOne: 'Eine Datei hier ablegen oder',
    chooseOne: 'Datei auswählen',
    noScript: 'Diese Seite braucht JavaScript. Ohne JavaScript senden Sie eine Datei im Terminal:',
  },
  download: {
    title: 'Eine Datei herunterladen',
    shares: '{name} teilt eine Datei mit Ihnen',
    button: 'Herunterladen',
    size: 'Größe',
  },
  facts: {
    expires: 'Offen bis',
    most: 'Größte Datei',
    usesLeft: 'Dateien übrig',
    downloadsLeft: 'Downloads übrig',
  },
  states: {
    waiting: 'Wartet',
    sending: 'Wird gesendet: {percent} %',
    broken: 'Die Verbindung ist abgebrochen. Der Upload geht weiter, sobald sie wieder da ist.',
    storing: 'Gesendet. Der Server speichert die Datei.',
    stored: 'Gespeichert als {name}',
    tooLarge: 'Zu groß. Eine Datei darf höchstens {most} haben.',
    unreadable:
      '„{path}“ war nicht lesbar. Dateien, die nicht in dieser Liste sind, wurden nicht gesendet. Prüfen Sie, ob es vorhanden ist und Sie es öffnen dürfen, und legen Sie alles noch einmal ab.',
    again: 'Noch einmal versuchen',
  },
  total: {
    sent: '{done} von {all} gespeichert · {percent} % gesendet',
    left: ' · noch etwa {time}',
    stored: { one: '{count} Datei ist gespeichert.', other: '{count} Dateien sind gespeichert.' },
    failed: { one: '{count} Datei ist es nicht.', other: '{count} Dateien sind es nicht.' },
  },
  receipt: { save: 'Quittung speichern', title: 'Quittung', storedAt: 'Gespeichert um' },
  errors: {
    title: 'Das hat nicht geklappt',
    unknown: 'Diesen Link gibt es nicht. Bitte prüfen Sie, ob die Adresse vollständig ist.',
    gone: {
      used_up: 'Dieser Link wurde so oft benutzt, wie es erlaubt war.',
      expired: 'Dieser Link ist abgelaufen.',
      revoked: 'Dieser Link wurde zurückgezogen.',
      key_ended: 'Dieser Link gilt nicht mehr.',
    },
    changed: 'Die Datei ist nicht mehr die, für die dieser Link gilt.',
    ask: 'Bitte fragen Sie nach einem neuen.',
    codes: {
      already_exists:
        'Eine Datei mit diesem Namen gibt es schon. Benennen Sie Ihre um und versuchen Sie es noch einmal.',
      is_a_folder: 'Ein Ordner heißt so. Benennen Sie Ihre Datei um und versuchen Sie es noch einmal.',
      bad_path: 'So darf eine Datei nicht heißen. Benennen Sie Ihre um und versuchen Sie es noch einmal.',
      bad_request: 'So darf eine Datei nicht heißen. Benennen Sie Ihre um und versuchen Sie es noch einmal.',
      too_large: 'Die Datei ist zu groß für diesen Link.',
      digest_mismatch: 'Das ist nicht die erwartete Datei. Es wurde nichts gespeichert.',
      gone: 'Dieser Link gilt nicht mehr. Bitte fragen Sie nach einem neuen.',
      unknown_item: 'Diesen Link gibt es nicht mehr.',
      forbidden: 'Dieser Link gilt nicht in Ihrem Netz.',
      not_found: 'Die Datei ist nicht mehr da.',
      no_space: 'Der Server hat keinen Platz mehr. Bitte sagen Sie es der Person, von der Sie den Link haben.',
      rate_limited: 'Zu viele Versuche. Bitte warten Sie eine Minute.',
      quota_exceeded:
        'Gerade kann nichts gesendet oder geholt werden. Bitte sagen Sie es der Person, von der Sie den Link haben.',
    },
    server:
      'Der Server kann das gerade nicht. Es wurde nichts gespeichert. Bitte versuchen Sie es in einer Minute noch einmal.',
    network:
      'Die Verbindung ist abgerissen, es wurde nichts gespeichert. Bitte prüfen Sie Ihr Netz und versuchen Sie es noch einmal.',
  },
};

export const PAGE_TEXTS: Readonly<Record<Language, PageTexts>> = { en, de };

/** The first available language of an Accept-Language field (RFC 9110, 12.5.4); its order counts, weights do not. */
export function languageOf(field: string | undefined): Language {
  const asked = (field ?? '').split(',').map((part) => part.trim().slice(0, 2).toLowerCase());
  return asked.flatMap((code) => LANGUAGES.find((language) => language === code) ?? [])[0] ?? LANGUAGES[0];
}
