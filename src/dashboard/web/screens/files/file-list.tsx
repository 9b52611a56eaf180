/** A folder as a grid of rows, of which only those in sight are drawn; arrows, Enter, Space, F2 and Delete work. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactElement } from 'react';
import { ArrowDown, ArrowUp, File as FileIcon, Folder } from '../../ui/icons.tsx';
import type { FileInfo } from '../../api/types.ts';
import { formatBytes, formatShortTime } from '../../format.ts';

type SortBy = 'name' | 'size' | 'modifiedAt';

export interface FileListProps {
  readonly files: readonly FileInfo[];
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
  readonly onOpen: (file: FileInfo) => void;
  readonly onUp: () => void;
  readonly onRename: (file: FileInfo) => void;
  readonly onDelete: () => void;
}

const ROW_PX = 36;
const NARROW_ROW_PX = 52;
const NARROW = '(max-width: 44rem)';

export function FileList({ files, selected, onSelect, onOpen, onUp, onRename, onDelete }: FileListProps): ReactElement {
  const [sort, setSort] = useState<{ by: SortBy; isDown: boolean }>({ by: 'name', isDown: false });
  const [active, setActive] = useState(0);
  const anchor = useRef(0);
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useMedia(NARROW);
  const sorted = useMemo(() => sortFiles(files, sort.by, sort.isDown), [files, sort]);
  const rowPx = isNarrow ? NARROW_ROW_PX : ROW_PX;
  const rows = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 12,
  });
  useEffect(() => rows.measure(), [rows, rowPx]);
  const current = Math.min(active, Math.max(0, sorted.length - 1));

  const focusRow = (index: number): void => {
    const next = Math.max(0, Math.min(sorted.length - 1, index));
    setActive(next);
    rows.scrollToIndex(next);
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus({ preventScroll: true }),
    );
  };
  const toggle = (path: string): void => {
    const next = new Set(selected);
    if (!next.delete(path)) next.add(path);
    onSelect(next);
  };
  const selectRange = (to: number): void => {
    const [from, until] = anchor.current < to ? [anchor.current, to] : [to, anchor.current];
    onSelect(new Set([...selected, ...sorted.slice(from, until + 1).map(({ path }) => path)]));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const file = sorted[current];
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? ROW_PX) / rowPx) - 1);
    const moves: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    };
    const by = moves[event.key];
    if (by !== undefined) {
      const to = Math.max(0, Math.min(sorted.length - 1, current + by));
      if (event.shiftKey) selectRange(to);
      else anchor.current = to;
      focusRow(to);
    } else if (event.key === 'Enter' && file !== undefined) onOpen(file);
    else if (event.key === ' ' && file !== undefined) toggle(file.path);
    else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) onSelect(new Set(sorted.map(({ path }) => path)));
    else if (event.key === 'Escape' && selected.size > 0) onSelect(new Set());
    else if (event.key === 'Backspace') onUp();
    else if (event.key === 'F2' && file !== undefined) onRename(file);
    else if (event.key === 'Delete') {
      if (selected.size === 0 && file !== undefined) onSelect(new Set([file.path]));
      onDelete();
    } else return;
    event.preventDefault();
  };
  const head = (by: SortBy, text: string): ReactElement => {
    const isSorted = sort.by === by;
    const Arrow = sort.isDown ? ArrowDown : ArrowUp;
    return (
      <div
        role="columnheader"
        className={`file-${by}`}
        aria-sort={isSorted ? (sort.isDown ? 'descending' : 'ascending') : 'none'}
      >
        <button type="button" onClick={() => setSort({ by, isDown: isSorted && !sort.isDown })}>
          {text}
          {isSorted && <Arrow aria-hidden size={13} />}
        </button>
      </div>
    );
  };
  const isAll = sorted.length > 0 && selected.size >= sorted.length;

  return (
    <div
      className="file-grid"
      role="grid"
      aria-label="Files"
      aria-rowcount={sorted.length + 1}
      aria-multiselectable="true"
    >
      <div role="rowgroup" className="file-head">
        <div role="row" aria-rowindex={1} className="file-row">
          <div role="columnheader" className="file-check">
            <input
              type="checkbox"
              aria-label="Select all"
              checked={isAll}
              ref={(box) => {
                if (box !== null) box.indeterminate = selected.size > 0 && !isAll;
              }}
              onChange={() => onSelect(isAll ? new Set() : new Set(sorted.map(({ path }) => path)))}
            />
          </div>
          {head('name', 'Name')}
          {head('size', 'Size')}
          {head('modifiedAt', 'Changed')}
        </div>
      </div>
      <div ref={scroller} className="file-scroll" role="presentation" onKeyDown={onKeyDown}>
        <div role="rowgroup" className="file-rows" style={{ blockSize: `${rows.getTotalSize()}px` }}>
          {rows.getVirtualItems().map(({ index, start, size }) => {
            const file = sorted[index];
            if (file === undefined) return null;
            const isSelected = selected.has(file.path);
            return (
              <div
                key={file.path}
                role="row"
                data-index={index}
                aria-rowindex={index + 2}
                aria-selected={isSelected}
                tabIndex={index === current ? 0 : -1}
                className="file-row"
                style={{ transform: `translateY(${start}px)`, blockSize: `${size}px` }}
                onFocus={() => setActive(index)}
                onClick={(event) => {
                  if (event.shiftKey) selectRange(index);
                  else anchor.current = index;
                  setActive(index);
                }}
                onDoubleClick={() => onOpen(file)}
              >
                <div role="gridcell" className="file-check">
                  <input
                    type="checkbox"
                    tabIndex={-1}
                    aria-label={`Select ${file.name}`}
                    checked={isSelected}
                    onChange={() => toggle(file.path)}
                  />
                </div>
                <div role="gridcell" className="file-name">
                  {file.isDirectory ? (
                    <Folder aria-label="Folder" size={16} className="folder-icon" />
                  ) : (
                    <FileIcon aria-hidden size={16} />
                  )}
                  <button type="button" tabIndex={-1} onClick={(event) => !event.shiftKey && onOpen(file)}>
                    {file.name}
                  </button>
                </div>
                <div role="gridcell" className="file-size number">
                  {file.isDirectory ? '' : formatBytes(file.size)}
                </div>
                <div role="gridcell" className="file-modifiedAt number">
                  {file.modifiedAt === null || Date.parse(file.modifiedAt) === 0
                    ? ''
                    : formatShortTime(file.modifiedAt)}
                </div>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** The gateway gives folders first, then by name; other orders keep folders first. */
function sortFiles(files: readonly FileInfo[], by: SortBy, isDown: boolean): readonly FileInfo[] {
  if (by === 'name' && !isDown) return files;
  const sign = isDown ? -1 : 1;
  const compare = (a: FileInfo, b: FileInfo): number => {
    if (by === 'size') return a.size - b.size;
    const [one, other] = by === 'name' ? [a.name, b.name] : [a.modifiedAt ?? '', b.modifiedAt ?? ''];
    return one < other ? -1 : one > other ? 1 : 0;
  };
  return [...files].sort((a, b) => Number(b.isDirectory) - Number(a.isDirectory) || sign * compare(a, b));
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const look = (): void => setMatches(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, [query]);
  return matches;
}
