/** Single keys: `/` to the search, `g` and a letter to a screen, `?` for help. Never while something is typed. */
import { useEffect, useState, type ReactElement } from 'react';
import { useLocation } from 'wouter';
import { PLACES } from './navigation.ts';
import { useShortcutsSetting } from './preferences.ts';
import { Dialog } from './ui/dialog.tsx';

const GO_MS = 1_500;

/** The help dialog, where it is open. */
export function useShortcuts(): ReactElement | null {
  const isOn = useShortcutsSetting();
  const [, navigate] = useLocation();
  const [isHelpOpen, setHelpOpen] = useState(false);

  useEffect(() => {
    if (!isOn) return undefined;
    let goSince = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('[role="dialog"]') !== null) return;
      const isGoing = performance.now() - goSince < GO_MS;
      goSince = -Infinity;
      if (isGoing) {
        const place = PLACES.flatMap(({ places }) => places).find(({ letter }) => letter === event.key.toLowerCase());
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

  return isHelpOpen ? <Help onClose={() => setHelpOpen(false)} /> : null;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox' && target.type !== 'radio';
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

const IN_FILES: readonly (readonly [keys: string, what: string])[] = [
  ['↑ ↓', 'Move through the list'],
  ['Enter', 'Open a folder, look into a file'],
  ['Backspace', 'To the folder above'],
  ['Space', 'Select'],
  ['F2', 'Rename'],
  ['Delete', 'Delete what is selected'],
];

function Help({ onClose }: { readonly onClose: () => void }): ReactElement {
  const places = PLACES.flatMap((group) => group.places);
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <div className="form-grid">
        <section className="stack tight">
          <h3>Everywhere</h3>
          <Keys keys="/" what="To the search field" />
          <Keys keys="?" what="This help" />
          {places.map(({ letter, name }) => (
            <Keys key={letter} keys={`g ${letter}`} what={name} />
          ))}
        </section>
        <section className="stack tight">
          <h3>In a list of files</h3>
          {IN_FILES.map(([keys, what]) => (
            <Keys key={keys} keys={keys} what={what} />
          ))}
        </section>
      </div>
      <p className="hint">Single keys can be switched off under Settings.</p>
    </Dialog>
  );
}

function Keys({ keys, what }: { readonly keys: string; readonly what: string }): ReactElement {
  return (
    <div className="row spread">
      <span>{what}</span>
      <span className="row">
        {keys.split(' ').map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </span>
    </div>
  );
}
