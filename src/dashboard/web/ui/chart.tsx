/** Bars over time; the numbers stand in a table beside them for those who do not see the picture. */
import type { ReactElement } from 'react';

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The part of the value that went wrong, drawn in its own colour. */
  readonly bad?: number;
  readonly text: string;
}

const WIDTH = 720;
const HEIGHT = 160;
const LABELS = 6;
const STEPS = [2, 4, 10, 20, 50, 100, 200, 500, 1_000];

/** The next number above that reads well, whole and by half. */
function roundTop(highest: number, base: number): number {
  const unit = highest < 1 ? 1 : base ** Math.floor(Math.log(highest) / Math.log(base));
  return unit * (STEPS.find((step) => step * unit >= highest) ?? base);
}

export function BarChart({
  title,
  bars,
  valueText,
  base = 10,
}: {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly valueText: (value: number) => string;
  /** What the units of the text are powers of: 1024 for bytes. */
  readonly base?: number;
}): ReactElement {
  const top = roundTop(Math.max(...bars.map(({ value }) => value)), base);
  const every = Math.max(1, Math.round(bars.length / LABELS));
  const step = WIDTH / Math.max(1, bars.length);
  return (
    <figure className="chart">
      <div className="chart-scale" aria-hidden>
        <span>{valueText(top)}</span>
        <span>{valueText(top / 2)}</span>
        <span>{valueText(0)}</span>
      </div>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden focusable="false">
        {[0, 0.5, 1].map((share) => (
          <line
            key={share}
            x1={0}
            x2={WIDTH}
            y1={1 + share * (HEIGHT - 2)}
            y2={1 + share * (HEIGHT - 2)}
            className="grid-line"
          />
        ))}
        {bars.map(({ label, value, bad = 0, text }, index) => {
          const height = (value / top) * (HEIGHT - 4);
          const badHeight = value === 0 ? 0 : (bad / value) * height;
          const x = index * step + step * 0.14;
          return (
            <g key={label} className="bar">
              <title>{`${label}: ${text}`}</title>
              <rect x={index * step} y={0} width={step} height={HEIGHT} className="bar-space" />
              {value > 0 && (
                <rect
                  x={x}
                  y={HEIGHT - Math.max(3, height)}
                  width={step * 0.72}
                  height={Math.max(3, height)}
                  className="bar-good"
                />
              )}
              {bad > 0 && (
                <rect
                  x={x}
                  y={HEIGHT - Math.max(3, badHeight)}
                  width={step * 0.72}
                  height={Math.max(3, badHeight)}
                  className="bar-bad"
                />
              )}
            </g>
          );
        })}
      </svg>
      <div className="chart-labels" aria-hidden>
        {bars.map(
          ({ label }, index) =>
            index % every === 0 && (
              <span key={label} style={{ insetInlineStart: `${((index + 0.5) / bars.length) * 100}%` }}>
                {label}
              </span>
            ),
        )}
      </div>
      {/* Around the table: a table itself is as wide as its words, whatever it is told. */}
      <div className="visually-hidden">
        <table>
          <caption>{title}</caption>
          <tbody>
            {bars.map(({ label, text }) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
