/** A folder: its list, the search, and the actions on its entries. */
import { useMemo, useState, type ReactElement } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { ApiError } from '../../api/client.ts';
import type { Connection, FileInfo } from '../../api/types.ts';
import { setFileSort, setThumbnails, useFileSort, useThumbnailsSetting } from '../../preferences.ts';
import { t } from '../../texts/texts.ts';
import { Button, Empty, Notice, Page, Panel, Skeleton } from '../../ui/basics.tsx';
import { useConnectionStatus } from '../../ui/connection-status.tsx';
import { FileImage } from '../../ui/file-icons.ts';
import { FolderOpen, RefreshCw } from '../../ui/icons.tsx';
import { CornerLeftUp } from '../../ui/later-icons.ts';
import { part } from '../../ui/part.tsx';
import { showToast } from '../../toasts.ts';
import { ConnectionSteps, Trouble } from '../../ui/trouble.tsx';
import { actsFor } from './acts.ts';
import { arriveAt } from './arrival.ts';
import { Crumbs } from './crumbs.tsx';
import { CopyFiles, DeleteFiles, MoveFiles, NewFolder } from './dialogs.tsx';
import { DropZone } from './drop-zone.tsx';
import { FileList } from './file-list.tsx';
import { FileMenu, type MenuAt } from './file-menu.tsx';
import { FindBar, ListFoot, SearchState } from './find.tsx';
import { download, folderAddress, newJobAddress } from './links.ts';
import { isInRawFolder, nameOf, parentOf, rawNameAbove } from '../../ui/paths.ts';
import { Rename } from './rename.tsx';
import { FilesBar } from './selection-bar.tsx';
import { useSorted } from './sorting.ts';
import { useTreeSearch } from './tree-search.ts';
import { ChooseAgain, UploadButtons } from './upload-buttons.tsx';
import { useListing } from './use-listing.ts';

const Preview = part(() => import('./preview.tsx'));
const NewLink = part(() => import('../links/new-link.tsx'), <></>);

type Asked =
  | { readonly kind: 'folder' }
  | { readonly kind: 'share'; readonly path: string; readonly operation: 'upload' | 'download' }
  | { readonly kind: 'rename'; readonly file: FileInfo }
  | { readonly kind: 'move' | 'copy' | 'delete'; readonly files: readonly FileInfo[] }
  | undefined;

