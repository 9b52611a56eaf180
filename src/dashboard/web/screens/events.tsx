/** What has happened in the account, newest first and as it happens; each event as the bytes that were signed. */
import { useEffect, useMemo, useState, type ReactElement } from 'react';
import { Link, useSearchParams } from 'wouter';
import { withQuery } from '../api/client.ts';
import { queries, refreshSoon, usePages } from '../api/hooks.ts';
import type { FeedAnswer, FeedEvent, StoredEvent } from '../api/types.ts';
import { formatBytes, formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import {
  Badge,
  Button,
  CodeBlock,
  Empty,
  Facts,
  LinkButton,
  Page,
  Panel,
  Pending,
  Table,
  Time,
} from '../ui/basics.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ChoiceField } from '../ui/fields.tsx';
import { Rss } from '../ui/icons.tsx';
import { useNews } from './events/live.ts';
import { FEED_TYPES, wordsOf } from './events/words.ts';

const PAGE = 50;
/** For types that the stream is not listened to for, and while there is none. */
const LOOK_EVERY_MS = 30_000;

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
    if (hasNews && isAtTop && !isFetching && error === null) refreshSoon(path);
  }, [hasNews, isAtTop, isFetching, error, path]);
  // A page may be empty and still have a next one: the gateway looks at no more events than so many at once.
  useEffect(() => {
    if (rows.length === 0 && hasNextPage && !isFetching) void fetchNextPage();
  }, [rows.length, hasNextPage, isFetching, fetchNextPage]);
  return (
    <Page isWide title={t.events.title} lead={t.events.lead}>
      <search className="filters one">
        <ChoiceField
          label={t.events.type}
          value={type}
          onText={(value) => setParameters(value === '' ? {} : { type: value }, { replace: true })}
          options={[['', t.events.all], ...FEED_TYPES.map((name) => [name, name] as const)]}
        />
      </search>
      <Panel
        title={t.events.newest}
        actions={
          <span className="row">
            {hasNews && !isAtTop && (
              <Button onClick={() => void queries.resetQueries({ queryKey: [path] })}>{t.events.showNewer}</Button>
            )}
            {isLive ? <Badge tone="good">{t.events.live}</Badge> : <Badge tone="warn">{t.events.connecting}</Badge>}
          </span>
        }
      >
        {data === undefined ? (
          <Pending error={error} onRetry={() => void refetch()} />
        ) : rows.length > 0 ? (
          <EventTable rows={rows} onShow={setShown} />
        ) : hasNextPage ? (
          <p className="panel-body muted">{t.events.searching}</p>
        ) : type !== '' ? (
          <Empty
            title={t.events.noneOfType}
            action={<Button onClick={() => setParameters({})}>{t.events.showAll}</Button>}
          >
            {t.events.noneOfTypeText}
          </Empty>
        ) : (
          <Empty icon={Rss} title={t.events.none} action={<LinkButton href="/webhooks">{t.webhooks.title}</LinkButton>}>
            {t.events.noneText}
          </Empty>
        )}
        {rows.length > 0 && hasNextPage && (
          <div className="panel-body">
            <div className="row">
              <Button isBusy={pages.isFetchingNextPage} onClick={() => void fetchNextPage()}>
                {t.events.showOlder}
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
      label={t.events.title}
      rows={rows}
      rowKey={({ sequence }) => String(sequence)}
      columns={[
        { head: t.events.number, align: 'end', cell: ({ sequence }) => formatNumber(sequence) },
        { head: t.events.when, cell: ({ event }) => <Time iso={event.timestamp} /> },
        { head: t.events.type, cell: ({ type }) => <span className="mono event-type">{type}</span> },
        { head: t.events.what, cell: ({ event }) => <What event={event} /> },
        {
          head: t.events.actions,
          isHeadHidden: true,
          align: 'end',
          cell: (row) => (
            <Button onClick={() => onShow(row)} aria-label={t.events.openOne(row.sequence)}>
              {t.events.open}
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
    <Dialog title={t.events.one(formatNumber(sequence))} onClose={onClose} size="large">
      <Facts
        isWide
        items={[
          [t.events.type, <Mono key="t" text={type} />],
          [t.events.when, <Time key="w" iso={event.timestamp} isLong />],
          [t.events.id, <Mono key="i" text={event.id} />],
          [t.events.previousId, <Mono key="p" text={event.previousId ?? t.events.isFirst} />],
        ]}
      />
      <div className="stack tight">
        <h3>{t.events.signed}</h3>
        <CodeBlock code={body} label={t.events.bytes} />
        <p className="hint">{t.events.bytesHint(formatBytes(new TextEncoder().encode(body).length))}</p>
      </div>
      <details>
        <summary>{t.events.lines}</summary>
        <pre className="words" tabIndex={0} aria-label={t.events.inLines}>
          {JSON.stringify(event, null, 2)}
        </pre>
      </details>
    </Dialog>
  );
}

function Mono({ text }: { readonly text: string }): ReactElement {
  return <span className="mono">{text}</span>;
}
