/** Actions of the month against the plan. */
import type { ReactElement } from 'react';
import { useRead } from '../api/hooks.ts';
import type { Usage } from '../api/types.ts';
import { formatDay, formatNumber } from '../format.ts';
import { Notice, Page, Panel, Pending, Progress } from '../ui/basics.tsx';
import { BarChart } from '../ui/chart.tsx';

export default function UsageScreen(): ReactElement {
  const read = useRead<Usage>('/manage/usage', { everyMs: 60_000 });
  return (
    <Page
      title="Usage"
      lead="Each operation on a file counts as one action; lists and look-ups are free. Months are counted in UTC."
    >
      {read.data === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Month usage={read.data} />
      )}
    </Page>
  );
}

function Month({ usage }: { readonly usage: Usage }): ReactElement {
  const { plan, month, used, limit, forecast, runsOutAt, days, connections } = usage;
  const isOver = limit > 0 && used >= limit;
  const tone = isOver ? 'bad' : limit > 0 && (used >= limit * 0.8 || runsOutAt !== null) ? 'warn' : 'info';
  return (
    <>
      {isOver ? (
        <Notice tone="bad" title="The month's actions are used up">
          Requests are answered with 429 until the month ends.
        </Notice>
      ) : (
        runsOutAt !== null && (
          <Notice tone="warn" title={`At this pace the month's actions run out on ${formatDay(runsOutAt)}`}>
            From then on requests are answered with 429 until the month ends.
          </Notice>
        )
      )}
      <dl className="tiles">
        <div className="tile">
          <dt>Plan</dt>
          <dd>{plan}</dd>
        </div>
        <div className="tile">
          <dt>Actions this month</dt>
          <dd>
            {formatNumber(used)} <small>{limit === 0 ? 'no limit' : `of ${formatNumber(limit)}`}</small>
            {limit > 0 && <Progress value={used} max={limit} label="Actions used" tone={tone} />}
          </dd>
        </div>
        <div className="tile">
          <dt>Forecast for the month</dt>
          <dd>{formatNumber(Math.round(forecast))}</dd>
        </div>
        <div className="tile">
          <dt>Connections</dt>
          <dd>
            {formatNumber(connections.used)}{' '}
            <small>{connections.limit === 0 ? 'no limit' : `of ${formatNumber(connections.limit)}`}</small>
          </dd>
        </div>
      </dl>
      <Panel title="Actions by day">
        <BarChart
          title="Actions by day"
          valueText={(value) => formatNumber(Math.round(value))}
          bars={wholeMonth(month, days).map(({ day, actions, failed }) => ({
            label: day.slice(8),
            value: actions,
            bad: failed,
            text: `${formatNumber(actions)} actions, ${formatNumber(failed)} failed`,
          }))}
        />
      </Panel>
    </>
  );
}

/** The gateway lists the days on which something was done; the others are zeros. */
function wholeMonth(month: string, days: Usage['days']): Usage['days'] {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const known = new Map(days.map((one) => [one.day, one]));
  return Array.from({ length: new Date(Date.UTC(year, number, 0)).getUTCDate() }, (_, index) => {
    const day = `${month}-${String(index + 1).padStart(2, '0')}`;
    return known.get(day) ?? { day, actions: 0, failed: 0 };
  });
}
