/** The panel of the bell: open problems, and results since the user last opened it. */
import * as Ariakit from '@ariakit/react';
import { type ReactElement, type RefObject, useState } from 'react';
import { Link } from 'wouter';
import type { Trouble } from '../api/types.ts';
import { setNotifications, useNotificationsSetting } from '../preferences.ts';
import { placeOf, titleOf } from '../screens/overview/trouble.ts';
import { t } from '../texts/texts.ts';
import { Ago } from '../ui/basics.tsx';
import { CheckField } from '../ui/fields.tsx';
import { CircleCheck, TriangleAlert } from '../ui/icons.tsx';
import { useNews } from './news.ts';

export default function NewsPanel(props: {
  readonly bell: RefObject<HTMLButtonElement | null>;
  readonly attention: readonly Trouble[];
  readonly onClose: () => void;
}): ReactElement {
  const { bell, attention, onClose } = props;
  const news = useNews();
  const store = Ariakit.usePopoverStore({
    open: true,
    setOpen: (isOpen) => {
      if (!isOpen) onClose();
    },
    placement: 'bottom-end',
  });
  return (
    <Ariakit.Popover
      store={store}
      className="news"
      gutter={4}
      portal
      aria-label={t.shell.bell.title}
      getAnchorRect={() => bell.current?.getBoundingClientRect() ?? null}
      finalFocus={bell}
      // The bell closes its panel itself.
      hideOnInteractOutside={({ target }) => !(target instanceof Node && bell.current?.contains(target) === true)}
    >
      <section className="stack tight">
        <h2>{t.overview.attention.title}</h2>
        {attention.length === 0 ? (
          <p className="muted">{t.shell.bell.nothing}</p>
        ) : (
          <ul className="news-list">
            {attention.map((item) => (
              <li key={`${item.kind} ${item.text}`}>
                <Link href={placeOf(item)} onClick={onClose}>
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
                <Link href={href} onClick={onClose}>
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
