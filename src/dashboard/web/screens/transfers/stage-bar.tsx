/** The time of a transfer by the stages of `Server-Timing`. */
import type { ReactElement } from 'react';
import type { TransferDetail } from '../../api/types.ts';
import { formatDuration, formatPercent } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Panel } from '../../ui/basics.tsx';
import { stageName } from './rows.tsx';

const words = t.transfers.stages;
const COLOURS = 5;
/** Time outside all stages is shown if it is at least this share. */
const REST_FROM = 0.01;

export function StageBar({ transfer }: { readonly transfer: TransferDetail }): ReactElement | null {
  const { stages, durationMs } = transfer;
  if (stages === null) return null;
  const known = Object.entries(stages).filter(([, ms]) => ms > 0);
  const sum = known.reduce((total, [, ms]) => total + ms, 0);
  const rest = durationMs - sum;
  const all = rest > durationMs * REST_FROM ? [...known, ['other', rest] as const] : known;
  const whole = Math.max(sum, durationMs);
  return (
    <Panel title={words.title}>
      {all.length === 0 || whole === 0 ? (
        <p className="panel-body muted">{words.none}</p>
      ) : (
        <div className="panel-body stack tight">
          <div className="stage-bar" aria-hidden>
            {all.map(([name, ms], index) => (
              <span
                key={name}
                className={`stage-${index % COLOURS}`}
                style={{ flexGrow: ms }}
                title={textOf(name, ms, whole)}
              />
            ))}
          </div>
          <ul className="stage-list small" aria-label={words.title}>
            {all.map(([name, ms], index) => (
              <li key={name}>
                <span className={`swatch stage-${index % COLOURS}`} aria-hidden /> {textOf(name, ms, whole)}
              </li>
            ))}
          </ul>
        </div>
      )}
    </Panel>
  );
}

function textOf(name: string, ms: number, whole: number): string {
  return words.text(stageName(name), formatDuration(ms), formatPercent(ms / whole));
}
