/** A watch, a new one or one that is changed: what is typed, and the request it becomes. */
import { type ReactElement, useState } from 'react';
import { useLocation } from 'wouter';
import { request } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Connection, WatchedFolder } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { LinkButton } from '../../ui/basics.tsx';
import { Dialog, FormDialog } from '../../ui/dialog.tsx';
import { CheckField, ChoiceField, TextField } from '../../ui/fields.tsx';
import { FolderField } from '../../ui/folder-picker.tsx';
import { useConnectionOptions } from '../connection/status.tsx';

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
  const optionsOf = useConnectionOptions();
  const usable = (connections.data?.connections ?? []).filter(({ isActive }) => isActive);
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState(former === undefined ? NEW_WATCH : draftOf(former));
  const draft = { ...typed, connectionId: typed.connectionId === '' ? (usable[0]?.id ?? '') : typed.connectionId };
  const type = (to: Partial<WatchDraft>): void => setTyped((former) => ({ ...former, ...to }));
  const create = useAction(() => request<WatchedFolder>('POST', '/manage/watched-folders', toRequest(draft)), {
    says: t.watched.form.added,
    refreshes: ['/manage/watched-folders'],
    showsError: true,
    onDone: ({ id }) => navigate(`/watched/${id}`),
  });
  const change = useAction(
    (folder: WatchedFolder) =>
      request<WatchedFolder>('PATCH', `/manage/watched-folders/${folder.id}`, toChanges(draft, folder)),
    { says: t.watched.form.saved, refreshes: ['/manage/watched-folders'], showsError: true, onDone: onClose },
  );
  const field = bound(draft, type);
  const words = t.watched.form;
  const { error } = former === undefined ? create : change;
  if (former === undefined && connections.data !== undefined && usable.length === 0) {
    return (
      <Dialog title={t.watched.add} onClose={onClose} size="small">
        <p>{t.watched.form.needsConnection}</p>
        <div className="dialog-actions">
          <LinkButton href="/connections/new" look="primary">
            {t.watched.form.addConnection}
          </LinkButton>
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={former === undefined ? t.watched.add : t.watched.form.editTitle(former.name)}
      verb={former === undefined ? t.watched.form.addVerb : t.watched.form.save}
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
          <ChoiceField label={words.connection} {...field('connectionId')} options={optionsOf(usable)} />
        )}
        <FolderField
          label={words.folder}
          required
          {...field('path')}
          connectionId={draft.connectionId}
          placeholder="/incoming"
          hint={former === undefined ? words.folderHint : words.folderAnew}
          isFirst
        />
        <TextField label={words.name} {...field('name')} hint={words.nameHint} />
        <TextField label={words.minutes} type="number" min={1} max={1440} required {...field('scheduleMinutes')} />
        <TextField
          label={words.pattern}
          term="glob"
          {...field('filePattern')}
          placeholder="*.csv"
          hint={words.patternHint}
        />
        <TextField label={words.exclude} {...field('excludePattern')} placeholder="draft-*" />
      </div>
      <TextField
        label={words.webhook}
        term="webhook"
        type="url"
        {...field('webhookUrl')}
        placeholder="https://example.com/hooks/files"
        hint={words.webhookHint}
      />
      <CheckField
        label={words.modified}
        hint={words.modifiedHint}
        checked={draft.detectModified}
        onCheck={(detectModified) => type({ detectModified })}
      />
      <CheckField label={words.recursive} checked={draft.recursive} onCheck={(recursive) => type({ recursive })} />
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
  const words = t.watched.form;
  const known = useConnectionOptions()(connections);
  const { copyConnection } = draft;
  // Of a connection that is switched off, or gone.
  const isMissing = copyConnection !== '' && !known.some(([id]) => id === copyConnection);
  return (
    <div className="form-grid">
      <ChoiceField
        label={words.copyTo}
        term="route"
        {...field('copyConnection')}
        options={[['', words.nowhere], ...known, ...(isMissing ? [[copyConnection, copyConnection] as const] : [])]}
        hint={words.copyHint}
      />
      {copyConnection !== '' && (
        <>
          <FolderField
            label={words.copyFolder}
            required
            {...field('copyPath')}
            connectionId={copyConnection}
            placeholder="/from-partner"
            hint={words.copyFolderHint}
          />
          <TextField
            label={words.copyName}
            {...field('copyTemplate')}
            placeholder="{date}-{filename}"
            hint={words.copyNameHint}
          />
          <ChoiceField label={words.conflict} {...field('copyConflict')} options={Object.entries(words.conflicts)} />
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
  const words = t.watched.form;
  const isFollowed = hasEnd(draft);
  return (
    <details>
      <summary>{words.more}</summary>
      <div className="form-grid">
        <ChoiceField
          label={words.initial}
          term="baseline"
          {...field('initial')}
          options={[
            ['ignore', words.initialIgnore],
            ['report', words.initialReport],
          ]}
        />
        <TextField
          label={words.doneFile}
          {...field('doneFile')}
          placeholder="{filename}.done"
          hint={words.doneFileHint}
        />
        <TextField
          label={words.minAge}
          type="number"
          min={0}
          max={604_800}
          {...field('minAgeSeconds')}
          hint={words.minAgeHint}
        />
        <TextField
          label={words.alarm}
          type="number"
          min={1}
          max={525_600}
          {...field('expectEveryMinutes')}
          hint={words.alarmHint}
        />
        <ChoiceField
          label={words.after}
          {...field('afterDelivery')}
          {...(isFollowed ? {} : { value: 'keep', disabled: true })}
          options={Object.entries(words.afterChoices)}
          hint={isFollowed ? words.afterHint : words.afterNeeds}
        />
        {isFollowed && draft.afterDelivery === 'move' && (
          <FolderField
            label={words.moveTo}
            {...field('moveTo')}
            connectionId={draft.connectionId}
            placeholder="processed"
            hint={words.moveToHint}
          />
        )}
      </div>
    </details>
  );
}
