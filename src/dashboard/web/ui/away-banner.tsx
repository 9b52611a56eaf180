import type { ReactElement } from 'react';
import { useIsAway } from '../api/reach.ts';
import { t } from '../texts/texts.ts';
import { TriangleAlert } from './icons.tsx';

/** The banner while the gateway cannot be reached. Its element always exists, because screen readers only read changes. */
export function AwayBanner(): ReactElement {
  const isAway = useIsAway();
  return (
    <div role="status" className="away">
      {isAway && (
        <p>
          <TriangleAlert aria-hidden size={16} />
          <span>
            <strong>{t.common.away.title}</strong> {t.common.away.text}
          </span>
        </p>
      )}
    </div>
  );
}
