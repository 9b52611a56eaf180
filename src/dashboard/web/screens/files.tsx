/** The files of a connection: look around, send, fetch, move, copy, delete. */
import { useMemo, useRef, useState, type DragEvent, type ReactElement } from 'react';
import {
  Copy,
  CornerLeftUp,
  Download,
  FolderOpen,
  FolderPlus,
  Layers,
  Pencil,
  RefreshCw,
  Server,
  Trash2,
  Upload,
} from '../ui/icons.tsx';
import { Link, Redirect, useLocation, useSearchParams } from 'wouter';
import { segment, withQuery } from '../api/client.ts';
import { useRead } from '../api/hooks.ts';
import type { Connection, FileInfo, Listing } from '../api/types.ts';
import { formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { Button, Empty, LinkButton, Page, Panel, Pending } from '../ui/basics.tsx';
import { ChoiceField, TextField } from '../ui/fields.tsx';
import { CopyFiles, DeleteFiles, MoveFiles, NewFolder, Rename } from './files/dialogs.tsx';
import { downloadZip } from './files/bulk-download.ts';
import { enqueueDrop, enqueuePicked } from './files/queue.ts';
import { FileList } from './files/file-list.tsx';
import { crumbsOf, parentOf } from './files/paths.ts';
import { downloadUrl, Preview } from './files/preview.tsx';

export default function Files({ connectionId }: { readonly connectionId?: string }): ReactElement {
  const read = useRead<{ connections: Connection[] }>('/manage/connections');
  if (read.data === undefined) {
    return (
      <Page title="Files">
        <Panel>
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        </Panel>
      </Page>
    );
  }
  const usable = read.data.connections.filter(({ isActive }) => isActive);
  const first = usable[0];
  if (first === undefined) {
    return (
      <Page title="Files">
        <Panel>
          <Empty
            icon={Server}
            title="No connection to browse"
            action={<LinkButton href="/connections/new">Add a connection</LinkButton>}
          >
            Files live on the servers of your connections. Add one, or switch one on, and its folders appear here.
          </Empty>
        </Panel>
      </Page>
    );
  }
  if (connectionId === undefined) return <Redirect to={`/files/${encodeURIComponent(first.id)}`} replace />;
  return <Browser connectionId={connectionId} connections={usable} />;
}

type Open =
  | { readonly kind: 'folder' | 'move' | 'copy' | 'delete' }
  | { readonly kind: 'rename' | 'preview'; readonly file: FileInfo }
  | undefined;

function Browser({
  connectionId,
  connections,
}: {
  readonly connectionId: string;
  readonly connections: readonly Connection[];
}): ReactElement {
  const [parameters] = useSearchParams();
  const [, navigate] = useLocation();
  const wanted = parameters.get('path') ?? undefined;
  const read = useRead<Listing>(withQuery(`/api/list/${segment(connectionId)}`, { path: wanted }));
  const [search, setSearch] = useState('');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<Open>();
  const picker = useRef<HTMLInputElement>(null);
  const folderPicker = useRef<HTMLInputElement>(null);
  const folder = read.data?.path ?? wanted ?? '/';
  const files = useMemo(() => {
    const all = read.data?.files ?? [];
    const part = search.trim().toLowerCase();
    return part === '' ? all : all.filter(({ name }) => name.toLowerCase().includes(part));
  }, [read.data, search]);
  const chosen = useMemo(() => files.filter(({ path }) => selected.has(path)), [files, selected]);
  const [single] = chosen;
  const hasFolder = chosen.some(({ isDirectory }) => isDirectory);

  const goTo = (path: string): void => {
    setSelected(new Set());
    setSearch('');
    navigate(withQuery(`/files/${encodeURIComponent(connectionId)}`, { path }));
  };
  const openFile = (file: FileInfo): void => {
    if (file.isDirectory) goTo(file.path);
    else setOpen({ kind: 'preview', file });
  };
  const download = (): void => {
    if (single === undefined) return;
    if (chosen.length > 1 || single.isDirectory) return downloadZip(connectionId, chosen);
    const link = document.createElement('a');
    link.href = downloadUrl(connectionId, single);
    link.download = single.name;
    link.click();
  };

  return (
    <Page
      isWide
      title="Files"
      actions={
        <>
          <Button icon={FolderPlus} onClick={() => setOpen({ kind: 'folder' })}>
            New folder
          </Button>
          <Button icon={Upload} onClick={() => folderPicker.current?.click()}>
            {t.queue.uploadFolder}
          </Button>
          <input
            ref={folderPicker}
            type="file"
            {...{ webkitdirectory: '' }}
            hidden
            aria-label={t.queue.folderToUpload}
            onChange={(event) => {
              if (event.target.files !== null) enqueuePicked(connectionId, folder, event.target.files);
              event.target.value = '';
            }}
          />
          <Button look="primary" icon={Upload} onClick={() => picker.current?.click()}>
            Upload
          </Button>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label="Files to upload"
            onChange={(event) => {
              if (event.target.files !== null) enqueuePicked(connectionId, folder, event.target.files);
              event.target.value = '';
            }}
          />
        </>
      }
    >
      <div className="files-bar">
        <ChoiceField
          label="Connection"
          value={connectionId}
          onText={(id) => navigate(`/files/${encodeURIComponent(id)}`)}
          options={connections.map(({ id, name }) => [id, name] as const)}
        />
        <TextField
          label="Find in this folder"
          type="search"
          value={search}
          onText={setSearch}
          placeholder="Part of a name"
        />
      </div>
      <DropZone onDrop={(transfer) => void enqueueDrop(connectionId, folder, transfer)}>
        <Panel>
          <div className="panel-head files-head">
            <Crumbs connectionId={connectionId} folder={folder} />
            <div className="row">
              <button
                type="button"
                className="icon-button"
                aria-label="Folder above"
                disabled={folder === '/'}
                onClick={() => goTo(parentOf(folder))}
              >
                <CornerLeftUp aria-hidden size={16} />
              </button>
              <button
                type="button"
                className="icon-button"
                aria-label="Read the folder again"
                onClick={() => void read.refetch()}
              >
                <RefreshCw aria-hidden size={16} className={read.isFetching ? 'spin' : undefined} />
              </button>
            </div>
          </div>
          {chosen.length > 0 && (
            <div className="selection-bar" role="toolbar" aria-label="What to do with the selection">
              <span role="status">{formatNumber(chosen.length)} selected</span>
              <Button icon={Download} onClick={download}>
                Download
              </Button>
              <Button
                icon={Pencil}
                disabled={chosen.length !== 1}
                onClick={() => single !== undefined && setOpen({ kind: 'rename', file: single })}
              >
                Rename
              </Button>
              <Button icon={FolderOpen} onClick={() => setOpen({ kind: 'move' })}>
                Move
              </Button>
              <Button icon={Copy} onClick={() => setOpen({ kind: 'copy' })}>
                Copy to …
              </Button>
              <Button icon={Trash2} onClick={() => setOpen({ kind: 'delete' })}>
                Delete
              </Button>
              {hasFolder && single !== undefined && chosen.length === 1 && (
                <LinkButton icon={Layers} href={withQuery('/jobs/new', { source: connectionId, path: single.path })}>
                  As a job …
                </LinkButton>
              )}
            </div>
          )}
          {read.data === undefined ? (
            <Pending error={read.error} onRetry={() => void read.refetch()} />
          ) : files.length === 0 ? (
            <Empty icon={FolderOpen} title={search === '' ? 'This folder is empty' : 'Nothing here has such a name'}>
              {search === ''
                ? 'Drop files or folders here, or use Upload. Programs send to it with the API.'
                : 'The search looks at this folder alone.'}
            </Empty>
          ) : (
            <FileList
              key={folder}
              files={files}
              selected={selected}
              onSelect={setSelected}
              onOpen={openFile}
              onUp={() => folder !== '/' && goTo(parentOf(folder))}
              onRename={(file) => setOpen({ kind: 'rename', file })}
              onDelete={() => setOpen({ kind: 'delete' })}
            />
          )}
          {read.data !== undefined && (
            <p className="files-foot muted small" role="status">
              {formatNumber(files.length)} {files.length === 1 ? 'entry' : 'entries'}
              {search !== '' && ` of ${formatNumber(read.data.files.length)}`}
            </p>
          )}
        </Panel>
      </DropZone>
      <OpenDialog
        open={open}
        connectionId={connectionId}
        folder={folder}
        entries={chosen}
        onClose={() => setOpen(undefined)}
        onDeselect={() => setSelected(new Set())}
      />
    </Page>
  );
}

function OpenDialog(props: {
  readonly open: Open;
  readonly connectionId: string;
  readonly folder: string;
  readonly entries: readonly FileInfo[];
  readonly onClose: () => void;
  readonly onDeselect: () => void;
}): ReactElement | null {
  const { open, connectionId, folder, entries, onClose, onDeselect } = props;
  const done = (): void => {
    onDeselect();
    onClose();
  };
  const shared = { connectionId, folder, entries, onClose, onDone: done };
  switch (open?.kind) {
    case undefined:
      return null;
    case 'folder':
      return <NewFolder connectionId={connectionId} folder={folder} onClose={onClose} />;
    case 'rename':
      return <Rename connectionId={connectionId} file={open.file} onClose={done} />;
    case 'preview':
      return <Preview connectionId={connectionId} file={open.file} onClose={onClose} />;
    case 'move':
      return <MoveFiles {...shared} />;
    case 'copy':
      return <CopyFiles {...shared} onDone={onClose} />;
    case 'delete':
      return <DeleteFiles {...shared} />;
  }
}

function Crumbs({ connectionId, folder }: { readonly connectionId: string; readonly folder: string }): ReactElement {
  const to = (path: string): string => withQuery(`/files/${encodeURIComponent(connectionId)}`, { path });
  const crumbs = crumbsOf(folder);
  return (
    <nav aria-label="Folder" className="crumbs">
      <ol>
        <li>
          <Link href={to('/')}>{connectionId}</Link>
        </li>
        {crumbs.map(({ name, path }, index) => (
          <li key={path}>
            <span aria-hidden>/</span>
            <Link href={to(path)} aria-current={index === crumbs.length - 1 ? 'page' : undefined}>
              {name}
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function DropZone({
  onDrop,
  children,
}: {
  readonly onDrop: (transfer: DataTransfer) => void;
  readonly children: ReactElement;
}): ReactElement {
  const [isOver, setOver] = useState(false);
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer.types.includes('Files');
  return (
    <div
      className={isOver ? 'drop-zone over' : 'drop-zone'}
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(false);
        onDrop(event.dataTransfer);
      }}
    >
      {children}
      {isOver && <div className="drop-hint">Drop to upload into this folder</div>}
    </div>
  );
}
