/** All watched folders, with the time until their next check. */
import { useState, type ReactElement } from 'react';
import { Eye, Plus } from '../ui/icons.tsx';
import { Link } from 'wouter';
import { useRead } from '../api/hooks.ts';
import { formatNumber } from '../format.ts';
import type { WatchedFolder } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Ago, Button, Countdown, Empty, Page, Panel, Pending, Table } from '../ui/basics.tsx';
import { useReceivers } from './deliveries/health.tsx';
import { Term } from '../ui/term.tsx';
import { Deliveries } from './deliveries/list.tsx';
import { useConnectionNames } from './jobs/rows.tsx';
import { StateBadge } from './watched/state.tsx';
import { WatchForm } from './watched/watch-form.tsx';

/** Dead letters of webhooks and jobs are on screens of their own. */
const FILES_DETECTED = 'watched_folder.files_detected';

export default function WatchedFolders(): ReactElement {
  const read = useRead<{ watchedFolders: WatchedFolder[] }>('/manage/watched-folders', { everyMs: 10_000 });
  const [isAdding, setAdding] = useState(false);
  const folders = read.data?.watchedFolders;
  const add = (
    <Button look="primary" icon={Plus} onClick={() => setAdding(true)}>
      {t.watched.add}
    </Button>
  );
  return (
    <Page title={t.watched.title} lead={t.watched.lead} actions={folders !== undefined && folders.length > 0 && add}>
      <Panel>
        {folders === undefined ? (
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        ) : folders.length === 0 ? (
          <Empty icon={Eye} title={t.watched.none} action={add}>
            {t.watched.noneText}
          </Empty>
        ) : (
          <FolderTable folders={folders} />
        )}
      </Panel>
      {folders !== undefined && folders.length > 0 && (
        <Panel title={t.deliveries.deadLetters} actions={<Term of="deadLetter" />}>
          <Deliveries state="dead" type={FILES_DETECTED} empty={t.deliveries.noDead} />
        </Panel>
      )}
      {isAdding && <WatchForm onClose={() => setAdding(false)} />}
    </Page>
  );
}

function FolderTable({ folders }: { readonly folders: readonly WatchedFolder[] }): ReactElement {
  const nameOf = useConnectionNames();
  const receiverOf = useReceivers();
  const { columns } = t.watched;
  return (
    <Table
      label={t.watched.title}
      rows={folders}
      rowKey={({ id }) => id}
      columns={[
        {
          head: columns.name,
          cell: ({ id, name, connectionId, path }) => (
            <div>
              <Link href={`/watched/${id}`}>{name}</Link>
              <div className="muted small">
                {nameOf(connectionId)} <span className="mono">{path}</span>
              </div>
            </div>
          ),
        },
        {
          head: columns.files,
          cell: ({ filePattern }) =>
            filePattern === null ? t.watched.all : <span className="mono whole-words">{filePattern}</span>,
        },
        {
          head: columns.every,
          cell: ({ scheduleMinutes }) => (
            <span className="nowrap">{t.watched.minutes(formatNumber(scheduleMinutes))}</span>
          ),
        },
        {
          head: columns.lastCheck,
          cell: ({ lastSuccessAt }) =>
            lastSuccessAt === null ? <span className="muted">{t.watched.noneYet}</span> : <Ago iso={lastSuccessAt} />,
        },
        {
          head: columns.nextCheck,
          cell: ({ isActive, nextCheckAt }) =>
            isActive && nextCheckAt !== null ? <Countdown iso={nextCheckAt} /> : '–',
        },
        {
          head: columns.lastFound,
          cell: ({ lastDetectionAt }) =>
            lastDetectionAt === null ? (
              <span className="muted">{t.watched.nothingYet}</span>
            ) : (
              <Ago iso={lastDetectionAt} />
            ),
        },
        {
          head: columns.state,
          cell: (folder) => <StateBadge folder={folder} receiver={receiverOf({ watchedFolderId: folder.id })} />,
        },
      ]}
    />
  );
}
