/** The history, filtered by what stands in the address; running transfers above it, live. */
import { useEffect, type ReactElement } from 'react';
import { Link, useSearchParams } from 'wouter';
import { withQuery } from '../api/client.ts';
import { usePages } from '../api/hooks.ts';
import { useLiveTransfers } from '../api/live.ts';
import type { Transfer } from '../api/types.ts';
import { formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { Badge, Button, Empty, LinkButton, Page, Panel, Pending } from '../ui/basics.tsx';
import { ArrowLeftRight, Download } from '../ui/icons.tsx';
import { FilterBar } from './transfers/filter-bar.tsx';
import { type Filters, filtersOf, isChosen, presets, queryOf } from './transfers/filters.ts';
import { LiveRows, TransferTable } from './transfers/rows.tsx';

const words = t.transfers;

interface Page {
  readonly transfers: readonly Transfer[];
  readonly nextCursor: string | null;
}

export default function Transfers(): ReactElement {
  const [parameters, setParameters] = useSearchParams();
  const filters = filtersOf(parameters);
  const isFiltered = Object.keys(filters).length > 0;
  const change = (to: Filters): void =>
    setParameters(
      (former) => {
        const next = new URLSearchParams(former);
        for (const [name, value] of Object.entries(to)) {
          if (value === '') next.delete(name);
          else next.set(name, value);
        }
        return next;
      },
      { replace: true },
    );
  const live = useLiveTransfers();
  const query = queryOf(filters);
  const pages = usePages<Page>(withQuery('/manage/transfers', { ...query, limit: 50 }), { everyMs: 10_000 });
  const running = new Set(live.transfers.map(({ id }) => id));
  const rows = (pages.data?.pages ?? []).flatMap(({ transfers }) => transfers).filter(({ id }) => !running.has(id));

  // A page may be empty and still have a next one: the gateway looks at no more than so many rows at once.
  const { hasNextPage, isFetching, fetchNextPage } = pages;
  useEffect(() => {
    if (rows.length === 0 && hasNextPage && !isFetching) void fetchNextPage();
  }, [rows.length, hasNextPage, isFetching, fetchNextPage]);

  const { order: _, ...exported } = query;
  const exportOf = (format: string): string => withQuery('/manage/transfers/export', { ...exported, format });
  return (
    <Page
      isWide
      title={words.title}
      lead={words.lead}
      actions={
        <>
          <a className="button plain" href={exportOf('csv')} download>
            <Download aria-hidden size={15} /> {words.csv}
          </a>
          <a className="button plain" href={exportOf('ndjson')} download>
            <Download aria-hidden size={15} /> {words.ndjson}
          </a>
        </>
      }
    >
      <nav className="presets" aria-label={words.presets.label}>
        {presets().map((preset) => (
          <Link
            key={preset.name}
            href={withQuery('/transfers', preset.filters)}
            aria-current={isChosen(preset, filters) ? 'true' : undefined}
          >
            {preset.name}
          </Link>
        ))}
      </nav>
      <FilterBar filters={filters} onChange={change} />
      <Panel
        title={words.running(formatNumber(live.transfers.length))}
        actions={
          live.isConnected ? <Badge tone="good">{words.live}</Badge> : <Badge tone="warn">{words.connecting}</Badge>
        }
      >
        {live.transfers.length === 0 ? (
          <p className="panel-body muted">{words.nothingRuns}</p>
        ) : (
          <LiveRows transfers={live.transfers} />
        )}
      </Panel>
      <Panel
        title={words.history}
        actions={
          <span role="status" className="muted small">
            {isFetching && words.loading}
          </span>
        }
      >
        {pages.data === undefined ? (
          <Pending error={pages.error} onRetry={() => void pages.refetch()} />
        ) : rows.length > 0 ? (
          <TransferTable transfers={rows} />
        ) : hasNextPage ? (
          <p className="panel-body muted">{words.searching}</p>
        ) : isFiltered ? (
          <Empty
            title={words.noFit.title}
            action={<Button onClick={() => setParameters({})}>{words.noFit.all}</Button>}
          >
            {words.noFit.text}
            {filters.digest !== undefined && ` ${words.noFit.digest}`}
          </Empty>
        ) : (
          <Empty
            icon={ArrowLeftRight}
            title={words.none.title}
            action={<LinkButton href="/files">{words.none.browse}</LinkButton>}
          >
            {words.none.text}
          </Empty>
        )}
        {rows.length > 0 && hasNextPage && (
          <div className="panel-body">
            <div className="row">
              <Button isBusy={pages.isFetchingNextPage} onClick={() => void fetchNextPage()}>
                {filters.order === undefined ? words.older : words.more}
              </Button>
            </div>
          </div>
        )}
      </Panel>
    </Page>
  );
}
