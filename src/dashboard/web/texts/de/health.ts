import type { health as English } from '../en/health.ts';

export const health: typeof English = {
  lead: (zone) => `Ob jeder Server an jedem der letzten 90 Tage erreichbar war. Die Tage gelten in ${zone}.`,
  noneText:
    'Sobald Sie eine Verbindung anlegen, prüft das Gateway ihren Server jede Minute. Diese Seite zeigt, wann er nicht erreichbar war.',
  add: 'Eine Verbindung anlegen',
  downSince: (time) => `seit ${time}`,
  lookedAt: 'Geprüft',
  available: (part) => `${part} von 90 Tagen`,
  availableSince: (part, since) => `${part}, überwacht seit ${since}`,
  dayFrom: (text, since) => `${text}; überwacht seit ${since}`,
  strip: (name) => `Die letzten 90 Tage von ${name}`,
  day: (day, part) => `${day}: ${part} erreichbar`,
  dayDown: (day, part, down) => `${day}: ${part} erreichbar, ausgefallen für ${down}`,
  dayUnknown: (day) => `${day}: nicht geprüft`,
  ago: 'vor 90 Tagen',
  today: 'heute',
  legend: {
    good: 'kein Ausfall',
    warn: 'bis zu 1 % des Tages ausgefallen',
    bad: 'länger ausgefallen',
    none: 'nicht geprüft',
  },
  certificate: (time) => `Das Zertifikat läuft am ${time} ab`,
};
