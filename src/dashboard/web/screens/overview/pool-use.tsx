/** The used share of each server's session limit. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../api/hooks.ts';
import { t } from '../../texts/texts.ts';
import { Panel, Pending, Progress } from '../../ui/basics.tsx';
import { mostOf, toneOf } from '../pools/tone.ts';

const words = t.overview.pools;
const MOST_SHOWN = 6;

export function PoolUse(): ReactElement {
  const read = useRead('/manage/pools', { everyMs: 5_000 });
  const fullest = [...(read.data?.pools ?? [])].sort(
    (a, b) => b.waiting - a.waiting || b.leased / mostOf(b) - a.leased / mostOf(a),
  );
  return (
    <Panel title={words.title} actions={<Link href="/pools">{words.all}</Link>}>
      {read.data === undefined ? (
        <Pending error={read.error} />
      ) : fullest.length === 0 ? (
        <p className="panel-body muted">{words.none}</p>
      ) : (
        <ul className="panel-body stack tight">
          {fullest.slice(0, MOST_SHOWN).map((pool) => (
            <li key={`${pool.host} ${pool.connectionIds.join()}`}>
              <div className="row spread small">
                <span className="mono">{pool.host}</span>
                <span>
                  {t.words.of(String(pool.leased), String(mostOf(pool)))}
                  {pool.waiting > 0 && `, ${words.waiting(pool.waiting)}`}
                </span>
              </div>
              <Progress
                value={pool.leased}
                max={mostOf(pool)}
                label={t.words.sessionsInUse(pool.host)}
                tone={toneOf(pool)}
              />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
