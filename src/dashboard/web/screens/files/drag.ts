/** Drags of list entries and of local files. */
import type { DragEvent } from 'react';
import { showToast } from '../../toasts.ts';
import { t } from '../../texts/texts.ts';
import type { FileInfo } from '../../api/types.ts';
import { parentOf } from '../../ui/paths.ts';
import { enqueueDrop, enqueueMove } from './queue.ts';

interface Dragged {
  readonly connectionId: string;
  readonly files: readonly FileInfo[];
}

/** During a drag, browsers only expose the types of the data, so the entries are kept here. */
let dragged: Dragged | undefined;
const ENTRIES_TYPE = 'application/x-ftg-entries';

export function startDrag(event: DragEvent, connectionId: string, files: readonly FileInfo[]): void {
  dragged = { connectionId, files };
  event.dataTransfer.effectAllowed = 'move';
  event.dataTransfer.setData(ENTRIES_TYPE, '');
  event.dataTransfer.setData('text/plain', files.map(({ path }) => path).join('\n'));
}

/** Whether the dragged items may be dropped into this folder. If so, the event is handled. */
export function takesDrop(event: DragEvent, connectionId: string, folder: string): boolean {
  if (!hasFiles(event) && !canMove(event, connectionId, folder)) return false;
  event.preventDefault();
  event.stopPropagation();
  event.dataTransfer.dropEffect = hasFiles(event) ? 'copy' : 'move';
  return true;
}

export function dropInto(event: DragEvent, connectionId: string, folder: string): void {
  if (!takesDrop(event, connectionId, folder)) return;
  if (hasFiles(event)) return enqueueDrop(connectionId, folder, event.dataTransfer);
  const files = dragged?.files ?? [];
  enqueueMove(connectionId, folder, files);
  showToast(t.files.movesTo(files.length, folder));
}

export function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer.types.includes('Files');
}

/** Entries cannot be moved into themselves, below themselves, or into their current folder. */
function canMove({ dataTransfer }: DragEvent, connectionId: string, folder: string): boolean {
  if (dragged?.connectionId !== connectionId || !dataTransfer.types.includes(ENTRIES_TYPE)) return false;
  return dragged.files.every(
    ({ path }) => parentOf(path) !== folder && path !== folder && !folder.startsWith(`${path}/`),
  );
}
