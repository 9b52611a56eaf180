/** A watch, a new one or one that is changed: where, how often, what for. */
import { useState, type ReactElement } from 'react';
import { useLocation } from 'wouter';
import { request } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Connection, WatchedFolder } from '../../api/types.ts';
import { LinkButton } from '../../ui/basics.tsx';
import { Dialog, FormDialog } from '../../ui/dialog.tsx';
import { CheckField, ChoiceField, TextField } from '../../ui/fields.tsx';
import { draftOf, NEW_WATCH, toChanges, toRequest, type WatchDraft } from './draft.ts';
import { WatchOptions } from './watch-options.tsx';

interface Props {
  /** Absent = a new one. */
  readonly former?: WatchedFolder;
  readonly onClose: () => void;
}

export function WatchForm({ former, onClose }: Props): ReactElement {
  const connections = useRead<{ connections: Connection[] }>('/manage/connections');
  const usable = (connections.data?.connections ?? []).filter(({ isActive }) => isActive);
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState(former === undefined ? NEW_WATCH : draftOf(former));
  const draft = { ...typed, connectionId: typed.connectionId === '' ? (usable[0]?.id ?? '') : typed.connectionId };
  const type = (to: Partial<WatchDraft>): void => setTyped((former) => ({ ...former, ...to }));
  const create = useAction(() => request<WatchedFolder>('POST', '/manage/watched-folders', toRequest(draft)), {
    says: 'The folder is watched',
    refreshes: ['/manage/watched-folders'],
    showsError: true,
    onDone: ({ id }) => navigate(`/watched/${id}`),
  });
  const change = useAction(
    (folder: WatchedFolder) =>
      request<WatchedFolder>('PATCH', `/manage/watched-folders/${folder.id}`, toChanges(draft, folder)),
    { says: 'Changed', refreshes: ['/manage/watched-folders'], showsError: true, onDone: onClose },
  );
  const { error } = former === undefined ? create : change;
  if (former === undefined && connections.data !== undefined && usable.length === 0) {
    return (
      <Dialog title="Watch a folder" onClose={onClose} size="small">
        <p>A watched folder stands on a server. Add its connection first, or switch one on.</p>
        <div className="dialog-actions">
          <LinkButton href="/connections/new" look="primary">
            Add a connection
          </LinkButton>
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={former === undefined ? 'Watch a folder' : `Change ${former.name}`}
      verb={former === undefined ? 'Watch the folder' : 'Save'}
      size="medium"
      keepsOpen
      isBusy={create.isPending || change.isPending}
      isReady={draft.path.trim() !== '' && draft.connectionId !== ''}
      error={error}
      onClose={onClose}
      onSend={() => {
        if (former === undefined) create.mutate(undefined);
        else change.mutate(former);
      }}
    >
      <div className="form-grid">
        {former === undefined && (
          <ChoiceField
            label="Connection"
            value={draft.connectionId}
            onText={(connectionId) => type({ connectionId })}
            options={usable.map(({ id, name }) => [id, name] as const)}
          />
        )}
        <TextField
          label="Folder"
          required
          value={draft.path}
          onText={(path) => type({ path })}
          placeholder="/incoming"
          hint={former === undefined ? 'It has to exist.' : 'Another one is a new start: what is there then is known.'}
          isFirst
        />
        <TextField label="Name" value={draft.name} onText={(name) => type({ name })} hint="Empty: the folder's name." />
        <TextField
          label="Every so many minutes"
          type="number"
          min={1}
          max={1440}
          required
          value={draft.scheduleMinutes}
          onText={(scheduleMinutes) => type({ scheduleMinutes })}
        />
        <TextField
          label="Only files like"
          value={draft.filePattern}
          onText={(filePattern) => type({ filePattern })}
          placeholder="*.csv"
          hint="With / or ** folders below are watched too."
        />
        <TextField
          label="But not files like"
          value={draft.excludePattern}
          onText={(excludePattern) => type({ excludePattern })}
          placeholder="draft-*"
        />
      </div>
      <TextField
        label="Webhook"
        type="url"
        value={draft.webhookUrl}
        onText={(webhookUrl) => type({ webhookUrl })}
        placeholder="https://example.com/hooks/files"
        hint="Gets a signed POST with the files found. Empty: they show in the history alone."
      />
      <CheckField
        label="Report changed files too"
        hint="A file whose size or date is another one."
        checked={draft.detectModified}
        onCheck={(detectModified) => type({ detectModified })}
      />
      <CheckField
        label="Look into folders below too"
        checked={draft.recursive}
        onCheck={(recursive) => type({ recursive })}
      />
      <WatchOptions draft={draft} onChange={type} />
    </FormDialog>
  );
}
