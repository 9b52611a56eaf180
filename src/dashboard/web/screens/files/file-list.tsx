/** A folder as a grid that only draws visible rows. It has the keys of a file manager. */
import {
  useEffect,
  useRef,
  useState,
  type CSSProperties,
  type DragEvent,
  type ReactElement,
  type SyntheticEvent,
} from 'react';
import type { FileInfo } from '../../api/types.ts';
import type { Sort } from '../../preferences.ts';
import { t } from '../../texts/texts.ts';
import { useMatches } from '../../ui/media.ts';
import { arrivalIn, arrived } from './arrival.ts';
import { dropInto, startDrag, takesDrop } from './drag.ts';
import { useColumnsOf } from './file-columns.ts';
import { FileRow } from './file-row.tsx';
import { ListHead } from './list-head.tsx';
import { type ListModel, useListKeys } from './list-keys.ts';
import { useRowWindow } from './row-window.ts';

interface FileListProps extends ListModel {
  readonly connectionId: string;
  /** The listed folder. Search results are below it. */
  readonly folder: string;
  readonly isSearch: boolean;
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly hasThumbnails: boolean;
}

const ROW_PX = 36;
const NARROW_ROW_PX = 52;
const NARROW = matchMedia('(max-width: 44rem)');

export function FileList(props: FileListProps): ReactElement {
  const { connectionId, folder, isSearch, files, sort, onSort, selected, onSelect, onOpen, onMenu, hasThumbnails } =
    props;
  const [target, setTarget] = useState<string>();
  const rowPx = useMatches(NARROW) ? NARROW_ROW_PX : ROW_PX;
  const rows = useRowWindow(files.length, rowPx);
  const { scroller } = rows;
  const keys = useListKeys(props, rows, rowPx);
  const { current } = keys;
  const columns = useColumnsOf(files);
  const chosen = (file: FileInfo): readonly FileInfo[] =>
    selected.has(file.path) ? files.filter(({ path }) => selected.has(path)) : [file];

  useEffect(() => {
    const name = arrivalIn(connectionId, folder);
    if (name === undefined) return;
    arrived();
    keys.focusRow(
      Math.max(
        0,
        files.findIndex((file) => file.name === name),
      ),
    );
  });

  // A removed entry loses the focus without an event. The entry in its place gets it.
  const hasFocus = useRef(false);
  useEffect(() => {
    if (hasFocus.current && document.activeElement === document.body) keys.focusRow(current);
  });

  const indexOf = ({ target: at }: SyntheticEvent): number =>
    at instanceof Element ? Number(at.closest<HTMLElement>('[data-index]')?.dataset['index'] ?? -1) : -1;
  const actOf = ({ target: at }: SyntheticEvent): string | undefined =>
    at instanceof Element ? at.closest<HTMLElement>('[data-act]')?.dataset['act'] : undefined;
  const folderAt = (event: DragEvent): FileInfo | undefined => {
    const file = files[indexOf(event)];
    return file?.isDirectory === true && file.rawName === undefined ? file : undefined;
  };
  const drawn = new Set(Array.from({ length: rows.until - rows.from }, (_, index) => rows.from + index));
  // The current row is drawn even outside the view, because removing it would lose the focus.
  if (current < files.length) drawn.add(current);

  return (
    <div
      className="file-grid"
      role="grid"
      aria-label={t.words.files}
      aria-rowcount={files.length + 1}
      aria-multiselectable="true"
      style={{ '--file-columns': columns.shown.map(({ width }) => width).join(' ') } as CSSProperties}
    >
      <ListHead files={files} columns={columns} sort={sort} onSort={onSort} selected={selected} onSelect={onSelect} />
      <div
        ref={scroller}
        className="file-scroll"
        role="presentation"
        onScroll={rows.onScroll}
        onKeyDown={keys.onKeyDown}
        onFocus={(event) => {
          hasFocus.current = true;
          if (indexOf(event) >= 0) keys.setCurrent(indexOf(event));
        }}
        onBlur={(event) => {
          hasFocus.current = !event.target.isConnected;
        }}
        onClick={(event) => {
          const index = indexOf(event);
          const file = files[index];
          if (file === undefined) return;
          const act = actOf(event);
          if (act === 'menu') onMenu(keys.menuAt(index, event.target as Element, chosen(file)));
          else if (event.shiftKey) keys.selectTo(index);
          else if (act === 'check' || event.ctrlKey || event.metaKey) keys.toggle(index);
          else if (act === 'open') onOpen(file);
          else keys.setAnchor(index);
        }}
        onDoubleClick={(event) => {
          const file = files[indexOf(event)];
          if (file !== undefined && actOf(event) === undefined) onOpen(file);
        }}
        onContextMenu={(event) => {
          const index = indexOf(event);
          const file = files[index];
          if (file === undefined) return;
          event.preventDefault();
          onMenu(keys.menuAt(index, { x: event.clientX, y: event.clientY }, chosen(file)));
        }}
        onDragStart={(event) => {
          const file = files[indexOf(event)];
          if (file !== undefined) startDrag(event, connectionId, chosen(file));
        }}
        onDragEnd={() => setTarget(undefined)}
        onDragOver={(event) => {
          const into = folderAt(event);
          setTarget(into !== undefined && takesDrop(event, connectionId, into.path) ? into.path : undefined);
        }}
        onDragLeave={(event) => {
          if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setTarget(undefined);
        }}
        onDrop={(event) => {
          const into = folderAt(event);
          setTarget(undefined);
          if (into !== undefined) dropInto(event, connectionId, into.path);
        }}
      >
        <div role="rowgroup" className="file-rows" style={{ blockSize: `${files.length * rowPx}px` }}>
          {[...drawn]
            .sort((a, b) => a - b)
            .map((index) => {
              const file = files[index];
              return (
                file !== undefined && (
                  <FileRow
                    key={`${file.path}${file.rawName ?? ''}`}
                    file={file}
                    columns={columns.shown}
                    thumbnailsOf={hasThumbnails ? connectionId : undefined}
                    index={index}
                    heightPx={rowPx}
                    isSelected={selected.has(file.path)}
                    isCurrent={index === current}
                    isTarget={target === file.path}
                    below={isSearch ? belowOf(folder, file) : undefined}
                  />
                )
              );
            })}
        </div>
      </div>
    </div>
  );
}

/** The folders between the searched folder and a result. */
function belowOf(folder: string, { path, name }: FileInfo): string {
  return path.slice(folder === '/' ? 1 : folder.length + 1, path.length - name.length - 1);
}
