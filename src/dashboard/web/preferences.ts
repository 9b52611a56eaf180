/** What this browser remembers: how the page looks and speaks, and whether single keys act. Nothing of the account. */
import { store } from './store.ts';

export type Theme = 'system' | 'light' | 'dark';
export type Language = 'en' | 'de';
export type SortBy = 'name' | 'size' | 'modifiedAt';

/** Of a list of files. */
export interface Sort {
  readonly by: SortBy;
  readonly isDown: boolean;
}

/** As each calls itself. */
export const LANGUAGES: readonly (readonly [Language, string])[] = [
  ['en', 'English'],
  ['de', 'Deutsch'],
];

function read(name: string): string | null {
  try {
    return localStorage.getItem(`ftg.${name}`);
  } catch {
    // Storage may be switched off; then the defaults hold.
    return null;
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(`ftg.${name}`, value);
  } catch {
    // As above: the choice holds until the page is left.
  }
}

const theme = store(toTheme(read('theme')));
const hasShortcuts = store(read('shortcuts') !== 'off');
const hasNotifications = store(read('notifications') === 'on');
const fileSort = store(toSort(read('files-sort')));

/** Chosen here, or the browser's; fixed until the page is loaded anew. */
export const language: Language = toLanguage(read('language') ?? navigator.language);
/** Of numbers and dates: the browser's kind of the language, where it speaks it. */
export const locale = navigator.language.startsWith(language) ? navigator.language : language;
/** Of this browser. */
export const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
/** In which times are shown; fixed as the language is. */
export const timeZone = toZone(read('zone'));

function toSort(value: string | null): Sort {
  const [by, way] = (value ?? '').split(' ');
  return { by: by === 'size' || by === 'modifiedAt' ? by : 'name', isDown: way === 'down' };
}

function toTheme(value: string | null): Theme {
  return value === 'light' || value === 'dark' ? value : 'system';
}

function toLanguage(value: string): Language {
  return /^de\b/.test(value) ? 'de' : 'en';
}

function toZone(value: string | null): string {
  return value !== null && Intl.supportedValuesOf('timeZone').concat('UTC').includes(value) ? value : ownZone;
}

/** Loads the page anew. */
export function setLanguage(value: Language): void {
  write('language', value);
  location.reload();
}

/** Loads the page anew; undefined = the browser's own. */
export function setTimeZone(value: string | undefined): void {
  write('zone', value ?? '');
  location.reload();
}

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.get();
}

export function setTheme(value: Theme): void {
  theme.set(value);
  applyTheme();
  write('theme', value);
}

export function setShortcuts(isOn: boolean): void {
  hasShortcuts.set(isOn);
  write('shortcuts', isOn ? 'on' : 'off');
}

export const useTheme = theme.use;
export const useShortcutsSetting = hasShortcuts.use;
/** Only with the browser's own permission, which it gives at a click. */
export const wantsNotifications = hasNotifications.get;

export function setNotifications(isOn: boolean): void {
  hasNotifications.set(isOn);
  write('notifications', isOn ? 'on' : 'off');
}

export const useNotificationsSetting = hasNotifications.use;

export function setFileSort(value: Sort): void {
  fileSort.set(value);
  write('files-sort', `${value.by} ${value.isDown ? 'down' : 'up'}`);
}

export const useFileSort = fileSort.use;
