/** A new watch: where, how often, what for. */
import { useState, type ReactElement } from 'react';
import { useLocation } from 'wouter';
import { request } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Connection, WatchedFolder } from '../../api/types.ts';
import { Button, LinkButton, Notice } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckField, ChoiceField, TextField } from '../../ui/fields.tsx';
import { NEW_WATCH, toRequest, type WatchDraft } from './draft.ts';
import { WatchOptions } from './watch-options.tsx';

export function WatchForm({ onClose }: { readonly onClose: () => void }): ReactElement {
  const connections = useRead<{ connections: Connection[] }>('/manage/connections');
  const usable = (connections.data?.connections ?? []).filter(({ isActive }) => isActive);
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState(NEW_WATCH);
  const draft = { ...typed, connectionId: typed.connectionId === '' ? (usable[0]?.id ?? '') : typed.connectionId };
  const change = (to: Partial<WatchDraft>): void => setTyped((former) => ({ ...former, ...to }));
  const create = useAction(() => request<WatchedFolder>('POST', '/manage/watched-folders', toRequest(draft)), {
    says: 'The folder is watched',
    refreshes: ['/manage/watched-folders'],
    showsError: true,
    onDone: ({ id }) => navigate(`/watched/${id}`),
  });
  if (connections.data !== undefined && usable.length === 0) {
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
    <Dialog title="Watch a folder" onClose={onClose} keepsOpen>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate(undefined);
        }}
      >
        <div className="form-grid">
          <ChoiceField
            label="Connection"
            value={draft.connectionId}
            onText={(connectionId) => change({ connectionId })}
            options={usable.map(({ id, name }) => [id, name] as const)}
          />
          <TextField
            label="Folder"
            required
            value={draft.path}
            onText={(path) => change({ path })}
            placeholder="/incoming"
            hint="It has to exist."
            isFirst
          />
          <TextField
            label="Name"
            value={draft.name}
            onText={(name) => change({ name })}
            hint="Empty: the folder's name."
          />
          <TextField
            label="Every so many minutes"
            type="number"
            min={1}
            max={1440}
            required
            value={draft.scheduleMinutes}
            onText={(scheduleMinutes) => change({ scheduleMinutes })}
          />
          <TextField
            label="Only files like"
            value={draft.filePattern}
            onText={(filePattern) => change({ filePattern })}
            placeholder="*.csv"
            hint="With / or ** folders below are watched too."
          />
          <TextField
            label="But not files like"
            value={draft.excludePattern}
            onText={(excludePattern) => change({ excludePattern })}
            placeholder="draft-*"
          />
        </div>
        <TextField
          label="Webhook"
          type="url"
          value={draft.webhookUrl}
          onText={(webhookUrl) => change({ webhookUrl })}
          placeholder="https://example.com/hooks/files"
          hint="Gets a signed POST with the files found. Empty: they show in the history alone."
        />
        <CheckField
          label="Report changed files too"
          hint="A file whose size or date is another one."
          checked={draft.detectModified}
          onCheck={(detectModified) => change({ detectModified })}
        />
        <CheckField
          label="Look into folders below too"
          checked={draft.recursive}
          onCheck={(recursive) => change({ recursive })}
        />
        <WatchOptions draft={draft} onChange={change} />
        {create.error !== null && (
          <Notice tone="bad" isAlert>
            {create.error.message}
          </Notice>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>Discard</Button>
          <Button
            look="primary"
            type="submit"
            isBusy={create.isPending}
            disabled={draft.path.trim() === '' || draft.connectionId === ''}
          >
            Watch the folder
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
