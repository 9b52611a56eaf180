/** Bars over time. Each has a label and a link; arrow keys move between them. */
import { type KeyboardEvent, type ReactElement, useRef, useState } from 'react';
import { Link } from 'wouter';

type BarTone = 'good' | 'bad' | 'soft';

export interface Bar {
  readonly key: string;
  readonly label: string;
  readonly text: string;
  readonly href: string;
  /** Overlapping parts, drawn from the bottom. The first is the highest. */
  readonly parts: readonly { readonly value: number; readonly tone: BarTone }[];
}

const LABELS = 6;
const STEPS = [2, 4, 10, 20, 50, 100, 200, 500, 1_000];
/** The least height of a part that is not zero. */
const LEAST_HEIGHT = 2;

/** The next number above that is easy to read; its half is easy to read too. */
function roundTop(highest: number, base: number): number {
  const unit = highest < 1 ? 1 : base ** Math.floor(Math.log(highest) / Math.log(base));
  return unit * (STEPS.find((step) => step * unit >= highest) ?? base);
}

export function BarChart(props: {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly valueText: (value: number) => string;
  /** The base of the unit prefixes: 1024 for bytes. */
  readonly base?: number;
  readonly legend?: readonly (readonly [tone: BarTone, text: string])[];
}): ReactElement {
  const { title, bars, valueText, base = 10, legend = [] } = props;
  const top = roundTop(Math.max(0, ...bars.flatMap(({ parts }) => parts.map(({ value }) => value))), base);
  const every = Math.max(1, Math.round(bars.length / LABELS));
  const list = useRef<HTMLUListElement>(null);
  // The bar that Tab reaches; the newest at first.
  const [chosen, setChosen] = useState<number>();
  const current = Math.min(chosen ?? bars.length - 1, bars.length - 1);
  const move = (event: KeyboardEvent): void => {
    const to = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: bars.length - 1 }[event.key];
    if (to === undefined || to < 0 || to >= bars.length) return;
    event.preventDefault();
    setChosen(to);
    list.current?.querySelectorAll('a')[to]?.focus();
  };
  return (
    <figure className="chart" aria-label={title}>
      <div className="chart-scale" aria-hidden>
        <span>{valueText(top)}</span>
        <span>{valueText(top / 2)}</span>
        <span>{valueText(0)}</span>
      </div>
      <ul ref={list} className="bars" onKeyDown={move}>
        {bars.map(({ key, label, text, href, parts }, index) => (
          <li key={key}>
            <Link
              href={href}
              className="bar"
              aria-label={`${label}: ${text}`}
              title={`${label}: ${text}`}
              tabIndex={index === current ? 0 : -1}
              onFocus={() => setChosen(index)}
            >
              {parts.map(
                ({ value, tone }) =>
                  value > 0 && (
                    <span
                      key={tone}
                      className={`bar-${tone}`}
                      style={{ blockSize: `${Math.max(LEAST_HEIGHT, (value / top) * 100)}%` }}
                    />
                  ),
              )}
            </Link>
          </li>
        ))}
      </ul>
      <div className="chart-labels" aria-hidden>
        {bars.map(
          ({ key, label }, index) =>
            index % every === 0 && (
              <span key={key} style={{ insetInlineStart: `${((index + 0.5) / bars.length) * 100}%` }}>
                {label}
              </span>
            ),
        )}
      </div>
      {legend.length > 0 && (
        <figcaption className="chart-legend">
          {legend.map(([tone, text]) => (
            <span key={tone}>
              <span className={`swatch bar-${tone}`} aria-hidden /> {text}
            </span>
          ))}
        </figcaption>
      )}
    </figure>
  );
}
