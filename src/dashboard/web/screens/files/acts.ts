/** The menu entries for one or several files. */
import type { FileInfo } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { writeClipboard } from '../../ui/basics.tsx';
import { Copy, Download, Eye, FolderOpen, Layers, Link2, Check } from '../../ui/icons.tsx';
import { Pencil, Trash2 } from '../../ui/later-icons.ts';
import { showToast } from '../../toasts.ts';
import { kindOf, MOST_TEXT } from './content.ts';
import type { FileAct } from './file-menu.tsx';
import { isInRawFolder } from '../../ui/paths.ts';
import { curlLine, download, linkTo } from './links.ts';

interface FileActions {
  readonly connectionId: string;
  readonly open: (file: FileInfo) => void;
  readonly edit: (file: FileInfo) => void;
  readonly rename: (file: FileInfo) => void;
  readonly move: (files: readonly FileInfo[]) => void;
  readonly copy: (files: readonly FileInfo[]) => void;
  readonly remove: (files: readonly FileInfo[]) => void;
  readonly select: (files: readonly FileInfo[]) => void;
  /** Opens the form of a link that takes files into this folder, or gives this file. */
  readonly share: (file: FileInfo) => void;
  /** Opens the form of a job whose source is this folder. */
  readonly asJob: (file: FileInfo) => void;
  /** Shows the folder that contains a search result; undefined outside a search. */
  readonly showFolder: ((file: FileInfo) => void) | undefined;
}

export function actsFor(files: readonly FileInfo[], actions: FileActions): readonly (readonly FileAct[])[] {
  const { connectionId } = actions;
  const single = files.length === 1 ? files[0] : undefined;
  const isZip = single === undefined || single.isDirectory;
  const texts = (of: (file: FileInfo) => string): string => files.map(of).join('\n');
  return [
    single === undefined ? [] : openActs(single, actions),
    [
      {
        label: isZip ? t.files.downloadZip : t.files.download,
        icon: Download,
        run: () => download(connectionId, files),
      },
    ],
    [
      ...(single === undefined || isInRawFolder(single)
        ? []
        : [{ label: t.files.menu.rename, icon: Pencil, keys: 'F2', run: () => actions.rename(single) }]),
      { label: t.files.menu.move, icon: FolderOpen, run: () => actions.move(files) },
      { label: t.files.menu.copy, icon: Copy, run: () => actions.copy(files) },
      ...(single?.isDirectory === true
        ? [{ label: t.files.menu.asJob, icon: Layers, run: () => actions.asJob(single) }]
        : []),
    ],
    [
      ...(single === undefined || single.rawName !== undefined
        ? []
        : [{ label: t.files.share, icon: Link2, run: () => actions.share(single) }]),
      { label: t.files.menu.copyPath, run: () => toClipboard(texts(({ path }) => path)) },
      { label: t.files.menu.copyCurl, run: () => toClipboard(texts((file) => curlLine(connectionId, file))) },
      { label: t.files.copyLink, run: () => toClipboard(texts((file) => linkTo(connectionId, file))) },
    ],
    [{ label: t.files.menu.select, icon: Check, run: () => actions.select(files) }],
    [{ label: t.files.menu.delete, icon: Trash2, keys: 'Del', isDanger: true, run: () => actions.remove(files) }],
  ];
}

function openActs(file: FileInfo, { open, edit, showFolder }: FileActions): readonly FileAct[] {
  const isText = !file.isDirectory && !['image', 'pdf'].includes(kindOf(file.name));
  return [
    file.isDirectory
      ? { label: t.files.menu.open, icon: FolderOpen, run: () => open(file) }
      : { label: t.files.menu.preview, icon: Eye, run: () => open(file) },
    ...(isText && file.size <= MOST_TEXT && file.rawName === undefined
      ? [{ label: t.files.edit.begin, icon: Pencil, run: () => edit(file) }]
      : []),
    ...(showFolder === undefined
      ? []
      : [{ label: t.files.menu.showFolder, icon: FolderOpen, run: () => showFolder(file) }]),
  ];
}

function toClipboard(text: string): void {
  writeClipboard(text).then(
    () => showToast(t.common.copied),
    () => showToast(t.files.notCopied, 'bad'),
  );
}
