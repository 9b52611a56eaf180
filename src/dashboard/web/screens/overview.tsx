/** Whether anything is wrong and what to do, then today's figures, then the last days. */
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'wouter';
import { DEFAULT_RANGE, RANGES } from '../../../contract/figures.ts';
import { useLiveTransfers } from '../api/live.ts';
import { type Rows, useRead, useRows } from '../api/hooks.ts';
import { withQuery } from '../api/client.ts';
import { useOverview } from '../api/overview.ts';
import type { Overview as OverviewData, Transfer } from '../api/types.ts';
import { formatBytes, formatNumber, sinceOf } from '../format.ts';
import { timeZone } from '../preferences.ts';
import { t } from '../texts/texts.ts';
import { Loaded, Page, Panel, Skeleton } from '../ui/basics.tsx';
import { RadioGroup } from '../ui/fields.tsx';
import { List } from '../ui/list.tsx';
import { Attention } from './overview/attention.tsx';
import { Charts, useFigures } from './overview/charts.tsx';
import { FirstSteps } from './overview/first-steps.tsx';
import { PoolUse } from './overview/pool-use.tsx';
import { LiveRows, useTransferColumns } from './transfers/rows.tsx';

const words = t.overview;

export default function Overview(): ReactElement {
  const overview = useOverview(15_000);
  const account = useRead('/manage/account');
  const isNew = account.data !== undefined && (account.data.connections === 0 || account.data.transfers === 0);
  const [parameters, setParameters] = useSearchParams();
  const asked = parameters.get('range');
  const range = RANGES.find((name) => name === asked) ?? DEFAULT_RANGE;
  const figures = useFigures(range);
  const recent = useRows('/manage/transfers?limit=8&lookups=false', 'transfers', { everyMs: 15_000 });
  // Drawn at once, so that nothing moves when a late answer arrives.
  const isAwaited =
    [overview, account, figures].some(({ data, error }) => data === undefined && error === null) ||
    (recent.rows === undefined && recent.error === null);
  return (
    <Page
      title={t.places.overview}
      lead={
        <>
          {words.zone(timeZone)} <Link href="/settings">{words.changeZone}</Link>
        </>
      }
    >
      {isAwaited && <Skeleton />}
      <div className="page-parts" hidden={isAwaited}>
        {isNew && account.data !== undefined && <FirstSteps account={account.data} />}
        <Loaded of={overview}>
          {({ today, attention }) => (
            <>
              <Attention items={attention} />
              <Today today={today} />
            </>
          )}
        </Loaded>
        {account.data?.transfers !== 0 && (
          <>
            <RadioGroup
              label={words.range}
              value={range}
              options={RANGES.map((name) => [name, words.ranges[name]] as const)}
              onValue={(value) => setParameters(value === DEFAULT_RANGE ? {} : { range: value }, { replace: true })}
            />
            <Loaded of={figures}>{(data) => <Charts figures={data} />}</Loaded>
          </>
        )}
        <Running />
        <Recent list={recent} />
        <PoolUse />
      </div>
    </Page>
  );
}

function Today({ today }: { readonly today: OverviewData['today'] }): ReactElement {
  const { transfers, failed, pending, lookups, failedLookups, bytesIn, bytesOut, from } = today;
  const since = sinceOf(from);
  const failedHere = failed - failedLookups;
  const tile = (name: string, value: string, query: Record<string, string>, isBad = false, more = ''): ReactElement => (
    <div className="tile">
      <dt>{name}</dt>
      <dd className={isBad ? 'bad' : undefined}>
        <Link href={withQuery('/transfers', query)}>{value}</Link>{' '}
        {more !== '' && <small className="below">{more}</small>}
      </dd>
    </div>
  );
  const lookupsText = lookups === 0 ? '' : words.lookups(formatNumber(lookups));
  return (
    <dl className="tiles" aria-label={words.today}>
      {tile(words.transfersToday, formatNumber(transfers - lookups), { since }, false, lookupsText)}
      {tile(words.failedToday, formatNumber(failedHere), { since, status: 'failed' }, failedHere > 0)}
      {tile(words.running, formatNumber(pending), { status: 'pending' })}
      {tile(words.sent, formatBytes(bytesOut), { since, direction: 'outbound', order: 'largest' })}
      {tile(words.fetched, formatBytes(bytesIn), { since, direction: 'inbound', order: 'largest' })}
    </dl>
  );
}

function Running(): ReactElement | null {
  const { transfers } = useLiveTransfers();
  if (transfers.length === 0) return null;
  return (
    <Panel title={t.words.runningNow(formatNumber(transfers.length))}>
      <LiveRows transfers={transfers.slice(0, 5)} />
    </Panel>
  );
}

function Recent({ list }: { readonly list: Rows<Transfer> }): ReactElement | null {
  const columns = useTransferColumns();
  if (list.rows === undefined ? list.error === null : list.rows.length === 0) return null;
  return (
    <Panel title={words.latest} actions={<Link href="/transfers">{words.all}</Link>}>
      <List list={list} label={t.places.transfers} none="" columns={columns} />
    </Panel>
  );
}
