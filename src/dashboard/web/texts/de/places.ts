import type { Texts } from '../catalogue.ts';

export const places: Texts['places'] = {
  overview: 'Übersicht',
  transfers: 'Übertragungen',
  files: 'Dateien',
  jobs: 'Aufträge',
  schedules: 'Zeitpläne',
  connections: 'Verbindungen',
  watched: 'Überwachte Ordner',
  webhooks: 'Webhooks',
  links: 'Links',
  keys: 'API-Schlüssel',
  deliveries: 'Zustellungen',
  events: 'Ereignisse',
  usage: 'Verbrauch',
  health: 'Zustand',
  pools: 'Pools',
  audit: 'Änderungsprotokoll',
  settings: 'Einstellungen',
};
