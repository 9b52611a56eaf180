/** Moves and selects by keys: arrows, Home and End, the first letters of a name, Shift for a range. */
import { useCallback, useRef, useState, type KeyboardEvent } from 'react';
import type { FileInfo } from '../../api/types.ts';
import type { MenuAt } from './file-menu.tsx';
import type { RowWindow } from './row-window.ts';

/** Letters typed faster than this belong to one name. */
const TYPING_MS = 700;

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The files, the selection, and the actions that keys trigger. */
export interface ListModel {
  readonly files: readonly FileInfo[];
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
  readonly onOpen: (file: FileInfo) => void;
  readonly onMenu: (at: MenuAt) => void;
  readonly onUp: () => void;
  readonly onRename: (file: FileInfo) => void;
  readonly onDelete: (files: readonly FileInfo[]) => void;
}

interface ListKeys {
  readonly current: number;
  readonly setCurrent: (index: number) => void;
  readonly setAnchor: (index: number) => void;
  readonly focusRow: (index: number) => void;
  readonly toggle: (index: number) => void;
  /** Selects from the start of the last selection. */
  readonly selectTo: (index: number) => void;
  readonly menuAt: (index: number, at: Element | Point, files: readonly FileInfo[]) => MenuAt;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

export function useListKeys(list: ListModel, rows: RowWindow, rowPx: number): ListKeys {
  const { files, selected, onSelect, onOpen, onMenu, onUp, onRename, onDelete } = list;
  const [active, setActive] = useState(0);
  const anchor = useRef(0);
  const typed = useRef({ text: '', at: -Infinity });
  const { scroller, show } = rows;
  const current = Math.min(active, Math.max(0, files.length - 1));

  const rowAt = (index: number): HTMLElement | null =>
    scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]`) ?? null;
  const focusRow = (index: number): void => {
    const next = Math.max(0, Math.min(files.length - 1, index));
    setActive(next);
    show(next);
    // The row may have to be drawn first.
    requestAnimationFrame(() => rowAt(next)?.focus({ preventScroll: true }));
  };
  const toggle = (index: number): void => {
    const path = files[index]?.path ?? '';
    const next = new Set(selected);
    if (!next.delete(path)) next.add(path);
    anchor.current = index;
    onSelect(next);
  };
  const selectTo = (to: number): void => {
    const [from, until] = anchor.current < to ? [anchor.current, to] : [to, anchor.current];
    onSelect(new Set([...selected, ...files.slice(from, until + 1).map(({ path }) => path)]));
  };
  const setAnchor = useCallback((index: number) => {
    anchor.current = index;
  }, []);
  const menuAt: ListKeys['menuAt'] = (index, at, chosen) => {
    const box = at instanceof Element ? at.getBoundingClientRect() : undefined;
    const rect = box ?? { ...(at as Point), width: 0, height: 0 };
    setActive(index);
    return { files: chosen, rect, row: rowAt(index) };
  };
  /** Goes to the next entry whose name starts with the typed letters. Repeating one letter goes through all its entries. */
  const typeAhead = (letter: string): boolean => {
    const isGoingOn = performance.now() - typed.current.at < TYPING_MS;
    const before = isGoingOn ? typed.current.text : '';
    const text = before === letter ? letter : before + letter;
    if (text.trim() === '') return false;
    typed.current = { text, at: performance.now() };
    const from = before === '' || before === text ? current + 1 : current;
    for (let step = 0; step < files.length; step++) {
      const index = (from + step) % files.length;
      if (files[index]?.name.toLowerCase().startsWith(text) !== true) continue;
      anchor.current = index;
      focusRow(index);
      break;
    }
    return true;
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const file = files[current];
    if (file === undefined) return;
    const marked = selected.size > 0 ? files.filter(({ path }) => selected.has(path)) : [];
    const chosen = marked.length > 0 ? marked : [file];
    const { key, shiftKey, altKey } = event;
    const isCommand = event.ctrlKey || event.metaKey;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? rowPx) / rowPx) - 1);
    const moves: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    };
    const by = altKey ? undefined : moves[key];
    if (by !== undefined) {
      const to = Math.max(0, Math.min(files.length - 1, current + by));
      if (shiftKey) selectTo(to);
      else anchor.current = to;
      typed.current = { text: '', at: -Infinity };
      focusRow(to);
    } else if (key === 'ContextMenu' || (key === 'F10' && shiftKey)) {
      const row = rowAt(current);
      const name = row?.querySelector('.file-name') ?? row;
      if (name !== null) onMenu(menuAt(current, name, selected.has(file.path) ? chosen : [file]));
    } else if (key === 'Enter') onOpen(file);
    else if (key === ' ' && performance.now() - typed.current.at >= TYPING_MS) toggle(current);
    else if (key === 'a' && isCommand) onSelect(new Set(files.map(({ path }) => path)));
    else if (key === 'Escape' && selected.size > 0) onSelect(new Set());
    else if (key === 'Backspace' || (key === 'ArrowUp' && altKey)) onUp();
    else if (key === 'F2') onRename(file);
    else if (key === 'Delete') onDelete(chosen);
    else if ([...key].length !== 1 || isCommand || altKey || '/?'.includes(key)) return;
    else if (!typeAhead(key.toLowerCase())) return;
    event.preventDefault();
  };
  return { current, setCurrent: setActive, setAnchor, focusRow, toggle, selectTo, menuAt, onKeyDown };
}
