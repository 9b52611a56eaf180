/** The events of the account, newest first, updated live. Each shows the signed bytes. */
import { useEffect, useMemo, useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { FILTER_NAMES } from '../../../contract/derived/filter-names.ts';
import { withQuery } from '../api/client.ts';
import { queries, refreshSoon, usePages } from '../api/hooks.ts';
import type { FeedEvent, StoredEvent } from '../api/types.ts';
import { formatBytes, formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { actions, Button, CodeBlock, Facts, LinkButton, LiveBadge, Mono, Time, Titled } from '../ui/basics.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { timeFields, timePresets, useFilters } from '../ui/filters.tsx';
import { Rss } from '../ui/icons.tsx';
import { ListScreen } from '../ui/list-screen.tsx';
import { Reason } from '../ui/reason.tsx';
import { useNews } from './events/live.ts';
import { FEED_TYPES } from '../../../contract/derived/event-texts.ts';
import { wordsOf } from './events/words.ts';

const words = t.events;
const PAGE = 50;
/** Used while there is no stream. */
const POLL_MS = 30_000;

export default function Events(): ReactElement {
  const filters = useFilters(FILTER_NAMES.events);
  const path = withQuery('/manage/feed', { ...filters.values, limit: PAGE });
  const list = usePages(path, 'events', { everyMs: POLL_MS });
  const [shown, setShown] = useState<Row>();
  const { error, isFetching, isPagedThrough, first } = list;
  const rows = useMemo(() => list.rows?.map(rowOf), [list.rows]);
  const last = first?.['last'] as number | undefined;
  const { isLive, newest } = useNews(last);
  const hasNews = last !== undefined && newest > last;
  // Do not update the list while the user reads older pages.
  const isAtTop = isPagedThrough === false;
  useEffect(() => {
    if (hasNews && isAtTop && isFetching === false && error === null) refreshSoon(path);
  }, [hasNews, isAtTop, isFetching, error, path]);
  return (
    <ListScreen
      title={t.places.events}
      words={words}
      icon={Rss}
      list={{ ...list, rows }}
      rowKey={({ sequence }) => String(sequence)}
      columns={[
        { head: t.words.what, grow: 100, cell: ({ event }) => <What event={event} /> },
        { name: 'number', head: words.number, align: 'end', cell: ({ sequence }) => formatNumber(sequence) },
        { name: 'when', head: t.words.when, cell: ({ event }) => <Time iso={event.timestamp} /> },
        { name: 'type', head: words.type, isSecondary: true, cell: ({ type }) => <Mono>{type}</Mono> },
        actions<Row>((row) => (
          <Button onClick={() => setShown(row)} aria-label={words.openOne(row.sequence)}>
            {t.files.menu.open}
          </Button>
        )),
      ]}
      filters={filters}
      presets={[
        ...timePresets(),
        ...(['transfer.failed', 'job.finished', 'connection.down'] as const).map((type) => ({
          name: type,
          filters: { type },
        })),
      ]}
      fields={[{ name: 'type', label: words.type, options: FEED_TYPES.map((name) => [name, name]) }, ...timeFields()]}
      noneAction={<LinkButton href="/webhooks">{t.places.webhooks}</LinkButton>}
      panelTitle={t.transfers.orders.newest}
      panelActions={
        <span className="row">
          {hasNews && !isAtTop && (
            <Button onClick={() => void queries.resetQueries({ queryKey: [path] })}>{words.showNewer}</Button>
          )}
          <LiveBadge isLive={isLive} />
        </span>
      }
    >
      {shown !== undefined && <OpenedEvent row={shown} onClose={() => setShown(undefined)} />}
    </ListScreen>
  );
}

interface Row extends StoredEvent {
  readonly event: FeedEvent;
}

function rowOf(stored: StoredEvent): Row {
  return { ...stored, event: JSON.parse(stored.body) as FeedEvent };
}

function What({ event }: { readonly event: FeedEvent }): ReactElement {
  const said = wordsOf(event);
  const texts: Readonly<Record<string, string>> = words.types;
  if (said === undefined) return <>{texts[event.type] ?? event.type}</>;
  const { name, href, says, text } = said;
  return (
    <Titled
      top={
        <>
          <Link href={href}>{name}</Link> {says}
        </>
      }
    >
      {typeof text === 'string' ? text : <Reason {...text} isShort />}
    </Titled>
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
    <Dialog title={words.one(formatNumber(sequence))} onClose={onClose} size="large">
      <Facts
        isWide
        of={{
          [words.type]: <Mono>{type}</Mono>,
          [t.words.when]: <Time iso={event.timestamp} form="long" />,
          [t.words.id]: <Mono>{event.id}</Mono>,
          [words.previousId]: <Mono>{event.previousId ?? words.isFirst}</Mono>,
        }}
      />
      <div className="stack tight">
        <h3>{words.signed}</h3>
        <CodeBlock code={body} label={words.bytes} />
        <p className="hint">{words.bytesHint(formatBytes(new TextEncoder().encode(body).length))}</p>
      </div>
      <details>
        <summary>{words.lines}</summary>
        <pre className="words" tabIndex={0} aria-label={words.inLines}>
          {JSON.stringify(event, null, 2)}
        </pre>
      </details>
    </Dialog>
  );
}
