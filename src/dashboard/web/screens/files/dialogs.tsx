/** What is asked before files are renamed, moved, copied or deleted, or a folder is made. */
import { useState, type ReactElement } from 'react';
import { request, segment } from '../../api/client.ts';
import { refresh, useAction, useRead } from '../../api/hooks.ts';
import type { Connection, FileInfo } from '../../api/types.ts';
import { formatNumber } from '../../format.ts';
import { Progress } from '../../ui/basics.tsx';
import { Confirm, FormDialog } from '../../ui/dialog.tsx';
import { ChoiceField, TextField } from '../../ui/fields.tsx';
import { showToast } from '../../ui/toast.tsx';
import { joinPath, nameOf, parentOf } from './paths.ts';
import { addTasks } from './queue.ts';

interface Shared {
  readonly connectionId: string;
  readonly onClose: () => void;
}

function TextDialog(props: {
  readonly title: string;
  readonly verb: string;
  readonly label: string;
  readonly initial: string;
  readonly hint?: string;
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly onText: (text: string) => void;
  readonly onClose: () => void;
}): ReactElement {
  const { title, verb, label, initial, hint, isBusy, error, onText, onClose } = props;
  const [text, setText] = useState(initial);
  return (
    <FormDialog
      title={title}
      verb={verb}
      isBusy={isBusy}
      isReady={text.trim() !== '' && text !== initial}
      error={error}
      onClose={onClose}
      onSend={() => onText(text)}
    >
      <TextField label={label} hint={hint} required value={text} onText={setText} isFirst />
    </FormDialog>
  );
}

export function NewFolder({ connectionId, folder, onClose }: Shared & { readonly folder: string }): ReactElement {
  const make = useAction(
    (name: string) => request('POST', `/api/mkdir/${segment(connectionId)}`, { path: joinPath(folder, name) }),
    { says: 'Folder made', refreshes: [`/api/list/${segment(connectionId)}`], showsError: true, onDone: onClose },
  );
  return (
    <TextDialog
      title="New folder"
      verb="Make the folder"
      label="Name"
      initial=""
      isBusy={make.isPending}
      error={make.error}
      onText={make.mutate}
      onClose={onClose}
    />
  );
}

export function Rename({ connectionId, file, onClose }: Shared & { readonly file: FileInfo }): ReactElement {
  const move = useAction(
    (name: string) =>
      request('POST', `/api/move/${segment(connectionId)}`, {
        from: file.path,
        rawName: file.rawName,
        to: joinPath(parentOf(file.path), name),
      }),
    { says: 'Renamed', refreshes: [`/api/list/${segment(connectionId)}`], showsError: true, onDone: onClose },
  );
  return (
    <TextDialog
      title={`Rename ${file.name}`}
      verb="Rename"
      label="New name"
      initial={file.name}
      isBusy={move.isPending}
      error={move.error}
      onText={move.mutate}
      onClose={onClose}
    />
  );
}

/** Where one fails, those before it leave the list and with it the selection: trying again begins with the failed one. */
async function forEach(
  paths: readonly string[],
  list: string,
  run: (path: string, index: number) => Promise<unknown>,
): Promise<void> {
  try {
    for (const [index, path] of paths.entries()) await run(path, index);
  } catch (error) {
    await refresh(list);
    throw error;
  }
}

export function MoveFiles({
  connectionId,
  folder,
  paths,
  onClose,
}: Shared & { readonly folder: string; readonly paths: readonly string[] }): ReactElement {
  const list = `/api/list/${segment(connectionId)}`;
  const move = useAction(
    (target: string) =>
      forEach(paths, list, (path) =>
        request('POST', `/api/move/${segment(connectionId)}`, { from: path, to: joinPath(target, nameOf(path)) }),
      ),
    { says: 'Moved', showsError: true, refreshes: [list], onDone: onClose },
  );
  return (
    <TextDialog
      title={paths.length === 1 ? `Move ${nameOf(paths[0] ?? '')}` : `Move ${formatNumber(paths.length)} items`}
      verb="Move"
      label="To the folder"
      hint="A folder that is missing is made. Nothing there is replaced."
      initial={folder}
      isBusy={move.isPending}
      error={move.error}
      onText={move.mutate}
      onClose={onClose}
    />
  );
}

export function DeleteFiles({
  connectionId,
  paths,
  onClose,
  onDone,
}: Shared & { readonly paths: readonly string[]; readonly onDone: () => void }): ReactElement {
  const [deleted, setDeleted] = useState(0);
  const list = `/api/list/${segment(connectionId)}`;
  const remove = useAction(
    () =>
      forEach(paths, list, async (path, index) => {
        await request('POST', `/api/delete/${segment(connectionId)}`, { path });
        setDeleted(index + 1);
      }),
    {
      showsError: true,
      refreshes: [list],
      onDone: () => {
        showToast(paths.length === 1 ? 'Deleted' : `${formatNumber(paths.length)} files deleted`);
        onDone();
      },
    },
  );
  return (
    <Confirm
      title={paths.length === 1 ? `Delete ${nameOf(paths[0] ?? '')}?` : `Delete ${formatNumber(paths.length)} files?`}
      verb="Delete"
      isBusy={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate(undefined)}
    >
      <div className="stack tight">
        <p>The server keeps no copy. This cannot be undone.</p>
        {remove.isPending && paths.length > 1 && <Progress value={deleted} max={paths.length} label="Deleted" />}
      </div>
    </Confirm>
  );
}

export function CopyFiles({
  connectionId,
  folder,
  paths,
  onClose,
}: Shared & { readonly folder: string; readonly paths: readonly string[] }): ReactElement {
  const read = useRead<{ connections: Connection[] }>('/manage/connections');
  const targets = (read.data?.connections ?? []).filter(({ isActive }) => isActive);
  const [chosen, setChosen] = useState<string>();
  const [targetFolder, setTargetFolder] = useState(folder);
  const target = chosen ?? targets.find(({ id }) => id !== connectionId)?.id ?? targets[0]?.id ?? '';
  return (
    <FormDialog
      title={paths.length === 1 ? `Copy ${nameOf(paths[0] ?? '')}` : `Copy ${formatNumber(paths.length)} files`}
      verb="Copy"
      isReady={target !== ''}
      onClose={onClose}
      onSend={() => {
        addTasks(
          paths.map((path) => ({
            kind: 'copy',
            name: nameOf(path),
            from: { connectionId, path },
            connectionId: target,
            folder: targetFolder,
            path: joinPath(targetFolder, nameOf(path)),
          })),
        );
        onClose();
      }}
    >
      <ChoiceField
        label="To the connection"
        value={target}
        onText={setChosen}
        options={targets.map(({ id, name }) => [id, name] as const)}
      />
      <TextField
        label="Folder there"
        required
        value={targetFolder}
        onText={setTargetFolder}
        hint="A folder that is missing is made. A file of the same name is replaced only when you say so."
      />
    </FormDialog>
  );
}
