/** A watch, a new one or one that is changed: what is typed, and the request it becomes. */
import { type ReactElement, useState } from 'react';
import { useLocation } from 'wouter';
import { request } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Connection, WatchedFolder } from '../../api/types.ts';
import { LinkButton } from '../../ui/basics.tsx';
import { Dialog, FormDialog } from '../../ui/dialog.tsx';
import { CheckField, ChoiceField, TextField } from '../../ui/fields.tsx';

const AFTER_DELIVERY = [
  ['keep', 'Leave it where it is'],
  ['move', 'Move it to another folder'],
  ['delete', 'Delete it'],
] as const;

const ON_CONFLICT = [
  ['replace', 'Is replaced'],
  ['skip', 'Stays, and the file is not copied'],
  ['newer', 'Is replaced if it is older'],
  ['rename', 'Stays, and the copy gets another name'],
  ['fail', 'Stays, and that is a failure'],
] as const;

/** What is typed for a watch, by the fields of the API. */
const NEW_WATCH = {
  connectionId: '',
  path: '',
  name: '',
  scheduleMinutes: '5',
  filePattern: '',
  excludePattern: '',
  webhookUrl: '',
  detectModified: false,
  recursive: false,
  initial: 'ignore',
  doneFile: '',
  minAgeSeconds: '',
  afterDelivery: 'keep',
  moveTo: '',
  expectEveryMinutes: '',
  copyConnection: '',
  copyPath: '',
  copyTemplate: '',
  copyConflict: 'replace',
};
type WatchDraft = Readonly<typeof NEW_WATCH>;
type Name = { [N in keyof WatchDraft]: WatchDraft[N] extends string ? N : never }[keyof WatchDraft];

const TEXTS = ['name', 'filePattern', 'excludePattern', 'webhookUrl', 'doneFile'] as const;
const NUMBERS = ['scheduleMinutes', 'minAgeSeconds', 'expectEveryMinutes'] as const;

/** The body of POST /manage/watched-folders: what was left empty is left out. */
function toRequest(draft: WatchDraft): Readonly<Record<string, unknown>> {
  const { connectionId, path, detectModified, recursive, initial } = draft;
  const afterDelivery = hasEnd(draft) ? draft.afterDelivery : 'keep';
  const moveTo = afterDelivery === 'move' ? draft.moveTo.trim() : '';
  const texts = TEXTS.map((name) => [name, draft[name].trim()] as const).filter(([, text]) => text !== '');
  const numbers = NUMBERS.filter((name) => draft[name] !== '').map((name) => [name, Number(draft[name])] as const);
  const filledIn = Object.fromEntries<string | number>([...texts, ...numbers]);
  return {
    connectionId,
    path: path.trim(),
    detectModified,
    recursive,
    initial,
    afterDelivery,
    moveTo: moveTo === '' ? undefined : moveTo,
    copyTo: copyToOf(draft),
    ...filledIn,
  };
}

/** Without a webhook or a copy there is nothing that anything could follow. */
const hasEnd = ({ webhookUrl, copyConnection }: WatchDraft): boolean =>
  webhookUrl.trim() !== '' || copyConnection !== '';

function copyToOf({ copyConnection, copyPath, copyTemplate, copyConflict }: WatchDraft): object | null {
  if (copyConnection === '') return null;
  const template = copyTemplate.trim();
  const renamed = template === '' ? {} : { filename_template: template };
  return { connectionId: copyConnection, path: copyPath.trim(), ...renamed, onConflict: copyConflict };
}

/** A watch as it stands, to be changed. */
function draftOf(folder: WatchedFolder): WatchDraft {
  const typed = (value: string | number | boolean | null) => (typeof value === 'boolean' ? value : String(value ?? ''));
  const { copyTo } = folder;
  const flat = {
    ...folder,
    copyConnection: copyTo?.connectionId ?? '',
    copyPath: copyTo?.path ?? '',
    copyTemplate: copyTo?.filename_template ?? '',
    copyConflict: copyTo?.onConflict ?? 'replace',
  };
  const names = Object.keys(NEW_WATCH) as (keyof WatchDraft)[];
  return Object.fromEntries(names.map((name) => [name, typed(flat[name])])) as WatchDraft;
}

/** A field's text, and what typing makes of the draft. */
function bound(draft: WatchDraft, onChange: (to: Partial<WatchDraft>) => void) {
  return (name: Name) => ({ value: draft[name], onText: (text: string) => onChange({ [name]: text }) });
}

