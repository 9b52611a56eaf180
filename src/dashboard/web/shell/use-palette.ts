/** The state of the palette, and the keys that the user types while its code loads. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { isDialogOpen } from './shortcuts.tsx';

interface PaletteState {
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
  /** Called when the field has the focus. Returns the collected text and stops collecting. */
  readonly takeEarly: () => string;
}

export function usePalette(): PaletteState {
  const [isOpen, setIsOpen] = useState(false);
  /** Undefined while the field itself handles the keys. */
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
    // Captured before the single-key shortcuts, since a name may start with "g".
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

/** Undefined = not a text key; it keeps its normal effect. */
function collect(typed: string, key: string): string | undefined {
  if (key === 'Backspace') return typed.slice(0, -1);
  // A leading space presses the focused button.
  return [...key].length === 1 && (key !== ' ' || typed !== '') ? typed + key : undefined;
}
