/** The problems, and the results since the user last opened this panel. */
import * as Ariakit from '@ariakit/react';
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import { useOverview } from '../api/overview.ts';
import { setNotifications, useNotificationsSetting } from '../preferences.ts';
import { placeOf, titleOf } from '../screens/overview/trouble.ts';
import { t } from '../texts/texts.ts';
import { Ago } from '../ui/basics.tsx';
import { CheckField } from '../ui/fields.tsx';
import { Bell as BellIcon, CircleCheck, TriangleAlert } from '../ui/icons.tsx';
import { markSeen, useNews } from './news.ts';

export function Bell(): ReactElement {
  const overview = useOverview();
  const news = useNews();
  const [isOpen, setOpen] = useState(false);
  const attention = overview.data?.attention ?? [];
  const unseen = news.filter(({ isSeen }) => !isSeen).length;
  const count = attention.length + unseen;
  const show = (next: boolean): void => {
    setOpen(next);
    // Mark entries as seen on closing, so that new ones are marked as new while the panel is open.
    if (!next) markSeen();
  };
  const close = (): void => show(false);
  return (
    <Ariakit.PopoverProvider open={isOpen} setOpen={show} placement="bottom-end">
      <Ariakit.PopoverDisclosure className="icon-button bell" aria-label={t.shell.bell.label(attention.length, unseen)}>
        <BellIcon aria-hidden size={18} />
        {count > 0 && (
          <span aria-hidden className={attention.length > 0 ? 'bell-count bad' : 'bell-count'}>
            {count}
          </span>
        )}
      </Ariakit.PopoverDisclosure>
      <Ariakit.Popover className="news" gutter={4} portal unmountOnHide aria-label={t.shell.bell.title}>
        <section className="stack tight">
          <h2>{t.overview.attention.title}</h2>
          {attention.length === 0 ? (
            <p className="muted">{t.shell.bell.nothing}</p>
          ) : (
            <ul className="news-list">
              {attention.map((item) => (
                <li key={`${item.kind} ${item.text}`}>
                  <Link href={placeOf(item)} onClick={close}>
                    <TriangleAlert aria-hidden size={15} className="warn-text" />
                    <span>{titleOf(item)}</span>
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </section>
        <section className="stack tight">
          <h2>{t.shell.bell.finished}</h2>
          {news.length === 0 ? (
            <p className="muted">{t.shell.bell.noneFinished}</p>
          ) : (
            <ul className="news-list">
              {news.map(({ id, text, tone, href, at, isSeen }) => (
                <li key={id} className={isSeen ? undefined : 'unseen'}>
                  <Link href={href} onClick={close}>
                    {tone === 'good' ? (
                      <CircleCheck aria-hidden size={15} className="good-text" />
                    ) : (
                      <TriangleAlert aria-hidden size={15} className="bad-text" />
                    )}
                    <span>
                      {text} <Ago iso={at} />
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </section>
        <BrowserNotifications />
      </Ariakit.Popover>
    </Ariakit.PopoverProvider>
  );
}

/** Asks for the browser's permission on the user's click. */
function BrowserNotifications(): ReactElement | null {
  const isOn = useNotificationsSetting();
  const [isRefused, setRefused] = useState(false);
  if (!('Notification' in globalThis)) return null;
  const choose = async (wanted: boolean): Promise<void> => {
    const isAllowed = !wanted || (await Notification.requestPermission()) === 'granted';
    setRefused(!isAllowed);
    setNotifications(wanted && isAllowed);
  };
  return (
    <CheckField
      label={t.shell.bell.notify}
      hint={isRefused ? t.shell.bell.refused : t.shell.bell.notifyHint}
      checked={isOn}
      onCheck={(wanted) => void choose(wanted)}
    />
  );
}
