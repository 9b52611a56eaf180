/** The actions of the month against the plan. */
import type { ReactElement } from 'react';
import { useRead } from '../api/hooks.ts';
import type { Usage } from '../api/types.ts';
import { formatDay, formatNumber, sinceOf } from '../format.ts';
import { Loaded, Notice, Page, Panel, Progress } from '../ui/basics.tsx';
import { BarChart } from '../ui/chart.tsx';
import { withQuery } from '../api/client.ts';
import { t } from '../texts/texts.ts';
import { DAY_MS } from '../../../contract/units.ts';

const words = t.usage;

export default function UsageScreen(): ReactElement {
  const read = useRead('/manage/usage', { everyMs: 60_000 });
  return (
    <Page title={t.places.usage} lead={words.lead}>
      <Loaded of={read}>{(usage) => <Month usage={usage} />}</Loaded>
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
        <Notice tone="bad" title={words.usedUp}>
          {words.usedUpText}
        </Notice>
      ) : (
        runsOutAt !== null && (
          <Notice tone="warn" title={words.runsOut(formatDay(runsOutAt))}>
            {words.runsOutText}
          </Notice>
        )
      )}
      <dl className="tiles">
        <div className="tile">
          <dt>{t.settings.plan}</dt>
          <dd>{plan}</dd>
        </div>
        <div className="tile">
          <dt>{words.actions}</dt>
          <dd>
            {formatNumber(used)} <small>{limit === 0 ? words.noLimit : words.of(formatNumber(limit))}</small>
            {limit > 0 && <Progress value={used} max={limit} label={words.used} tone={tone} />}
          </dd>
        </div>
        <div className="tile">
          <dt>{words.forecast}</dt>
          <dd>{formatNumber(Math.round(forecast))}</dd>
        </div>
        <div className="tile">
          <dt>{t.words.connections}</dt>
          <dd>
            {formatNumber(connections.used)}{' '}
            <small>{connections.limit === 0 ? words.noLimit : words.of(formatNumber(connections.limit))}</small>
          </dd>
        </div>
      </dl>
      <Panel title={words.byDay}>
        <BarChart
          title={words.byDay}
          legend={[
            ['good', words.done],
            ['bad', words.failed],
          ]}
          valueText={(value) => formatNumber(Math.round(value))}
          bars={wholeMonth(month, days).map(({ day, actions, failed }) => ({
            key: day,
            label: day.slice(8),
            text: words.day(formatNumber(actions), formatNumber(failed)),
            href: withQuery('/transfers', {
              since: sinceOf(day),
              until: new Date(Date.parse(day) + DAY_MS).toISOString(),
            }),
            parts: [
              { value: actions, tone: 'good' },
              { value: failed, tone: 'bad' },
            ],
          }))}
        />
      </Panel>
    </>
  );
}

/** Adds days without actions, which the gateway omits. */
function wholeMonth(month: string, days: Usage['days']): Usage['days'] {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const known = new Map(days.map((one) => [one.day, one]));
  return Array.from({ length: new Date(Date.UTC(year, number, 0)).getUTCDate() }, (_, index) => {
    const day = `${month}-${String(index + 1).padStart(2, '0')}`;
    return known.get(day) ?? { day, actions: 0, failed: 0 };
  });
}
