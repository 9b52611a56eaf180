import type { Texts } from '../en/index.ts';

export const settings: Texts['settings'] = {
  browser: 'Dieser Browser',
  colours: 'Farben',
  system: 'System',
  light: 'Hell',
  dark: 'Dunkel',
  shortcuts: 'Kürzel aus einzelnen Tasten',
  shortcutsHint: 'Die Taste ? zeigt sie auf jeder Seite.',
  language: 'Sprache',
  zone: 'Zeiten gelten in',
  zoneOfBrowser: (zone) => `Zeitzone dieses Browsers (${zone})`,
};
