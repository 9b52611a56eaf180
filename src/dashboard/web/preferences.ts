/** What this browser remembers: how the page looks and whether single keys act. Nothing of the account. */
import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const listeners = new Set<() => void>();

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
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let theme = toTheme(read('theme'));
let hasShortcuts = read('shortcuts') !== 'off';

function toTheme(value: string | null): Theme {
  return value === 'light' || value === 'dark' ? value : 'system';
}

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme;
}

export function setTheme(value: Theme): void {
  theme = value;
  applyTheme();
  write('theme', value);
}

export function setShortcuts(isOn: boolean): void {
  hasShortcuts = isOn;
  write('shortcuts', isOn ? 'on' : 'off');
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => theme);
}

export function useShortcutsSetting(): boolean {
  return useSyncExternalStore(subscribe, () => hasShortcuts);
}
