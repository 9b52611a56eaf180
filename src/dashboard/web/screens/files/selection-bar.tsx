/** The actions on the selected files. */
import type { ReactElement } from 'react';
import type { FileInfo } from '../../api/types.ts';
import { formatBytes } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Button, LinkButton } from '../../ui/basics.tsx';
import { Copy, Download, FolderOpen, Layers } from '../../ui/icons.tsx';
import { Pencil, Trash2 } from '../../ui/later-icons.ts';
import { SelectionBar } from '../../ui/selection.tsx';
import { newJobAddress } from './links.ts';

export function FilesBar(props: {
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
    <SelectionBar
      count={files.length}
      details={bytes > 0 ? t.files.bytesIn(formatBytes(bytes), hasFolder) : undefined}
      onClear={onClear}
    >
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
    </SelectionBar>
  );
}
