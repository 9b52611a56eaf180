/** A row of a list. The list handles its events; `data-act` names the part that was used. */
import { memo, type ReactElement } from 'react';
import type { FileInfo } from '../../api/types.ts';
import { formatBytes, formatDateTime, formatShortTime } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { MiddleName } from '../../ui/middle-name.tsx';
import { Ellipsis, File as FileIcon, Folder } from '../../ui/icons.tsx';

interface FileRowProps {
  readonly file: FileInfo;
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
  const { file, index, heightPx, isSelected, isCurrent, isTarget, below } = props;
  const { name, isDirectory, size, modifiedAt } = file;
  const isDated = Date.parse(modifiedAt) !== 0;
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
        {isDirectory ? (
          <Folder aria-label={t.files.folder} size={16} className="folder-icon" />
        ) : (
          <FileIcon aria-hidden size={16} />
        )}
        <button type="button" tabIndex={-1} data-act="open" title={name}>
          <MiddleName name={name} />
        </button>
        {below !== undefined && below !== '' && <span className="file-below muted">{below}</span>}
      </div>
      <div role="gridcell" className="file-size number">
        {isDirectory ? '' : formatBytes(size)}
      </div>
      <div
        role="gridcell"
        className="file-modifiedAt number"
        {...(isDated ? { title: formatDateTime(modifiedAt) } : {})}
      >
        {isDated ? formatShortTime(modifiedAt) : ''}
      </div>
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
