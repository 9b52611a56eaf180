/** The bell with the number of problems and new results. It opens their panel. */
import { type ReactElement, useRef, useState } from 'react';
import { useOverview } from '../api/overview.ts';
import { t } from '../texts/texts.ts';
import { Bell as BellIcon } from '../ui/icons.tsx';
import { part } from '../ui/part.tsx';
import { markSeen, useNews } from './news.ts';

const NewsPanel = part(() => import('./news-panel.tsx'), <></>);

export function Bell(): ReactElement {
  const overview = useOverview();
  const news = useNews();
  const bell = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const attention = overview.data?.attention ?? [];
  const unseen = news.filter(({ isSeen }) => !isSeen).length;
  const count = attention.length + unseen;
  const close = (): void => {
    setOpen(false);
    // Mark entries as seen on closing, so that new ones are marked as new while the panel is open.
    markSeen();
  };
  return (
    <>
      <button
        ref={bell}
        type="button"
        className="icon-button bell"
        aria-label={t.shell.bell.label(attention.length, unseen)}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={isOpen ? close : () => setOpen(true)}
      >
        <BellIcon aria-hidden size={18} />
        {count > 0 && (
          <span aria-hidden className={attention.length > 0 ? 'bell-count bad' : 'bell-count'}>
            {count}
          </span>
        )}
      </button>
      {isOpen && <NewsPanel bell={bell} attention={attention} onClose={close} />}
    </>
  );
}