export function Browser(props: {
  readonly connectionId: string;
  readonly path: string | undefined;
  /** The exact bytes of the last names of `path`, if they are not UTF-8. */
  readonly rawName: string | undefined;
  readonly connections: readonly Connection[];
}): ReactElement {
  const { connectionId, path, rawName, connections } = props;
  const [parameters] = useSearchParams();
  const [, navigate] = useLocation();
  const read = useListing(connectionId, path, rawName);
  const folder = read.data?.path ?? path ?? '/';
  const { search, start, stop, end } = useTreeSearch(connectionId, folder, rawName);
  const sort = useFileSort();
  const wantsThumbnails = useThumbnailsSetting();
  const connection = connections.find(({ id }) => id === connectionId);
  const status = useConnectionStatus()(connection ?? { id: connectionId, isActive: true });
  const sorted = useSorted(search?.found ?? read.data?.files, sort);
  const [text, setText] = useState('');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<Asked>();
  const [menuAt, setMenuAt] = useState<MenuAt>();
  const files = useMemo(() => {
    const wanted = search === undefined ? text.trim().toLowerCase() : '';
    return wanted === '' ? sorted : sorted?.filter(({ name }) => name.toLowerCase().includes(wanted));
  }, [sorted, text, search]);
  const chosen = useMemo(
    () => (selected.size === 0 ? [] : (files ?? []).filter((file) => selected.has(file.path))),
    [files, selected],
  );

  const againName = parameters.get('again') ?? undefined;
  const openName = parameters.get('file') ?? undefined;
  const listed = openName === undefined ? undefined : sorted?.find((file) => nameOf(file.path) === openName);
  // Keep the entry as it was first listed, so that input in its preview survives a reload of the list.
  const [linked, setLinked] = useState<FileInfo>();
  if (listed !== undefined && linked?.path !== listed.path) setLinked(listed);
  const opened =
    openName !== undefined && linked !== undefined && nameOf(linked.path) === openName ? linked : undefined;
  const here = folderAddress(connectionId, folder, rawName);
  const openFile = (file: FileInfo, isEdit = false): void => {
    if (file.isDirectory) return goTo(file.path, '', file.rawName);
    setEditing(isEdit);
    setPreview(file);
  };
  const [preview, setPreview] = useState<FileInfo>();
  const [isEditing, setEditing] = useState(false);
  const shown = preview ?? opened;
  const closePreview = (): void => {
    setPreview(undefined);
    if (openName !== undefined) navigate(here, { replace: true });
  };
  const goTo = (to: string, name: string, raw: string | undefined): void => {
    arriveAt(connectionId, to, name);
    navigate(folderAddress(connectionId, to, raw));
  };
  const goAbove = (entry: string, name: string, raw: string | undefined): void => {
    const above = parentOf(entry);
    goTo(above, name, rawNameAbove(entry, raw, above));
  };
  const goUp = (): void => {
    if (folder !== '/') goAbove(folder, nameOf(folder), rawName);
  };
  const done = (): void => {
    setSelected(new Set());
    setAsked(undefined);
  };
  const actions = {
    connectionId,
    open: openFile,
    edit: (file: FileInfo) => openFile(file, true),
    rename: (file: FileInfo) =>
      isInRawFolder(file) ? showToast(t.files.rawFolder, 'bad') : setAsked({ kind: 'rename', file }),
    move: (all: readonly FileInfo[]) => setAsked({ kind: 'move', files: all }),
    copy: (all: readonly FileInfo[]) => setAsked({ kind: 'copy', files: all }),
    remove: (all: readonly FileInfo[]) => setAsked({ kind: 'delete', files: all }),
    select: (all: readonly FileInfo[]) => setSelected(new Set(all.map((file) => file.path))),
    share: ({ path: shared, isDirectory }: FileInfo) =>
      setAsked({ kind: 'share', path: shared, operation: isDirectory ? 'upload' : 'download' }),
    asJob: (file: FileInfo) => navigate(newJobAddress(connectionId, file)),
    showFolder: search === undefined ? undefined : (file: FileInfo) => goAbove(file.path, file.name, file.rawName),
  };
  const [single] = chosen;
  const shared = { connectionId, folder, onClose: () => setAsked(undefined), onDone: done };

  return (
    <Page
      title={t.places.files}
      actions={
        rawName === undefined && (
          <UploadButtons
            connectionId={connectionId}
            folder={folder}
            onShare={() => setAsked({ kind: 'share', path: folder, operation: 'upload' })}
            onNewFolder={() => setAsked({ kind: 'folder' })}
          />
        )
      }
    >
      <FindBar
        connectionId={connectionId}
        connections={connections}
        text={text}
        onText={(next) => {
          setText(next);
          end();
        }}
        onBelow={() => {
          setSelected(new Set());
          start(text);
        }}
      />
      {againName !== undefined && rawName === undefined && (
        <Notice title={t.transfers.again.chooseTitle(againName)}>
          <p>{t.transfers.again.chooseText}</p>
          <ChooseAgain connectionId={connectionId} folder={folder} name={againName} onChosen={() => navigate(here)} />
        </Notice>
      )}
      {rawName !== undefined && <Notice>{t.files.rawFolder}</Notice>}
      <DropZone connectionId={connectionId} folder={folder} isClosed={rawName !== undefined}>
        <Panel>
          <div className="panel-head files-head">
            <Crumbs
              connectionId={connectionId}
              name={connection?.name ?? connectionId}
              folder={folder}
              rawName={rawName}
            />
            <div className="row">
              <button
                type="button"
                className="icon-button"
                aria-label={t.files.thumbnails}
                title={t.files.thumbnailsHint}
                aria-pressed={wantsThumbnails}
                onClick={() => setThumbnails(!wantsThumbnails)}
              >
                <FileImage aria-hidden size={16} />
              </button>
              <button
                type="button"
                className="icon-button"
                aria-label={t.files.above}
                disabled={folder === '/'}
                onClick={goUp}
              >
                <CornerLeftUp aria-hidden size={16} />
              </button>
              <button
                type="button"
                className="icon-button"
                aria-label={t.files.readAgain}
                onClick={() => void read.refetch()}
              >
                <RefreshCw aria-hidden size={16} className={read.isFetching ? 'spin' : undefined} />
              </button>
            </div>
          </div>
          {search !== undefined && <SearchState search={search} folder={folder} onStop={stop} onEnd={end} />}
          {chosen.length > 0 && (
            <FilesBar
              connectionId={connectionId}
              files={chosen}
              onDownload={() => download(connectionId, chosen)}
              onRename={() => single !== undefined && actions.rename(single)}
              onMove={() => actions.move(chosen)}
              onCopy={() => actions.copy(chosen)}
              onDelete={() => actions.remove(chosen)}
              onClear={() => setSelected(new Set())}
            />
          )}
          {openName !== undefined && sorted !== undefined && opened === undefined && preview === undefined && (
            <Notice tone="warn">{t.files.fileGone(openName)}</Notice>
          )}
          {files === undefined ? (
            <NotListed error={read.error} connectionId={connectionId} onRetry={() => void read.refetch()} />
          ) : files.length === 0 ? (
            search?.state !== 'running' && <NothingHere isSearched={text !== ''} isTree={search !== undefined} />
          ) : (
            <FileList
              connectionId={connectionId}
              folder={folder}
              isSearch={search !== undefined}
              files={files}
              sort={sort}
              hasThumbnails={wantsThumbnails && (status === 'up' || status === 'unknown')}
              onSort={setFileSort}
              selected={selected}
              onSelect={setSelected}
              onOpen={openFile}
              onMenu={setMenuAt}
              onUp={goUp}
              onRename={actions.rename}
              onDelete={actions.remove}
            />
          )}
          {files !== undefined && (
            <ListFoot shown={files.length} all={search === undefined ? (sorted?.length ?? 0) : files.length} />
          )}
        </Panel>
      </DropZone>
      <FileMenu
        at={menuAt}
        groups={menuAt === undefined ? [] : actsFor(menuAt.files, actions)}
        onClose={() => setMenuAt(undefined)}
      />
      {shown !== undefined && (
        <Preview connectionId={connectionId} file={shown} isEdit={isEditing} onClose={closePreview} />
      )}
      {asked?.kind === 'folder' && <NewFolder connectionId={connectionId} folder={folder} onClose={shared.onClose} />}
      {asked?.kind === 'share' && <NewLink start={{ ...asked, connectionId }} onClose={shared.onClose} />}
      {asked?.kind === 'move' && <MoveFiles {...shared} entries={asked.files} />}
      {asked?.kind === 'copy' && <CopyFiles {...shared} entries={asked.files} onDone={shared.onClose} />}
      {asked?.kind === 'delete' && <DeleteFiles {...shared} entries={asked.files} />}
      {asked?.kind === 'rename' && (
        <Rename connectionId={connectionId} file={asked.file} onClose={shared.onClose} onDone={done} />
      )}
    </Page>
  );
}

function NotListed(props: {
  readonly error: Error | null;
  readonly connectionId: string;
  readonly onRetry: () => void;
}): ReactElement {
  const { error, connectionId, onRetry } = props;
  if (error === null) return <Skeleton />;
  const code = error instanceof ApiError ? error.code : null;
  return (
    <Trouble title={t.files.notListed} code={code} text={error.message} isAlert>
      <Button onClick={onRetry}>{t.common.tryAgain}</Button>
      <ConnectionSteps id={connectionId} />
    </Trouble>
  );
}

function NothingHere({ isSearched, isTree }: { readonly isSearched: boolean; readonly isTree: boolean }): ReactElement {
  const { title, text } = isTree ? t.files.notBelow : isSearched ? t.files.notHere : t.files.empty;
  return (
    <Empty icon={FolderOpen} title={title}>
      {text}
    </Empty>
  );
}
