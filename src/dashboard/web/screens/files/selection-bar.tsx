/** The actions on the selection. */
import type { ReactElement } from 'react';
import type { FileInfo } from '../../api/types.ts';
import { formatBytes, formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Button, LinkButton } from '../../ui/basics.tsx';
import { Copy, Download, FolderOpen, Layers, Pencil, Trash2, X } from '../../ui/icons.tsx';
import { newJobAddress } from './links.ts';

export function SelectionBar(props: {
  readonly connectionId: string;
  readonly files: readonly FileInfo[];
  readonly onDownload: () => void;
  readonly onRename: () => void;
  readonly onMove: () => void;
  readonly onCopy: () => void;
  readonly onDelete: () => void;
  readonly onClear: () => void;
}): ReactElement {
  const { connectionId, files, onDownload, onRename, onMove, onCopy, onDelete, onClear } = props;
  const [first] = files;
  const hasFolder = files.some(({ isDirectory }) => isDirectory);
  const bytes = files.reduce((sum, { isDirectory, size }) => sum + (isDirectory ? 0 : size), 0);
  const isZip = files.length > 1 || hasFolder;
  return (
    <div className="selection-bar" role="toolbar" aria-label={t.files.selectionActions}>
      <span role="status">
        {t.files.selected(formatNumber(files.length))}
        {bytes > 0 && <span className="muted"> · {t.files.bytesIn(formatBytes(bytes), hasFolder)}</span>}
      </span>
      <Button icon={Download} onClick={onDownload}>
        {isZip ? t.files.downloadZip : t.files.download}
      </Button>
      {files.length === 1 && (
        <Button icon={Pencil} onClick={onRename}>
          {t.files.rename}
        </Button>
      )}
      <Button icon={FolderOpen} onClick={onMove}>
        {t.files.move}
      </Button>
      <Button icon={Copy} onClick={onCopy}>
        {t.files.copy}
      </Button>
      <Button icon={Trash2} onClick={onDelete}>
        {t.files.delete}
      </Button>
      {hasFolder && first !== undefined && files.length === 1 && (
        <LinkButton icon={Layers} href={newJobAddress(connectionId, first)}>
          {t.files.menu.asJob}
        </LinkButton>
      )}
      <Button variant="quiet" icon={X} aria-label={t.files.selectNone} onClick={onClear}>
        {t.files.clear}
      </Button>
    </div>
  );
}
