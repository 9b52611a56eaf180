import type { pools as English } from '../en/pools.ts';

export const pools: typeof English = {
  title: 'Pools',
  lead: 'Anfragen teilen sich offene Anmeldungen. Kein Server sieht mehr davon, als seine Grenze erlaubt.',
  ready: 'Das Gateway ist bereit',
  notReady: 'Das Gateway ist nicht bereit',
  asking: 'Wird gefragt …',
  readyText: 'Es bedient Anfragen, und seine Datenbank antwortet.',
  unreachable: 'Es ist nicht erreichbar.',
  status: (status) => `Status ${status}`,
  byServer: 'Sitzungen nach Server',
  none: 'Keine Sitzung ist offen',
  noneText:
    'Die erste Übertragung zu einem Server öffnet eine; sie wird geschlossen, wenn sie eine Weile niemand braucht.',
  server: 'Server',
  connections: 'Verbindungen',
  use: 'Nutzung',
  inUse: (host) => `Sitzungen von ${host} in Gebrauch`,
  explain: (busy, idle, most) =>
    `${busy} arbeiten, ${idle} offen und frei, ${Math.max(0, most - busy - idle)} weitere möglich`,
  working: 'Arbeiten',
  idle: 'Frei',
  most: 'Höchstens',
  waiting: 'Wartend',
  waitingText:
    'Anfragen, die auf eine Sitzung warten. Erhöhen Sie die Zahl der Sitzungen an der Verbindung, wenn der Server es zulässt.',
  shares: 'Ihr Anteil an dem, was alle Konten teilen',
  what: 'Was',
  yours: 'Ihr Anteil',
  inUseColumn: 'In Gebrauch',
  refused: 'Abgelehnt',
  of: (used, capacity) => `${used} von ${capacity}`,
  part: (name) => `${name}: Ihr Anteil`,
  names: {
    memoryBytes: 'Speicher für Inhalte und Antworten',
    requests: 'Laufende Anfragen',
    waiting: 'Vorgänge, die auf eine Sitzung warten',
    sessions: 'Offene Sitzungen',
    lookups: 'Namensauflösungen',
  },
};
