/** The history, filtered by the address. Running transfers are above it, live. */
import type { ReactElement } from 'react';
import { withQuery } from '../api/client.ts';
import { usePages } from '../api/hooks.ts';
import { useLiveTransfers } from '../api/live.ts';
import { useConnections, useKeys } from '../api/names.ts';
import { formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { DownloadLink, LinkButton, LiveBadge, Panel } from '../ui/basics.tsx';
import { useFilters } from '../ui/filters.tsx';
import { ArrowLeftRight } from '../ui/icons.tsx';
import { ListScreen } from '../ui/list-screen.tsx';
import { FILTERS, presets, queryOf } from './transfers/filters.ts';
import { digestIn } from './transfers/proof.tsx';
import { LiveRows, useTransferColumns } from './transfers/rows.tsx';

const words = t.transfers;

export default function Transfers(): ReactElement {
  const filters = useFilters(FILTERS);
  const { values } = filters;
  const names = words.filters;
  const connections = useConnections();
  const keys = useKeys();
  const live = useLiveTransfers();
  const query = queryOf(values);
  const path = withQuery('/manage/transfers', { ...query, limit: 50 });
  const list = usePages(path, 'transfers', { everyMs: 10_000 });
  const running = new Set(live.transfers.map(({ id }) => id));
  const { order: _, ...exported } = query;
  return (
    <ListScreen
      isWide
      title={t.places.transfers}
      words={
        values.digest === undefined
          ? words
          : { ...words, noneFitsText: `${t.common.removeFilter} ${words.noneFitsDigest}` }
      }
      icon={ArrowLeftRight}
      list={{ ...list, rows: list.rows?.filter(({ id }) => !running.has(id)) }}
      columns={useTransferColumns()}
      filters={filters}
      presets={presets()}
      fields={[
        {
          label: names.search,
          kind: 'search',
          placeholder: names.searchHint,
          value: values.digest ?? values.search ?? '',
          to: (value) => {
            const digest = digestIn(value);
            return { digest: digest ?? '', search: digest === undefined ? value : '' };
          },
        },
        { name: 'connectionId', label: t.words.connection, options: connections.map(({ id, name }) => [id, name]) },
        { name: 'status', label: t.words.status, options: Object.entries(words.status) },
        { name: 'type', label: t.words.type, options: Object.entries(words.types) },
        {
          name: 'direction',
          label: t.words.direction,
          all: names.both,
          options: Object.entries(words.directions),
          isRare: true,
        },
        {
          label: names.order,
          value: values.order ?? 'newest',
          to: (value) => ({ order: value === 'newest' ? '' : value }),
          all: false,
          options: Object.entries(words.orders),
          isRare: true,
        },
        { name: 'since', label: names.after, kind: 'time', isRare: true },
        { name: 'until', label: names.before, kind: 'time', isRare: true },
        { name: 'keyId', label: t.words.apiKey, options: keys.map(({ id, name }) => [id, name]), isRare: true },
        { name: 'errorCode', label: names.errorCode, kind: 'text', isRare: true },
        { name: 'requestId', label: t.words.requestId, kind: 'text', isRare: true },
        { name: 'lookups', label: names.lookups, kind: 'check', isRare: true },
      ]}
      more={values.order === undefined ? t.common.older : words.more}
      noneAction={<LinkButton href="/files">{words.browse}</LinkButton>}
      actions={(['csv', 'ndjson'] as const).map((format) => (
        <DownloadLink key={format} href={withQuery('/manage/transfers/export', { ...exported, format })}>
          {words[format]}
        </DownloadLink>
      ))}
      above={
        <Panel
          title={t.words.runningNow(formatNumber(live.transfers.length))}
          actions={<LiveBadge isLive={live.isConnected} />}
        >
          {live.transfers.length === 0 ? (
            <p className="panel-body muted">{words.nothingRuns}</p>
          ) : (
            <LiveRows transfers={live.transfers} />
          )}
        </Panel>
      }
      panelTitle={words.history}
      panelActions={
        <span role="status" className="muted small">
          {list.isFetching === true && t.words.loadingMore}
        </span>
      }
    />
  );
}
