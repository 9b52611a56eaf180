/** Short messages at the edge of the screen, which screen readers read out. */
import { type ReactElement, useRef } from 'react';
import { CircleCheck, TriangleAlert, X } from './icons.tsx';
import { part } from './part.tsx';
import { Reason } from './reason.tsx';
import { t } from '../texts/texts.ts';
import { dismissToast, useToasts } from '../toasts.ts';

const Place = part(() => import('./toast-place.tsx'), <></>, <></>);

export function Toasts(): ReactElement {
  const toasts = useToasts();
  const region = useRef<HTMLDivElement>(null);
  return (
    <div ref={region} className="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, tone, cause }) => (
        <div key={id} className={`toast ${tone}`}>
          {tone === 'good' ? <CircleCheck aria-hidden size={16} /> : <TriangleAlert aria-hidden size={16} />}
          <span>
            {text} {cause !== undefined && <Reason {...cause} />}
          </span>
          <button type="button" className="icon-button" aria-label={t.common.dismiss} onClick={() => dismissToast(id)}>
            <X aria-hidden size={14} />
          </button>
        </div>
      ))}
      <Place region={region} toasts={toasts} />
    </div>
  );
}
