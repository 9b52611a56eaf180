import type { Texts } from '../catalogue.ts';

export const links: Texts['links'] = {
  lead: 'Mit einem Link senden Menschen und Programme von außen Dateien in einen Ordner oder holen eine Datei ab. Sie brauchen kein Konto und keinen Schlüssel.',
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
  unused: 'Er wurde noch nicht benutzt.',
  one: 'Ein Link',
  made: {
    title: 'Ihr Link',
    warning: 'Kopieren Sie ihn jetzt: Er wird nur einmal gezeigt',
    text: 'Wer ihn hat, kann ihn ohne Passwort benutzen. Das Gateway behält nur eine Prüfsumme davon.',
    url: 'Adresse',
    program: 'Für ein Programm',
    kept: 'Ich habe ihn kopiert',
  },
  revoking: {
    title: (path) => `Link zu ${path} widerrufen?`,
    verb: 'Link widerrufen',
    done: 'Der Link ist widerrufen',
    text: 'Er gilt ab sofort nicht mehr. Das lässt sich nicht rückgängig machen.',
  },
  form: {
    verb: 'Den Link anlegen',
    fileHint: 'Ihr Pfad, etwa /reports/january.pdf. Der Link gibt keine andere Datei.',
    lives: { hour: 'Eine Stunde', day: 'Einen Tag', week: '7 Tage', month: '30 Tage', quarter: '90 Tage' },
    saveAsHint: 'Der Name, unter dem sie gespeichert wird. Leer: ihr eigener Name.',
    digestOfDownloadHint: 'Ändert sich die Datei, gibt der Link sie nicht mehr.',
  },
};
