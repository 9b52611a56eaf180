import type { Texts } from '../catalogue.ts';

export const links: Texts['links'] = {
  lead: 'Adressen für Menschen und Programme außerhalb. Jede braucht keinen Schlüssel und kann eine Sache: Dateien in einen Ordner nehmen oder eine Datei geben.',
  add: 'Link anlegen',
  none: 'Noch kein Link',
  noneText: 'Mit einem Link kann Ihnen jemand ohne Konto Dateien senden oder eine abholen.',
  columns: { does: 'Zweck', uses: 'Benutzt', most: 'Größte Datei' },
  operations: { upload: 'Hochladen nach', download: 'Herunterladen von' },
  madeBy: (key) => `angelegt von ${key}`,
  states: {
    active: 'Aktiv',
    used_up: 'Verbraucht',
    expired: 'Abgelaufen',
    revoked: 'Widerrufen',
    key_ended: 'Schlüssel ungültig',
  },
  showUses: 'Benutzungen zeigen',
  revoke: 'Widerrufen …',
  usesOf: (path) => `Benutzungen des Links zu ${path}`,
  unused: 'Noch niemand hat ihn benutzt.',
  one: 'Ein Link',
  made: {
    title: 'Ihr Link',
    warning: 'Kopieren Sie ihn jetzt: Er wird nicht noch einmal gezeigt.',
    text: 'Wer ihn hat, kann ihn ohne Passwort benutzen. Das Gateway behält nur eine Prüfsumme davon.',
    url: 'Adresse',
    program: 'Für ein Programm',
    kept: 'Ich habe ihn kopiert',
  },
  revoking: {
    title: (path) => `Link zu ${path} widerrufen?`,
    verb: 'Link widerrufen',
    done: 'Der Link ist widerrufen',
    text: 'Wer ihn hat, kann ihn ab sofort nicht mehr benutzen. Das lässt sich nicht rückgängig machen.',
  },
  form: {
    verb: 'Den Link anlegen',
    fileHint: 'Ihr Pfad, etwa /reports/january.pdf. Sonst lässt sich nichts abholen.',
    lives: { hour: 'Eine Stunde', day: 'Einen Tag', week: '7 Tage', month: '30 Tage', quarter: '90 Tage' },
    saveAsHint: 'Wie sie gespeichert wird. Leer: ihr eigener Name.',
    digestOfDownloadHint: 'Ist die Datei geändert, gibt der Link sie nicht mehr her.',
  },
};
