/** What has happened in the account, newest first and as it happens; each event as the bytes that were signed. */
import { useEffect, useMemo, useState, type ReactElement } from 'react';
import { Link, useSearchParams } from 'wouter';
import { withQuery } from '../api/client.ts';
import { queries, usePages } from '../api/hooks.ts';
import type { FeedAnswer, FeedEvent, StoredEvent } from '../api/types.ts';
import { formatBytes, formatNumber } from '../format.ts';
import { Badge, Button, CodeBlock, Empty, Facts, Page, Panel, Pending, Table, Time } from '../ui/basics.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ChoiceField } from '../ui/fields.tsx';
import { Rss } from '../ui/icons.tsx';
import { useNews } from './events/live.ts';
import { FEED_TYPES, wordsOf } from './events/words.ts';

const PAGE = 50;
/** For types that the stream is not listened to for, and while there is none. */
const LOOK_EVERY_MS = 30_000;
/** Between the looks at a list that never rests. */
const REST_MS = 250;

export default function Events(): ReactElement {
  const [parameters, setParameters] = useSearchParams();
  const type = parameters.get('type') ?? '';
  const path = withQuery('/manage/feed', { type, limit: PAGE });
  const pages = usePages<FeedAnswer>(path, { everyMs: LOOK_EVERY_MS });
  const [shown, setShown] = useState<Row>();
  const { data, error, hasNextPage, isFetching, fetchNextPage, refetch } = pages;
  const rows = useMemo(() => (data?.pages ?? []).flatMap(({ events }) => events).map(rowOf), [data]);
  const last = data?.pages[0]?.last;
  const { isLive, newest } = useNews(last);
  const hasNews = last !== undefined && newest > last;
  // Somebody who has gone back in time stays there.
  const isAtTop = (data?.pages.length ?? 0) === 1;
  useEffect(() => {
    if (!hasNews || !isAtTop || isFetching || error !== null) return undefined;
    const timer = setTimeout(() => void refetch(), REST_MS);
    return () => clearTimeout(timer);
  }, [hasNews, isAtTop, isFetching, error, refetch]);
  // A page may be empty and still have a next one: the gateway looks at no more events than so many at once.
  useEffect(() => {
    if (rows.length === 0 && hasNextPage && !isFetching) void fetchNextPage();
  }, [rows.length, hasNextPage, isFetching, fetchNextPage]);
  return (
    <Page isWide title="Events" lead="What has happened, numbered without holes: as webhooks are told of it.">
      <search className="filters one">
        <ChoiceField
          label="Type"
          value={type}
          onText={(value) => setParameters(value === '' ? {} : { type: value }, { replace: true })}
          options={[['', 'All'], ...FEED_TYPES.map((name) => [name, name] as const)]}
        />
      </search>
      <Panel
        title="Newest first"
        actions={
          <span className="row">
            {hasNews && !isAtTop && (
              <Button onClick={() => void queries.resetQueries({ queryKey: [path] })}>Show newer ones</Button>
            )}
            {isLive ? <Badge tone="good">Live</Badge> : <Badge tone="warn">Connecting …</Badge>}
          </span>
        }
      >
        {data === undefined ? (
          <Pending error={error} onRetry={() => void refetch()} />
        ) : rows.length > 0 ? (
          <EventTable rows={rows} onShow={setShown} />
        ) : hasNextPage ? (
          <p className="panel-body muted">Searching older events …</p>
        ) : type !== '' ? (
          <Empty title="No event of this type" action={<Button onClick={() => setParameters({})}>Show all</Button>}>
            None has happened since the oldest event that is kept.
          </Empty>
        ) : (
          <Empty icon={Rss} title="No event yet">
            Failed transfers, jobs that have ended, servers that go and come back and files that come into watched
            folders appear here. <Link href="/webhooks">Webhooks</Link> are told of them, and programs follow{' '}
            <span className="mono">GET /api/events</span>.
          </Empty>
        )}
        {rows.length > 0 && hasNextPage && (
          <div className="panel-body">
            <div className="row">
              <Button isBusy={pages.isFetchingNextPage} onClick={() => void fetchNextPage()}>
                Show older ones
              </Button>
            </div>
          </div>
        )}
      </Panel>
      {shown !== undefined && <OpenedEvent row={shown} onClose={() => setShown(undefined)} />}
    </Page>
  );
}

interface Row extends StoredEvent {
  readonly event: FeedEvent;
}

function rowOf(stored: StoredEvent): Row {
  return { ...stored, event: JSON.parse(stored.body) as FeedEvent };
}

function EventTable({ rows, onShow }: { rows: readonly Row[]; onShow: (row: Row) => void }): ReactElement {
  return (
    <Table
      label="Events"
      rows={rows}
      rowKey={({ sequence }) => String(sequence)}
      columns={[
        { head: 'Number', align: 'end', cell: ({ sequence }) => formatNumber(sequence) },
        { head: 'When', cell: ({ event }) => <Time iso={event.timestamp} /> },
        { head: 'Type', cell: ({ type }) => <span className="mono event-type">{type}</span> },
        { head: 'What', cell: ({ event }) => <What event={event} /> },
        {
          head: 'Actions',
          isHeadHidden: true,
          align: 'end',
          cell: (row) => (
            <Button onClick={() => onShow(row)} aria-label={`Open event ${row.sequence}`}>
              Open
            </Button>
          ),
        },
      ]}
    />
  );
}

function What({ event }: { readonly event: FeedEvent }): ReactElement {
  const words = wordsOf(event);
  if (words === undefined) return <span className="muted small mono">{Object.keys(event.data).join(', ')}</span>;
  return (
    <div>
      <Link href={words.href}>{words.name}</Link>
      <div className="muted small">{words.text}</div>
    </div>
  );
}

function OpenedEvent({
  row: { sequence, type, body, event },
  onClose,
}: {
  row: Row;
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog title={`Event ${formatNumber(sequence)}`} onClose={onClose} size="large">
      <Facts
        isWide
        items={[
          ['Type', <Mono key="t" text={type} />],
          ['When', <Time key="w" iso={event.timestamp} isLong />],
          ['Id', <Mono key="i" text={event.id} />],
          ['Id of the one before', <Mono key="p" text={event.previousId ?? 'none: it is the first'} />],
        ]}
      />
      <div className="stack tight">
        <h3>As it was signed</h3>
        <CodeBlock code={body} label="The exact bytes" />
        <p className="hint">
          {formatBytes(new TextEncoder().encode(body).length)}, to the byte what webhooks are sent.
        </p>
      </div>
      <details>
        <summary>In lines</summary>
        <pre className="words" tabIndex={0} aria-label="The event in lines">
          {JSON.stringify(event, null, 2)}
        </pre>
      </details>
    </Dialog>
  );
}

function Mono({ text }: { readonly text: string }): ReactElement {
  return <span className="mono">{text}</span>;
}
