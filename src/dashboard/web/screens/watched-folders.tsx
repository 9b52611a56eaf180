/** All watched folders, with the time until their next check. */
import { useState, type ReactElement } from 'react';
import { Eye, Plus } from '../ui/icons.tsx';
import { Link } from 'wouter';
import { useRead } from '../api/hooks.ts';
import type { WatchedFolder } from '../api/types.ts';
import { Ago, Badge, Button, Countdown, Empty, Page, Panel, Pending, Table } from '../ui/basics.tsx';
import { Deliveries } from './watched/deliveries.tsx';
import { WatchForm } from './watched/watch-form.tsx';

export default function WatchedFolders(): ReactElement {
  const read = useRead<{ watchedFolders: WatchedFolder[] }>('/manage/watched-folders', { everyMs: 10_000 });
  const [isAdding, setAdding] = useState(false);
  const folders = read.data?.watchedFolders;
  const add = (
    <Button look="primary" icon={Plus} onClick={() => setAdding(true)}>
      Watch a folder
    </Button>
  );
  return (
    <Page
      title="Watched folders"
      lead="Folders that are looked at again and again; new files are reported to a webhook."
      actions={folders !== undefined && folders.length > 0 && add}
    >
      <Panel>
        {folders === undefined ? (
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        ) : folders.length === 0 ? (
          <Empty icon={Eye} title="No folder is watched" action={add}>
            Name a folder of a connection and a webhook. When a file arrives there and has stopped growing, the webhook
            gets a signed message with its name, size and date.
          </Empty>
        ) : (
          <FolderTable folders={folders} />
        )}
      </Panel>
      {folders !== undefined && folders.length > 0 && (
        <Panel title="Dead letters">
          <Deliveries state="dead" empty="No message has run out of tries." />
        </Panel>
      )}
      {isAdding && <WatchForm onClose={() => setAdding(false)} />}
    </Page>
  );
}

export function StateBadge({ folder: { isActive, failingSince } }: { readonly folder: WatchedFolder }): ReactElement {
  if (!isActive) return <Badge tone="warn">Paused</Badge>;
  return failingSince === null ? <Badge tone="good">Watching</Badge> : <Badge tone="bad">Failing</Badge>;
}

function FolderTable({ folders }: { readonly folders: readonly WatchedFolder[] }): ReactElement {
  return (
    <Table
      label="Watched folders"
      rows={folders}
      rowKey={({ id }) => id}
      columns={[
        {
          head: 'Name',
          cell: ({ id, name, connectionId, path }) => (
            <div>
              <Link href={`/watched/${id}`}>{name}</Link>
              <div className="muted small mono">
                {connectionId}:{path}
              </div>
            </div>
          ),
        },
        {
          head: 'Files',
          cell: ({ filePattern }) => (filePattern === null ? 'all' : <span className="mono">{filePattern}</span>),
        },
        { head: 'Every', cell: ({ scheduleMinutes }) => <span className="nowrap">{scheduleMinutes} min</span> },
        {
          head: 'Next check',
          cell: ({ isActive, nextCheckAt }) =>
            isActive && nextCheckAt !== null ? <Countdown iso={nextCheckAt} /> : '–',
        },
        {
          head: 'Last found',
          cell: ({ lastDetectionAt }) =>
            lastDetectionAt === null ? <span className="muted">nothing yet</span> : <Ago iso={lastDetectionAt} />,
        },
        { head: 'State', cell: (folder) => <StateBadge folder={folder} /> },
      ]}
    />
  );
}
