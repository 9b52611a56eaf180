/** All watched folders with the time until their next check. */
import { useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { useRows } from '../api/hooks.ts';
import { useConnectionName } from '../api/names.ts';
import { formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { Ago, Countdown, Mono, Titled } from '../ui/basics.tsx';
import { Eye } from '../ui/icons.tsx';
import { ListScreen } from '../ui/list-screen.tsx';
import { useReceivers } from './deliveries/health.tsx';
import { DeadLetters } from './deliveries/list.tsx';
import { StateBadge } from './watched/state.tsx';
import { WatchForm } from './watched/watch-form.tsx';

const words = t.watched;
const { columns } = words;

export default function WatchedFolders(): ReactElement {
  const list = useRows('/manage/watched-folders', 'watchedFolders', { everyMs: 10_000 });
  const [isAdding, setAdding] = useState(false);
  const nameOf = useConnectionName();
  const receiverOf = useReceivers();
  return (
    <ListScreen
      title={t.places.watched}
      words={words}
      icon={Eye}
      list={list}
      add={() => setAdding(true)}
      columns={[
        {
          head: t.words.name,
          grow: 60,
          cell: ({ id, name, connectionId, path }) => (
            <Titled top={<Link href={`/watched/${id}`}>{name}</Link>}>
              {nameOf(connectionId)} <Mono>{path}</Mono>
            </Titled>
          ),
        },
        {
          name: 'files',
          head: t.words.files,
          grow: 20,
          cell: ({ filePattern }) => (filePattern === null ? words.all : <Mono>{filePattern}</Mono>),
        },
        {
          name: 'every',
          head: t.words.every,
          cell: ({ scheduleMinutes }) => <span className="nowrap">{words.minutes(formatNumber(scheduleMinutes))}</span>,
        },
        {
          name: 'lastCheck',
          head: columns.lastCheck,
          cell: ({ lastSuccessAt }) => <Ago iso={lastSuccessAt} otherwise={words.noneYet} />,
        },
        {
          name: 'nextCheck',
          head: t.words.nextCheck,
          cell: ({ isActive, nextCheckAt }) =>
            isActive && nextCheckAt !== null ? <Countdown iso={nextCheckAt} /> : '–',
        },
        {
          name: 'lastFound',
          head: t.words.lastFound,
          cell: ({ lastDetectionAt }) => <Ago iso={lastDetectionAt} otherwise={t.words.nothingYet} />,
        },
        {
          name: 'state',
          head: t.words.state,
          cell: (folder) => <StateBadge folder={folder} receiver={receiverOf({ watchedFolderId: folder.id })} />,
        },
      ]}
    >
      {/* Webhooks and jobs have their own screens with dead letters. */}
      {(list.rows?.length ?? 0) > 0 && <DeadLetters type="watched_folder.files_detected" />}
      {isAdding && <WatchForm onClose={() => setAdding(false)} />}
    </ListScreen>
  );
}
