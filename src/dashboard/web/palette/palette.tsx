/** The command palette: a field and the list of matches, used by arrow keys and Enter. */
import * as Ariakit from '@ariakit/react';
import { type KeyboardEvent, type ReactElement, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { t } from '../texts/texts.ts';
import { Search } from '../ui/icons.tsx';
import { type Acts, type Entry, found, useEntries } from './entries.ts';

const LIST = 'palette-list';

interface Props extends Acts {
  readonly onClose: () => void;
  /** Returns what the user typed before the field was loaded. */
  readonly takeEarly: () => string;
}

export default function Palette({ onClose, takeEarly, ...acts }: Props): ReactElement {
  const entries = useEntries(acts);
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const shown = found(entries, typed, navigate);
  const chosen = shown[Math.min(at, shown.length - 1)];

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);

  const run = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.act();
  };
  const onKey = (event: KeyboardEvent): void => {
    const last = shown.length - 1;
    const step: Readonly<Record<string, number>> = {
      ArrowDown: at >= last ? 0 : at + 1,
      ArrowUp: at <= 0 ? last : at - 1,
      PageDown: Math.min(last, at + 8),
      PageUp: Math.max(0, at - 8),
    };
    const next = step[event.key];
    if (next !== undefined) {
      event.preventDefault();
      setAt(next);
    } else if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      run(chosen);
    }
  };

  return (
    <Ariakit.Dialog
      open
      onClose={onClose}
      className="dialog palette"
      backdrop={<div className="backdrop" />}
      aria-label={t.palette.title}
    >
      <div className="palette-field">
        <Search aria-hidden size={17} />
        <input
          type="text"
          role="combobox"
          data-autofocus
          aria-label={t.palette.title}
          aria-expanded
          aria-autocomplete="list"
          aria-controls={LIST}
          aria-activedescendant={chosen === undefined ? undefined : idOf(chosen)}
          placeholder={t.palette.placeholder}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onFocus={() => setTyped(takeEarly() + typed)}
          onKeyDown={onKey}
        />
      </div>
      <ul id={LIST} ref={list} className="palette-list" role="listbox" aria-label={t.palette.results}>
        {shown.map((entry, index) => (
          // The focus stays in the field, so the keys act there. Rows only react to the pointer.
          <li
            key={entry.id}
            id={idOf(entry)}
            role="option"
            aria-selected={entry === chosen}
            onPointerMove={() => setAt(index)}
            onClick={() => run(entry)}
          >
            <span className="palette-name">{entry.name}</span>
            {entry.detail !== undefined && <span className="palette-detail mono">{entry.detail}</span>}
            <span className="palette-kind">{t.palette.kinds[entry.kind]}</span>
          </li>
        ))}
      </ul>
      <p role="status" className={shown.length === 0 ? 'palette-none' : 'visually-hidden'}>
        {shown.length === 0 ? t.palette.none : t.palette.count(shown.length)}
      </p>
    </Ariakit.Dialog>
  );
}

function idOf({ id }: Entry): string {
  return `palette-${id.replace(/[^\w-]/g, '-')}`;
}
