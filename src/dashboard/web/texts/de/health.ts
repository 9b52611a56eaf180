import type { health as English } from '../en/health.ts';

export const health: typeof English = {
  title: 'Zustand',
  lead: (zone) => `Ob jeder Server erreichbar war, Tag für Tag seit 90 Tagen. Die Tage sind die von ${zone}.`,
  none: 'Noch keine Verbindung',
  noneText:
    'Sobald eine Verbindung da ist, sieht das Gateway jede Minute nach ihrem Server, und diese Seite zeigt, wann er nicht erreichbar war.',
  add: 'Eine Verbindung anlegen',
  up: 'Erreichbar',
  down: 'Ausgefallen',
  unknown: 'Nicht bekannt',
  off: 'Ausgeschaltet',
  downSince: (time) => `seit ${time}`,
  lookedAt: 'Nachgesehen',
  never: 'Es hat noch niemand nachgesehen.',
  available: (part) => `${part} von 90 Tagen`,
  strip: (name) => `Die letzten 90 Tage von ${name}`,
  day: (day, part) => `${day}: ${part} erreichbar`,
  dayDown: (day, part, down) => `${day}: ${part} erreichbar, ausgefallen für ${down}`,
  dayUnknown: (day) => `${day}: niemand hat nachgesehen`,
  ago: 'vor 90 Tagen',
  today: 'heute',
  legend: {
    good: 'kein Ausfall',
    warn: 'bis zu 1 % des Tages ausgefallen',
    bad: 'länger ausgefallen',
    none: 'niemand hat nachgesehen',
  },
  filter: 'Anzeigen',
  filters: { all: 'Alle', down: 'Ausgefallene' },
  allWell: 'Alle Verbindungen sind erreichbar.',
  certificate: (time) => `Das Zertifikat endet am ${time}`,
};
