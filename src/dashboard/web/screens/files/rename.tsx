/** Renames an entry. The name without its extension is selected, so that typing keeps the extension. */
import { useRef, useState, type ReactElement } from 'react';
import { request, segment } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { FileInfo } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { joinPath, parentOf, stemLength } from '../../ui/paths.ts';

export function Rename(props: {
  readonly connectionId: string;
  readonly file: FileInfo;
  readonly onClose: () => void;
  readonly onDone: () => void;
}): ReactElement {
  const { connectionId, file, onClose, onDone } = props;
  const [name, setName] = useState(file.name);
  const isSelected = useRef(false);
  const select = (input: EventTarget): void => {
    if (isSelected.current || !(input instanceof HTMLInputElement)) return;
    isSelected.current = true;
    const end = file.isDirectory ? file.name.length : stemLength(file.name);
    // After the dialog, which may select the whole name when it sets the focus, and before the next key.
    queueMicrotask(() => input.setSelectionRange(0, end));
  };
  const move = useAction(
    () =>
      request('POST', `/api/move/${segment(connectionId)}`, {
        from: file.path,
        rawName: file.rawName,
        to: joinPath(parentOf(file.path), name),
      }),
    { says: t.files.renamed, refreshes: [`/api/list/${segment(connectionId)}`], showsError: true, onDone },
  );
  return (
    <FormDialog
      title={t.files.renameTitle(file.name)}
      verb={t.files.rename}
      isBusy={move.isPending}
      error={move.error}
      onClose={onClose}
      onSend={() => move.mutate(undefined)}
    >
      <div onFocus={(event) => select(event.target)}>
        <TextField
          label={t.files.newName}
          required
          fault={name === file.name ? t.files.sameName : undefined}
          value={name}
          onText={setName}
          isFirst
        />
      </div>
    </FormDialog>
  );
}
