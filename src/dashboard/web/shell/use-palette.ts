/** When the palette is open, and what is typed for it while its code is still on its way. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { isDialogOpen } from './shortcuts.tsx';

interface PaletteState {
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
  /** Called when the field has the focus: hands over what was typed before, and ends the collecting. */
  readonly takeEarly: () => string;
}

export function usePalette(): PaletteState {
  const [isOpen, setIsOpen] = useState(false);
  /** Undefined when the field itself takes the keys. */
  const early = useRef<string>(undefined);
  const setOpen = useCallback((open: boolean) => {
    early.current = open ? '' : undefined;
    setIsOpen(open);
  }, []);

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
        event.preventDefault();
        if (!isDialogOpen()) setOpen(true);
      } else if (early.current !== undefined && !hasModifier) {
        const typed = collect(early.current, event.key);
        if (event.key === 'Escape') setOpen(false);
        else if (typed !== undefined) early.current = typed;
        else return;
        event.preventDefault();
      }
    };
    // Before the single keys, which a name that begins with "g" would set off.
    document.addEventListener('keydown', onKey, { capture: true });
    return () => document.removeEventListener('keydown', onKey, { capture: true });
  }, [setOpen]);

  const takeEarly = useCallback(() => {
    const typed = early.current ?? '';
    early.current = undefined;
    return typed;
  }, []);
  return { isOpen, setOpen, takeEarly };
}

/** Undefined = no key of a text: it does what it does elsewhere. */
function collect(typed: string, key: string): string | undefined {
  if (key === 'Backspace') return typed.slice(0, -1);
  // A space at first presses the button that has the focus.
  return [...key].length === 1 && (key !== ' ' || typed !== '') ? typed + key : undefined;
}
