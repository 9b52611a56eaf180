export const settings = {
  browser: 'This browser',
  colours: 'Colours',
  system: 'System',
  light: 'Light',
  dark: 'Dark',
  shortcuts: 'Single-key shortcuts',
  shortcutsHint: 'Press ? on any screen to see them.',
  language: 'Language',
  zone: 'Times are shown in',
  zoneOfBrowser: (zone: string): string => `The time zone of this browser (${zone})`,
};
