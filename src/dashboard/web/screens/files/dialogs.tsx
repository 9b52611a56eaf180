/** The dialogs for moving, copying and deleting files, and for a new folder. */
import { useState, type ReactElement } from 'react';
import { request, segment } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { NewJob } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { Confirm, FormDialog } from '../../ui/form-dialog.tsx';
import { ChoiceField, TextField } from '../../ui/fields.tsx';
import { FolderField } from '../../ui/folder-picker.tsx';
import { useConnectionOptions, usePreferredConnections } from '../../ui/connection-status.tsx';
import { joinPath } from '../../ui/paths.ts';
import { enqueueCopy, enqueueDelete, enqueueMove } from './queue.ts';
import type { Entry } from './queue-types.ts';

interface Shared {
  readonly connectionId: string;
  readonly onClose: () => void;
}

interface OfSelection extends Shared {
  /** The current folder. */
  readonly folder: string;
  readonly entries: readonly Entry[];
  /** Called once the work is queued. The queue shows its progress. */
  readonly onDone: () => void;
}

export function NewFolder({ connectionId, folder, onClose }: Shared & { readonly folder: string }): ReactElement {
  const [name, setName] = useState('');
  const make = useAction(
    (made: string) => request('POST', `/api/mkdir/${segment(connectionId)}`, { path: joinPath(folder, made) }),
    {
      says: t.words.folderCreated,
      refreshes: [`/api/list/${segment(connectionId)}`],
      showsError: true,
      onDone: onClose,
    },
  );
  return (
    <FormDialog
      title={t.files.newFolder}
      verb={t.queue.makeFolder}
      isBusy={make.isPending}
      error={make.error}
      onClose={onClose}
      onSend={() => make.mutate(name)}
    >
      <TextField label={t.words.name} required value={name} onText={setName} isFirst />
    </FormDialog>
  );
}

export function MoveFiles({ connectionId, folder, entries, onClose, onDone }: OfSelection): ReactElement {
  const [target, setTarget] = useState(folder);
  const [first] = entries;
  return (
    <FormDialog
      title={entries.length === 1 && first ? t.queue.moveTitle(first.name) : t.queue.moveMany(entries.length)}
      verb={t.files.move}
      onClose={onClose}
      onSend={() => {
        enqueueMove(connectionId, target, entries);
        onDone();
      }}
    >
      <FolderField
        label={t.queue.toFolder}
        hint={t.queue.moveHint}
        required
        fault={target === folder ? t.queue.sameFolder : undefined}
        connectionId={connectionId}
        value={target}
        onText={setTarget}
        isFirst
      />
    </FormDialog>
  );
}

export function DeleteFiles({ connectionId, folder, entries, onClose, onDone }: OfSelection): ReactElement {
  const [first] = entries;
  const folders = entries.filter(({ isDirectory }) => isDirectory).length;
  return (
    <Confirm
      title={entries.length === 1 && first ? t.words.removing(first.name) : t.queue.deleteMany(entries.length)}
      verb={t.files.delete}
      names={entries.length > 1 ? entries.map(({ name }) => name) : []}
      onClose={onClose}
      onConfirm={() => {
        enqueueDelete(connectionId, folder, entries);
        onDone();
      }}
    >
      <div className="stack tight">
        {folders > 0 && <p>{t.queue.deleteFolders(folders)}</p>}
        <p>{t.queue.deleteForGood}</p>
      </div>
    </Confirm>
  );
}

type Rule = keyof typeof t.queue.inFoldersRules;

export function CopyFiles({ connectionId, folder, entries, onClose, onDone }: OfSelection): ReactElement {
  const read = useRead('/manage/connections');
  const optionsOf = useConnectionOptions();
  const targets = (read.data?.connections ?? []).filter(({ isActive }) => isActive);
  const [chosen, setChosen] = useState<string>();
  const [targetFolder, setTargetFolder] = useState(folder);
  const [rule, setRule] = useState<NonNullable<NewJob['onConflict']>>('skip');
  const preferred = usePreferredConnections() ?? [];
  const target = chosen ?? (preferred.find(({ id }) => id !== connectionId) ?? preferred[0])?.id ?? '';
  const [first] = entries;
  return (
    <FormDialog
      title={entries.length === 1 && first ? t.queue.copyTitle(first.name) : t.queue.copyMany(entries.length)}
      verb={t.queue.copy}
      onClose={onClose}
      onSend={() => {
        enqueueCopy(connectionId, entries, { connectionId: target, folder: targetFolder }, rule);
        onDone();
      }}
    >
      <ChoiceField
        label={t.queue.toConnection}
        required
        value={target}
        onText={setChosen}
        options={optionsOf(targets)}
      />
      <FolderField
        label={t.queue.folderThere}
        required
        connectionId={target}
        value={targetFolder}
        onText={setTargetFolder}
        hint={t.queue.copyHint}
      />
      {entries.some(({ isDirectory }) => isDirectory) && (
        <ChoiceField
          label={t.queue.inFolders}
          value={rule}
          onText={(text) => setRule(text as Rule)}
          options={Object.entries(t.queue.inFoldersRules)}
        />
      )}
    </FormDialog>
  );
}