/** The body of PATCH /manage/watched-folders/{id}: what was emptied is taken away. */
function toChanges(draft: WatchDraft, former: WatchedFolder): Readonly<Record<string, unknown>> {
  const { connectionId: _connection, path, ...wanted } = toRequest(draft);
  const texts = { filePattern: null, excludePattern: null, webhookUrl: null, doneFile: null };
  const emptied = { ...texts, expectEveryMinutes: null, minAgeSeconds: 0 };
  return { ...emptied, ...wanted, path: path === former.path ? undefined : path };
}

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
  const field = bound(draft, type);
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
      isReady={
        draft.path.trim() !== '' &&
        draft.connectionId !== '' &&
        (draft.copyConnection === '' || draft.copyPath.trim() !== '')
      }
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
            {...field('connectionId')}
            options={usable.map(({ id, name }) => [id, name] as const)}
          />
        )}
        <TextField
          label="Folder"
          required
          {...field('path')}
          placeholder="/incoming"
          hint={former === undefined ? 'It has to exist.' : 'Another one is a new start: what is there then is known.'}
          isFirst
        />
        <TextField label="Name" {...field('name')} hint="Empty: the folder's name." />
        <TextField
          label="Every so many minutes"
          type="number"
          min={1}
          max={1440}
          required
          {...field('scheduleMinutes')}
        />
        <TextField
          label="Only files like"
          {...field('filePattern')}
          placeholder="*.csv"
          hint="With / or ** folders below are watched too."
        />
        <TextField label="But not files like" {...field('excludePattern')} placeholder="draft-*" />
      </div>
      <TextField
        label="Webhook"
        type="url"
        {...field('webhookUrl')}
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
      <CopyOptions draft={draft} connections={usable} onChange={type} />
      <WatchOptions draft={draft} onChange={type} />
    </FormDialog>
  );
}

function CopyOptions({
  draft,
  connections,
  onChange,
}: {
  readonly draft: WatchDraft;
  readonly connections: readonly Connection[];
  readonly onChange: (to: Partial<WatchDraft>) => void;
}): ReactElement {
  const field = bound(draft, onChange);
  const known = connections.map(({ id, name }) => [id, name] as const);
  const { copyConnection } = draft;
  // Of a connection that is switched off, or gone.
  const isMissing = copyConnection !== '' && !known.some(([id]) => id === copyConnection);
  return (
    <div className="form-grid">
      <ChoiceField
        label="Copy each file to"
        {...field('copyConnection')}
        options={[['', 'Nowhere'], ...known, ...(isMissing ? [[copyConnection, copyConnection] as const] : [])]}
        hint="Before the webhook is told."
      />
      {copyConnection !== '' && (
        <>
          <TextField
            label="Folder of the copies"
            required
            {...field('copyPath')}
            placeholder="/from-partner"
            hint="Made where it is missing."
          />
          <TextField
            label="Name of the copies"
            {...field('copyTemplate')}
            placeholder="{date}-{filename}"
            hint="Empty: the file's own."
          />
          <ChoiceField label="A file that is there already" {...field('copyConflict')} options={ON_CONFLICT} />
        </>
      )}
    </div>
  );
}

function WatchOptions({
  draft,
  onChange,
}: {
  readonly draft: WatchDraft;
  readonly onChange: (to: Partial<WatchDraft>) => void;
}): ReactElement {
  const field = bound(draft, onChange);
  const isFollowed = hasEnd(draft);
  return (
    <details>
      <summary>More options</summary>
      <div className="form-grid">
        <ChoiceField
          label="Files that are there already"
          {...field('initial')}
          options={[
            ['ignore', 'Are the baseline, not reported'],
            ['report', 'Are reported like new ones'],
          ]}
        />
        <TextField
          label="Wait for a done file"
          {...field('doneFile')}
          placeholder="{filename}.done"
          hint="A file counts once this one is there too. {filename} is its name, {name} that without the extension."
        />
        <TextField
          label="Youngest age in seconds"
          type="number"
          min={0}
          max={604_800}
          {...field('minAgeSeconds')}
          hint="Younger files wait for a later check."
        />
        <TextField
          label="Alarm after minutes without a file"
          type="number"
          min={1}
          max={525_600}
          {...field('expectEveryMinutes')}
          hint="The webhook gets a message of its own. Empty: no alarm."
        />
        <ChoiceField
          label="Once the webhook has the message"
          {...field('afterDelivery')}
          {...(isFollowed ? {} : { value: 'keep', disabled: true })}
          options={AFTER_DELIVERY}
          hint={isFollowed ? 'What becomes of the file.' : 'Needs a webhook, or copies.'}
        />
        {isFollowed && draft.afterDelivery === 'move' && (
          <TextField
            label="Move it to"
            {...field('moveTo')}
            placeholder="processed"
            hint="Below the watched folder, or from the root with /."
          />
        )}
      </div>
    </details>
  );
}
