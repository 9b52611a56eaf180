/** A row of a list. The list handles its events; `data-act` names the part that was used. */
import { memo, type ReactElement } from 'react';
import type { FileInfo } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { MiddleName } from '../../ui/middle-name.tsx';
import { Ellipsis } from '../../ui/later-icons.ts';
import type { FileColumn } from './file-columns.ts';
import { FileIcon } from './file-icon.tsx';

interface FileRowProps {
  readonly file: FileInfo;
  readonly columns: readonly FileColumn[];
  readonly thumbnailsOf: string | undefined;
  readonly index: number;
  readonly heightPx: number;
  readonly isSelected: boolean;
  /** The row that Tab reaches. */
  readonly isCurrent: boolean;
  readonly isTarget: boolean;
  /** The folders between the searched folder and the file. */
  readonly below: string | undefined;
}

export const FileRow = memo(function FileRow(props: FileRowProps): ReactElement {
  const { file, columns, thumbnailsOf, index, heightPx, isSelected, isCurrent, isTarget, below } = props;
  const { name } = file;
  return (
    <div
      role="row"
      data-index={index}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      tabIndex={isCurrent ? 0 : -1}
      draggable
      className={isTarget ? 'file-row drop-target' : 'file-row'}
      style={{ transform: `translateY(${index * heightPx}px)`, blockSize: `${heightPx}px` }}
    >
      <div role="gridcell" className="file-check" data-act="check">
        <input type="checkbox" tabIndex={-1} aria-label={t.common.selectOne(name)} checked={isSelected} readOnly />
      </div>
      <div role="gridcell" className="file-name">
        <FileIcon file={file} thumbnailsOf={thumbnailsOf} />
        <button type="button" tabIndex={-1} data-act="open" title={name}>
          <MiddleName name={name} />
        </button>
        {below !== undefined && below !== '' && <span className="file-below muted">{below}</span>}
      </div>
      {columns.map((column) => (
        <div key={column.name} role="gridcell" className={`file-${column.name} number`} title={column.title?.(file)}>
          {column.text(file)}
        </div>
      ))}
      <div role="gridcell" className="file-more">
        <button
          type="button"
          className="icon-button"
          tabIndex={-1}
          data-act="menu"
          aria-label={t.words.actionsFor(name)}
          aria-haspopup="menu"
        >
          <Ellipsis aria-hidden size={16} />
        </button>
      </div>
    </div>
  );
});
