/** Keys that act on every screen except while the user types. */
import { type ReactElement, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useShortcutsSetting } from '../preferences.ts';
import { part } from '../ui/part.tsx';
import { ALL_PLACES } from './places.ts';

const Help = part(() => import('./help.tsx'), <></>);

const GO_MS = 1_500;

interface Shortcuts {
  /** The help while it is open. */
  readonly help: ReactElement | null;
  readonly openHelp: () => void;
}

export function useShortcuts(): Shortcuts {
  const isOn = useShortcutsSetting();
  const [, navigate] = useLocation();
  const [isHelpOpen, setHelpOpen] = useState(false);

  useEffect(() => {
    if (!isOn) return undefined;
    let goSince = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || takesKeys(event.target)) return;
      if (isDialogOpen()) return;
      const isGoing = performance.now() - goSince < GO_MS;
      goSince = -Infinity;
      if (isGoing) {
        const place = ALL_PLACES.find(({ letter }) => letter === event.key.toLowerCase());
        if (place === undefined) return;
        event.preventDefault();
        navigate(place.path);
      } else if (event.key === 'g') {
        goSince = performance.now();
      } else if (event.key === '/') {
        const search = document.querySelector<HTMLInputElement>('input[type="search"]');
        if (search === null) return;
        event.preventDefault();
        search.focus();
        search.select();
      } else if (event.key === '?') {
        event.preventDefault();
        setHelpOpen(true);
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [isOn, navigate]);

  return {
    help: isHelpOpen ? <Help onClose={() => setHelpOpen(false)} /> : null,
    openHelp: () => setHelpOpen(true),
  };
}

export function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"]') !== null;
}

/** Elements that handle keys: fields of every kind, radio buttons, check boxes, and lists with type-ahead. */
const TAKES_KEYS = 'input, textarea, select, [role="menu"], [role="listbox"], [role="combobox"], [role="slider"]';

function takesKeys(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.closest(TAKES_KEYS) !== null);
}
