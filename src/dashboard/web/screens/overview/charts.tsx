/** Charts of the last hours or days. Each bar links to its transfers. */
import type { ReactElement } from 'react';
import type { Range } from '../../../../contract/figures.ts';
import { withQuery } from '../../api/client.ts';
import { useRead } from '../../api/hooks.ts';
import type { Figures } from '../../api/types.ts';
import {
  formatBytes,
  formatDuration,
  formatHour,
  formatNumber,
  formatPercent,
  formatShortDay,
  sinceOf,
} from '../../format.ts';
import { timeZone } from '../../preferences.ts';
import { t } from '../../texts/texts.ts';
import { Panel, type Reading } from '../../ui/basics.tsx';
import { BarChart, type Bar } from '../../ui/chart.tsx';

const words = t.overview;

type Point = Figures['points'][number];

export function useFigures(range: Range): Reading<Figures> {
  return useRead(withQuery('/manage/figures', { range, timeZone }), { everyMs: 30_000, keepsFormer: true });
}

export function Charts({ figures: { range, points } }: { readonly figures: Figures }): ReactElement {
  const labelOf = range === '24h' ? formatHour : formatShortDay;
  const bars = (
    one: (point: Point) => Pick<Bar, 'text' | 'parts'> & { readonly query?: Record<string, string | undefined> },
  ) =>
    points.map((point): Bar => {
      const { query = {}, ...bar } = one(point);
      const href = withQuery('/transfers', { since: sinceOf(point.from), until: point.until, ...query });
      return { key: point.from, label: labelOf(point.from), href, ...bar };
    });
  return (
    <>
      <div className="charts">
        <Throughput bars={bars} />
        <Failures bars={bars} points={points} />
        <Latency bars={bars} />
        <Deliveries bars={bars} points={points} />
      </div>
      <p className="hint">{words.chartHint}</p>
    </>
  );
}

interface Drawn {
  readonly bars: (
    one: (point: Point) => Pick<Bar, 'text' | 'parts'> & { readonly query?: Record<string, string | undefined> },
  ) => readonly Bar[];
}

function Throughput({ bars }: Drawn): ReactElement {
  const { title, question, text } = words.throughput;
  return (
    <Panel title={title} actions={<span className="muted small">{question}</span>}>
      <BarChart
        title={title}
        valueText={formatBytes}
        base={1024}
        bars={bars(({ bytesIn, bytesOut }) => ({
          text: text(formatBytes(bytesIn + bytesOut), formatBytes(bytesIn), formatBytes(bytesOut)),
          parts: [{ value: bytesIn + bytesOut, tone: 'good' }],
          query: { order: 'largest' },
        }))}
      />
    </Panel>
  );
}

function Failures({ bars, points }: Drawn & { readonly points: readonly Point[] }): ReactElement {
  const { title, question, text, good, bad, total } = words.failures;
  const all = points.reduce((sum, { transfers, lookups }) => sum + transfers - lookups, 0);
  const failed = points.reduce((sum, one) => sum + one.failed - one.failedLookups, 0);
  return (
    <Panel
      title={title}
      actions={<span className="muted small">{all === 0 ? question : total(formatPercent(failed / all))}</span>}
    >
      <BarChart
        title={title}
        valueText={(value) => formatNumber(Math.round(value))}
        legend={[
          ['good', good],
          ['bad', bad],
        ]}
        bars={bars(({ transfers, lookups, failed: failedAll, failedLookups }) => {
          const wrong = failedAll - failedLookups;
          return {
            text: text(formatNumber(transfers - lookups), formatNumber(wrong)),
            parts: [
              { value: transfers - lookups, tone: 'good' },
              { value: wrong, tone: 'bad' },
            ],
            query: wrong > 0 ? { status: 'failed' } : {},
          };
        })}
      />
    </Panel>
  );
}

function Latency({ bars }: Drawn): ReactElement {
  const { title, question, text, none, p50, p95 } = words.latency;
  return (
    <Panel title={title} actions={<span className="muted small">{question}</span>}>
      <BarChart
        title={title}
        valueText={formatDuration}
        legend={[
          ['good', p50],
          ['soft', p95],
        ]}
        bars={bars(({ p50Ms, p95Ms }) => ({
          text: p50Ms === null || p95Ms === null ? none : text(formatDuration(p50Ms), formatDuration(p95Ms)),
          parts: [
            { value: p95Ms ?? 0, tone: 'soft' },
            { value: p50Ms ?? 0, tone: 'good' },
          ],
          query: { order: 'longest' },
        }))}
      />
    </Panel>
  );
}

function Deliveries({ bars, points }: Drawn & { readonly points: readonly Point[] }): ReactElement {
  const { title, question, text, good, bad, none, total } = words.deliveries;
  const delivered = points.reduce((sum, one) => sum + one.delivered, 0);
  const all = points.reduce((sum, one) => sum + one.undelivered, delivered);
  return (
    <Panel
      title={title}
      actions={<span className="muted small">{all === 0 ? question : total(formatPercent(delivered / all))}</span>}
    >
      {all === 0 ? (
        <p className="panel-body muted">{none}</p>
      ) : (
        <BarChart
          title={title}
          valueText={(value) => formatNumber(Math.round(value))}
          legend={[
            ['good', good],
            ['bad', bad],
          ]}
          bars={bars((point) => ({
            text: text(formatNumber(point.delivered), formatNumber(point.undelivered)),
            parts: [
              { value: point.delivered + point.undelivered, tone: 'good' },
              { value: point.undelivered, tone: 'bad' },
            ],
          })).map((bar) => ({ ...bar, href: '/webhooks' }))}
        />
      )}
    </Panel>
  );
}
