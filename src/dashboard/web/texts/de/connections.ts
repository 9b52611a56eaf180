import type { Texts } from '../catalogue.ts';
import { plural } from '../plural.ts';

export const connections: Texts['connections'] = {
  lead: 'Die Server, zu denen Dateien gehen und von denen sie kommen.',
  add: 'Verbindung hinzufügen',
  full: (limit) =>
    `Der Tarif hat Platz für ${plural(limit, { one: '1 Verbindung', other: `${limit} Verbindungen` })}, und alle sind vergeben.`,
  fullText: 'Der Betreiber dieses Gateways kann einen Tarif einstellen, der mehr erlaubt.',
  none: 'Noch keine Verbindung',
  noneText:
    'Eine Verbindung ist eine Anmeldung an einem SFTP-, FTP- oder S3-Server. Programme verwenden ihre Kennung und sehen das Passwort nie.',
  name: 'Bezeichnung',
  server: 'Server',
  status: {
    off: 'Ausgeschaltet',
    down: 'Ausgefallen',
    failing: 'Schlägt fehl',
    unknown: 'Nicht geprüft',
    up: 'Erreichbar',
  },
  withStatus: (name, status) => `${name} (${status})`,
  fromFile: 'Konfigurationsdatei',
  lastTest: 'Letzter Test',
  never: 'Nie',
  passed: 'Bestanden',
  failed: 'Fehlgeschlagen',
  filesOf: (name) => ` von ${name}`,
  bucketAt: (bucket, endpoint) => `${bucket} bei ${endpoint}`,
};
