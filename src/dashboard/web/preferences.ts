/** Preferences kept in this browser: theme, language, time zone, single keys. They contain no data of the account. */
import { type Language, LANGUAGES as CODES } from '../../contract/languages.ts';
import { store } from './store.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
export type SortBy = 'name' | 'size' | 'modifiedAt';

const FILE_COLUMNS = ['size', 'modifiedAt', 'mode', 'owner', 'group'] as const;
export type FileColumnName = (typeof FILE_COLUMNS)[number];
const USUAL_COLUMNS: readonly FileColumnName[] = ['size', 'modifiedAt'];

/** The order of a list of files. */
export interface Sort {
  readonly by: SortBy;
  readonly isDown: boolean;
}

/** Each language by its own name. */
const NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };
export const LANGUAGES = CODES.map((code) => [code, NAMES[code]] as const);

function read(name: string): string | null {
  try {
    return localStorage.getItem(`ftg.${name}`);
  } catch {
    // Storage may be switched off. The defaults apply then.
    return null;
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(`ftg.${name}`, value);
  } catch {
    // Storage may be switched off. The choice then applies until the page is left.
  }
}

const theme = store(toTheme(read('theme')));
const hasShortcuts = store(read('shortcuts') !== 'off');
const hasNotifications = store(read('notifications') === 'on');
const hasThumbnails = store(read('thumbnails') === 'on');
const fileSort = store(toSort(read('files-sort')));
const fileColumns = store(toColumns(read('files-columns')));

/** The language chosen here, or the browser's. It changes only when the page is reloaded. */
export const language: Language = toLanguage(read('language') ?? navigator.language);
/** The locale of numbers and dates: the browser's variant if it has the same language. */
export const locale = navigator.language.startsWith(language) ? navigator.language : language;
/** The browser's time zone. */
export const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
/** The zone of all displayed times. It changes only when the page is reloaded. */
export const timeZone = toZone(read('zone'));

function toSort(value: string | null): Sort {
  const [by, way] = (value ?? '').split(' ');
  return { by: by === 'size' || by === 'modifiedAt' ? by : 'name', isDown: way === 'down' };
}

function toColumns(value: string | null): readonly FileColumnName[] {
  return value === null ? USUAL_COLUMNS : FILE_COLUMNS.filter((name) => value.split(' ').includes(name));
}

function toTheme(value: string | null): Theme {
  return THEMES.find((theme) => theme === value) ?? 'system';
}

function toLanguage(value: string): Language {
  return CODES.find((code) => code === value.split('-')[0]) ?? CODES[0];
}

function toZone(value: string | null): string {
  return value !== null && Intl.supportedValuesOf('timeZone').concat('UTC').includes(value) ? value : ownZone;
}

/** Reloads the page. */
export function setLanguage(value: Language): void {
  write('language', value);
  location.reload();
}

/** Reloads the page. Undefined = the browser's zone. */
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
/** Whether the user wants notifications. The browser asks for its own permission on a click. */
export const wantsNotifications = hasNotifications.get;

export function setNotifications(isOn: boolean): void {
  hasNotifications.set(isOn);
  write('notifications', isOn ? 'on' : 'off');
}

export const useNotificationsSetting = hasNotifications.use;

export function setThumbnails(isOn: boolean): void {
  hasThumbnails.set(isOn);
  write('thumbnails', isOn ? 'on' : 'off');
}

export const useThumbnailsSetting = hasThumbnails.use;

export function setFileSort(value: Sort): void {
  fileSort.set(value);
  write('files-sort', `${value.by} ${value.isDown ? 'down' : 'up'}`);
}

export const useFileSort = fileSort.use;

/** Undefined = the usual ones. */
export function setFileColumns(names: readonly string[] = USUAL_COLUMNS): void {
  write('files-columns', names.join(' '));
  fileColumns.set(toColumns(names.join(' ')));
}

export const useFileColumns = fileColumns.use;
