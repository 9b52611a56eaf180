/** The history, filtered by the address. Running transfers are above it, live. */
import type { ReactElement } from 'react';
import { withQuery } from '../api/client.ts';
import { usePages } from '../api/hooks.ts';
import { useLiveTransfers } from '../api/live.ts';
import { useConnections, useKeys } from '../api/names.ts';
import type { Transfer } from '../api/types.ts';
import { formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { type Column, DownloadLink, LinkButton, LiveBadge, Panel } from '../ui/basics.tsx';
import { timeFields, useFilters } from '../ui/filters.tsx';
import { ArrowLeftRight } from '../ui/icons.tsx';
import { ListScreen } from '../ui/list-screen.tsx';
import { FILTERS, presets, queryOf } from './transfers/filters.ts';
import { digestIn } from './transfers/proof.tsx';
import { LiveRows, TRANSFER_BULK, useTransferColumns } from './transfers/rows.tsx';

const words = t.transfers;
const ORDERS: Readonly<Record<string, Pick<Column<Transfer>, 'orders'>>> = {
  started: { orders: ['newest', 'oldest'] },
  size: { orders: ['largest'] },
  duration: { orders: ['longest'] },
};

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
  const columns = useTransferColumns().map((column) => ({ ...column, ...ORDERS[column.name ?? ''] }));
  // The list of running ones is above, unless they were asked for.
  const isOfRunning = values.status === 'pending';
  const running = new Set(live.transfers.map(({ id }) => id));
  const { order: _, ...exported } = query;
  return (
    <ListScreen
      title={t.places.transfers}
      words={
        values.digest === undefined
          ? words
          : { ...words, noneFitsText: `${t.common.removeFilter} ${words.noneFitsDigest}` }
      }
      icon={ArrowLeftRight}
      list={{ ...list, rows: list.rows?.filter(({ id }) => isOfRunning || !running.has(id)) }}
      columns={columns}
      bulk={TRANSFER_BULK}
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
        ...timeFields(),
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
        live.transfers.length > 0 &&
        !isOfRunning && (
          <Panel title={t.words.runningNow(formatNumber(live.transfers.length))}>
            <LiveRows transfers={live.transfers} />
          </Panel>
        )
      }
      panelTitle={words.history}
      panelActions={
        <span className="row">
          <span role="status" className="muted small">
            {list.isFetching === true && t.words.loadingMore}
          </span>
          <LiveBadge isLive={live.isConnected} />
        </span>
      }
    />
  );
}
