/** Today at a glance, and what needs a person. */
import type { ReactElement } from 'react';
import { ArrowRight, CircleCheck, KeyRound, Server, TriangleAlert } from '../ui/icons.tsx';
import { Link } from 'wouter';
import { useLiveTransfers } from '../api/live.ts';
import { useRead } from '../api/hooks.ts';
import type { Account, Connection, Overview as OverviewData, Transfer } from '../api/types.ts';
import { formatBytes, formatHour, formatNumber } from '../format.ts';
import { CodeBlock, LinkButton, Page, Panel, Pending } from '../ui/basics.tsx';
import { BarChart } from '../ui/chart.tsx';
import { LiveRows, TransferTable } from './transfers/rows.tsx';

export default function Overview(): ReactElement {
  const overview = useRead<OverviewData>('/manage/overview', { everyMs: 15_000 });
  const account = useRead<Account>('/manage/account');
  const isNew = account.data !== undefined && (account.data.connections === 0 || account.data.transfers === 0);
  return (
    <Page title="Overview">
      {isNew && account.data !== undefined && <FirstSteps account={account.data} />}
      {overview.data === undefined ? (
        <Pending error={overview.error} onRetry={() => void overview.refetch()} />
      ) : (
        <Today data={overview.data} />
      )}
      <Running />
      <Recent />
    </Page>
  );
}

function Today({ data: { today, hours, attention } }: { readonly data: OverviewData }): ReactElement {
  return (
    <>
      <dl className="tiles">
        <div className="tile">
          <dt>Transfers today</dt>
          <dd>{formatNumber(today.transfers)}</dd>
        </div>
        <div className="tile">
          <dt>Failed today</dt>
          <dd className={today.failed > 0 ? 'bad' : undefined}>
            {today.failed > 0 ? <Link href="/transfers?status=failed">{formatNumber(today.failed)}</Link> : 0}
          </dd>
        </div>
        <div className="tile">
          <dt>Sent to servers</dt>
          <dd>{formatBytes(today.bytesOut)}</dd>
        </div>
        <div className="tile">
          <dt>Fetched from servers</dt>
          <dd>{formatBytes(today.bytesIn)}</dd>
        </div>
      </dl>
      <div className="split">
        <Panel title="Throughput, last 24 hours">
          <BarChart
            title="Bytes moved in each of the last 24 hours"
            valueText={formatBytes}
            base={1024}
            bars={hours.map(({ from, bytes, transfers, failed }) => ({
              label: formatHour(from),
              value: bytes,
              text: `${formatBytes(bytes)}, ${formatNumber(transfers)} transfers, ${formatNumber(failed)} failed`,
            }))}
          />
        </Panel>
        <Panel title="Needs a person">
          {attention.length === 0 ? (
            <p className="attention-none">
              <CircleCheck aria-hidden size={18} /> Nothing. All connections, keys and quotas are fine.
            </p>
          ) : (
            <ul className="attention">
              {attention.map((item) => (
                <li key={`${item.kind} ${item.text}`}>
                  <Link href={placeOf(item)}>
                    <TriangleAlert aria-hidden size={16} />
                    <span>{item.text}</span>
                    <ArrowRight aria-hidden size={14} />
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </Panel>
      </div>
    </>
  );
}

function placeOf(item: OverviewData['attention'][number]): string {
  if (item.connectionId !== undefined) return `/connections/${encodeURIComponent(item.connectionId)}`;
  if (item.watchedFolderId !== undefined) return `/watched/${item.watchedFolderId}`;
  if (item.scheduleId !== undefined) return `/schedules/${item.scheduleId}`;
  if (item.kind === 'dead_letters') return '/webhooks';
  if (item.kind === 'copies_failed') return '/watched';
  if (item.kind === 'key_expiring') return '/keys';
  if (item.kind === 'quota') return '/usage';
  return '/transfers?status=failed';
}

function Running(): ReactElement | null {
  const { transfers } = useLiveTransfers();
  if (transfers.length === 0) return null;
  return (
    <Panel title={`Running now (${formatNumber(transfers.length)})`}>
      <LiveRows transfers={transfers.slice(0, 5)} />
    </Panel>
  );
}

function Recent(): ReactElement | null {
  const recent = useRead<{ transfers: Transfer[] }>('/manage/transfers?limit=8', { everyMs: 15_000 });
  if (recent.data === undefined) return recent.error === null ? null : <Pending error={recent.error} />;
  if (recent.data.transfers.length === 0) return null;
  return (
    <Panel title="Latest transfers" actions={<Link href="/transfers">All transfers</Link>}>
      <TransferTable transfers={recent.data.transfers} />
    </Panel>
  );
}

function FirstSteps({ account }: { readonly account: Account }): ReactElement {
  const connections = useRead<{ connections: Connection[] }>('/manage/connections');
  const first = connections.data?.connections.find(({ isActive }) => isActive)?.id ?? 'CONNECTION';
  const line = `curl -H "Authorization: Bearer $FTG_KEY" -F file=@hello.txt ${location.origin}/api/upload/${first}`;
  return (
    <Panel title="First steps">
      <ol className="panel-body steps-to-start">
        <li>
          <h3>{account.connections === 0 ? 'Add a connection' : 'A connection is there'}</h3>
          <p className="muted">
            A server that files go to or come from: SFTP, FTP or S3. The test says what is wrong, step by step.
          </p>
          <LinkButton href={account.connections === 0 ? '/connections/new' : '/connections'} icon={Server}>
            {account.connections === 0 ? 'Add a connection' : 'See connections'}
          </LinkButton>
        </li>
        <li>
          <h3>Issue an API key</h3>
          <p className="muted">
            Programs show it with each request. It can be limited to connections, rights and addresses.
          </p>
          <LinkButton href="/keys" icon={KeyRound}>
            API keys
          </LinkButton>
        </li>
        <li>
          <h3>Send the first file</h3>
          <p className="muted">From a program, or by dropping a file on the Files screen.</p>
          <CodeBlock code={line} label="Upload with curl" />
        </li>
      </ol>
    </Panel>
  );
}
