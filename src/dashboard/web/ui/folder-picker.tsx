/** A field for a folder of a connection: typed, or chosen from its listings. */
import { type ComponentProps, type ReactElement, useEffect, useRef, useState } from 'react';
import { segment, withQuery } from '../api/client.ts';
import { useRead } from '../api/hooks.ts';
import { t } from '../texts/texts.ts';
import { Button, Pending } from './basics.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './fields.tsx';
import { CornerLeftUp, Folder } from './later-icons.ts';
import { crumbsOf, parentOf } from './paths.ts';

type FieldProps = Omit<ComponentProps<typeof TextField>, 'value' | 'onText'> & {
  readonly value: string;
  readonly onText: (path: string) => void;
  /** Empty while no connection is chosen. */
  readonly connectionId: string;
};

export function FolderField({ connectionId, ...field }: FieldProps): ReactElement {
  const { label, value, onText } = field;
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="folder-field">
      <TextField {...field} />
      <Button
        disabledBecause={connectionId === '' && t.common.off.connection}
        aria-label={t.folders.browseFor(label)}
        onClick={() => setOpen(true)}
      >
        {t.folders.browse}
      </Button>
      {isOpen && (
        <FolderPicker
          connectionId={connectionId}
          from={value.trim()}
          onClose={() => setOpen(false)}
          onChoose={(path) => {
            onText(path);
            setOpen(false);
          }}
        />
      )}
    </div>
  );
}

interface PickerProps {
  readonly connectionId: string;
  /** The first folder; empty = the connection's root. */
  readonly from: string;
  readonly onChoose: (path: string) => void;
  readonly onClose: () => void;
}

function FolderPicker({ connectionId, from, onChoose, onClose }: PickerProps): ReactElement {
  const [wanted, setWanted] = useState(from);
  const connections = useRead('/manage/connections');
  const name = connections.data?.connections.find(({ id }) => id === connectionId)?.name ?? connectionId;
  const read = useRead(withQuery(`/api/list/${segment(connectionId)}`, { path: wanted }));
  const path = read.data?.path ?? (wanted === '' ? '/' : wanted);
  const inside = useRef<HTMLDivElement>(null);
  const hasMoved = useRef(false);
  // The pressed row no longer exists, so the focus moves to the new list.
  useEffect(() => {
    if (hasMoved.current && read.data !== undefined) inside.current?.focus();
  }, [read.data]);
  const goTo = (to: string): void => {
    hasMoved.current = true;
    setWanted(to);
  };
  const folders = (read.data?.files ?? []).filter(({ isDirectory }) => isDirectory);
  return (
    <Dialog title={t.folders.title(name)} onClose={onClose} size="medium">
      <Crumbs path={path} onGo={goTo} />
      <div ref={inside} tabIndex={-1} role="group" aria-label={path} className="folder-picker">
        {read.data === undefined ? (
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        ) : folders.length === 0 ? (
          <p className="muted">{t.folders.none}</p>
        ) : (
          <ul aria-label={t.folders.list}>
            {folders.map((folder) => (
              <li key={folder.path}>
                <button type="button" onClick={() => goTo(folder.path)}>
                  <Folder aria-hidden size={16} />
                  {folder.name}
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      <div className="dialog-actions">
        <Button
          icon={CornerLeftUp}
          disabledBecause={path === '/' && t.common.off.root}
          onClick={() => goTo(parentOf(path))}
        >
          {t.folders.up}
        </Button>
        <Button
          variant="primary"
          disabledBecause={read.data === undefined && t.common.notLoaded}
          onClick={() => onChoose(path)}
        >
          {t.folders.choose}
        </Button>
      </div>
    </Dialog>
  );
}

function Crumbs({ path, onGo }: { readonly path: string; readonly onGo: (path: string) => void }): ReactElement {
  return (
    <nav aria-label={t.words.path} className="row folder-picker-path">
      <Button variant="quiet" onClick={() => onGo('/')}>
        {t.folders.root}
      </Button>
      {crumbsOf(path).map(({ name, path: to }) => (
        <Button key={to} variant="quiet" aria-current={to === path ? 'location' : undefined} onClick={() => onGo(to)}>
          / {name}
        </Button>
      ))}
    </nav>
  );
}
