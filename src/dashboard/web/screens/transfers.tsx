/** The history, filtered by what stands in the address; running transfers above it, live. */
import { useEffect, useState, type ReactElement } from 'react';
import { ArrowLeftRight, Download } from '../ui/icons.tsx';
import { useSearchParams } from 'wouter';
import { withQuery } from '../api/client.ts';
import { usePages, useRead } from '../api/hooks.ts';
import { useLiveTransfers } from '../api/live.ts';
import type { Connection, Transfer } from '../api/types.ts';
import { formatNumber } from '../format.ts';
import { Badge, Button, Empty, LinkButton, Page, Panel, Pending } from '../ui/basics.tsx';
import { ChoiceField, TextField } from '../ui/fields.tsx';
import { digestIn } from './transfers/proof.tsx';
import { LiveRows, TransferTable } from './transfers/rows.tsx';

const FILTERS = ['connectionId', 'status', 'type', 'direction', 'since', 'until', 'search', 'digest'] as const;
type Filter = (typeof FILTERS)[number];
type Filters = Partial<Record<Filter, string>>;

const TYPES: readonly Transfer['type'][] = [
  'upload',
  'download',
  'read',
  'write',
  'append',
  'delete',
  'move',
  'mkdir',
  'list',
  'exists',
  'copy',
  'exec',
  'poll',
];
const TYPING_MS = 250;

interface Page {
  readonly transfers: readonly Transfer[];
  readonly nextCursor: string | null;
}

export default function Transfers(): ReactElement {
  const [parameters, setParameters] = useSearchParams();
  const filters: Filters = Object.fromEntries(
    FILTERS.flatMap((name) => (parameters.get(name) ? [[name, parameters.get(name)]] : [])) as [Filter, string][],
  );
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
  const path = withQuery('/manage/transfers', { ...filters, limit: 50 });
  const pages = usePages<Page>(path, { everyMs: 10_000 });
  const running = new Set(live.transfers.map(({ id }) => id));
  const rows = (pages.data?.pages ?? []).flatMap(({ transfers }) => transfers).filter(({ id }) => !running.has(id));

  // A page may be empty and still have a next one: the gateway looks at no more than so many rows at once.
  const { hasNextPage, isFetching, fetchNextPage } = pages;
  useEffect(() => {
    if (rows.length === 0 && hasNextPage && !isFetching) void fetchNextPage();
  }, [rows.length, hasNextPage, isFetching, fetchNextPage]);

  const exportOf = (format: string): string => withQuery('/manage/transfers/export', { ...filters, format });
  return (
    <Page
      isWide
      title="Transfers"
      lead="Every file operation, failed ones too."
      actions={
        <>
          <a className="button plain" href={exportOf('csv')} download>
            <Download aria-hidden size={15} /> CSV
          </a>
          <a className="button plain" href={exportOf('ndjson')} download>
            <Download aria-hidden size={15} /> NDJSON
          </a>
        </>
      }
    >
      <FilterBar filters={filters} onChange={change} />
      <Panel
        title={`Running now (${formatNumber(live.transfers.length)})`}
        actions={live.isConnected ? <Badge tone="good">Live</Badge> : <Badge tone="warn">Connecting …</Badge>}
      >
        {live.transfers.length === 0 ? (
          <p className="panel-body muted">Nothing is being transferred.</p>
        ) : (
          <LiveRows transfers={live.transfers} />
        )}
      </Panel>
      <Panel
        title="History"
        actions={
          <span role="status" className="muted small">
            {isFetching && 'Loading …'}
          </span>
        }
      >
        {pages.data === undefined ? (
          <Pending error={pages.error} onRetry={() => void pages.refetch()} />
        ) : rows.length > 0 ? (
          <TransferTable transfers={rows} />
        ) : hasNextPage ? (
          <p className="panel-body muted">Searching older transfers …</p>
        ) : isFiltered ? (
          <Empty
            title="No transfer fits the filters"
            action={<Button onClick={() => setParameters({})}>Show all</Button>}
          >
            Take a filter away, or look at another time.
            {filters.digest !== undefined && ' By its SHA-256 a file is found where digests were taken.'}
          </Empty>
        ) : (
          <Empty
            icon={ArrowLeftRight}
            title="No transfer yet"
            action={<LinkButton href="/files">Browse files</LinkButton>}
          >
            Uploads, downloads and all other operations appear here, with their size, their time and, where one fails,
            the words of the server.
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
    </Page>
  );
}

function FilterBar({
  filters,
  onChange,
}: {
  readonly filters: Filters;
  readonly onChange: (to: Filters) => void;
}): ReactElement {
  const connections = useRead<{ connections: Connection[] }>('/manage/connections');
  const ids = connections.data?.connections.map(({ id, name }) => [id, name] as const) ?? [];
  return (
    <search className="filters">
      <SearchField
        value={filters.digest ?? filters.search ?? ''}
        onValue={(value) => {
          const digest = digestIn(value);
          onChange({ digest: digest ?? '', search: digest === undefined ? value : '' });
        }}
      />
      <ChoiceField
        label="Connection"
        value={filters.connectionId ?? ''}
        onText={(value) => onChange({ connectionId: value })}
        options={[['', 'All'], ...ids]}
      />
      <ChoiceField
        label="Status"
        value={filters.status ?? ''}
        onText={(value) => onChange({ status: value })}
        options={[
          ['', 'All'],
          ['success', 'Done'],
          ['failed', 'Failed'],
          ['pending', 'Running'],
        ]}
      />
      <ChoiceField
        label="Type"
        value={filters.type ?? ''}
        onText={(value) => onChange({ type: value })}
        options={[['', 'All'], ...TYPES.map((type) => [type, type] as const)]}
      />
      <ChoiceField
        label="Direction"
        value={filters.direction ?? ''}
        onText={(value) => onChange({ direction: value })}
        options={[
          ['', 'Both'],
          ['outbound', 'To the server'],
          ['inbound', 'From the server'],
        ]}
      />
      <TextField
        label="After"
        type="datetime-local"
        value={localTime(filters.since)}
        onText={(value) => onChange({ since: isoTime(value) })}
      />
      <TextField
        label="Before"
        type="datetime-local"
        value={localTime(filters.until)}
        onText={(value) => onChange({ until: isoTime(value) })}
      />
    </search>
  );
}

/** Waits for a pause in the typing; follows the address when that changes by itself. */
function SearchField({ value, onValue }: { value: string; onValue: (value: string) => void }): ReactElement {
  const [text, setText] = useState(value);
  const [sent, setSent] = useState(value);
  if (value !== sent) {
    setSent(value);
    setText(value);
  }
  useEffect(() => {
    if (text === sent) return undefined;
    const timer = setTimeout(() => {
      setSent(text);
      onValue(text);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, sent, onValue]);
  return (
    <TextField
      label="Name or path, or a SHA-256"
      type="search"
      value={text}
      onText={setText}
      placeholder="Part of the name, or the whole digest"
    />
  );
}

function localTime(iso: string | undefined): string {
  const date = new Date(iso ?? '');
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function isoTime(local: string): string {
  return local === '' ? '' : new Date(local).toISOString();
}
