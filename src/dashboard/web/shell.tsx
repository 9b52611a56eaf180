/** The frame of every screen: menu, skip link, palette, notifications, and the login over an ended session. */
import { useIsFetching } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { request } from './api/client.ts';
import { loggedOut, useAction } from './api/hooks.ts';
import type { SignedIn } from './api/types.ts';
import { LoginAgain } from './screens/login/again.tsx';
import { Bell } from './shell/bell.tsx';
import { DOCS, PALETTE_KEYS, PLACES } from './shell/places.ts';
import { useShortcuts } from './shell/shortcuts.tsx';
import { usePalette } from './shell/use-palette.ts';
import { useWatch } from './shell/watch.ts';
import { t } from './texts/texts.ts';
import { Button } from './ui/basics.tsx';
import { Question } from './ui/discard.tsx';
import { firstScreenIsRead } from './ui/first-screen.ts';
import { BookOpen, LogOut, Menu as MenuIcon, Search } from './ui/icons.tsx';
import { Overlay } from './ui/overlay.tsx';
import { part } from './ui/part.tsx';
import { patiently } from './ui/patiently.ts';
import { leave } from './ui/unsaved.ts';

const Palette = part(() => import('./palette/palette.tsx'));
const UploadQueue = part(() => import('./screens/files/queue-panel.tsx'), <></>, <></>);

type Props = Pick<SignedIn, 'account' | 'session'>;

export function Shell({ account, session, children }: Props & { readonly children: ReactNode }): ReactElement {
  useWatch();
  useLaterParts();
  const [location] = useLocation();
  // The address at which the menu was opened. Going to another screen closes it.
  const [menuAt, setMenuAt] = useState<string>();
  const isMenuOpen = menuAt === location;
  const { help, openHelp } = useShortcuts();
  const palette = usePalette();
  const logout = useAction(() => request('POST', '/manage/logout'), {
    onDone: () => {
      void patiently(() => import('./screens/files/queue.ts')).then(({ leaveQueue }) => leaveQueue());
      loggedOut();
    },
  });
  const menu = (
    <Sidebar
      account={account}
      isLeaving={logout.isPending}
      onLogout={() => leave(() => logout.mutate(undefined))}
      onSearch={() => palette.setOpen(true)}
    />
  );
  return (
    <div className="shell">
      <a href="#main" className="skip-link">
        {t.shell.skip}
      </a>
      <header className="topbar">
        <button
          type="button"
          className="icon-button"
          aria-label={t.shell.menu}
          aria-expanded={isMenuOpen}
          onClick={() => setMenuAt(location)}
        >
          <MenuIcon aria-hidden size={18} />
        </button>
        <Brand />
        <Bell />
      </header>
      <header className="side">{menu}</header>
      {isMenuOpen && (
        <Overlay label={t.shell.menu} className="drawer" closesOutside onClose={() => setMenuAt(undefined)}>
          {menu}
        </Overlay>
      )}
      <main id="main" className="main" tabIndex={-1}>
        {children}
      </main>
      <UploadQueue account={account.email} />
      {help}
      {palette.isOpen && (
        <Palette
          takeEarly={palette.takeEarly}
          onClose={() => palette.setOpen(false)}
          onHelp={openHelp}
          onLogout={() => leave(() => logout.mutate(undefined))}
        />
      )}
      <Question />
      <LoginAgain account={account} session={session} />
    </div>
  );
}

/** A screen has been read if it starts no further read in this time. */
const SETTLED_MS = 100;

/** Loads the code that no screen needs at once, when the first screen has been read. */
function useLaterParts(): void {
  const isReading = useIsFetching({ predicate: ({ meta }) => meta?.['isOfFirstScreen'] !== false }) > 0;
  useEffect(() => {
    if (isReading) return undefined;
    const timer = setTimeout(() => {
      firstScreenIsRead();
      Overlay.fetch();
    }, SETTLED_MS);
    return () => clearTimeout(timer);
  }, [isReading]);
}

function Brand(): ReactElement {
  return (
    <Link href="/" className="brand">
      <svg viewBox="0 0 32 32" width={26} height={26} aria-hidden>
        <rect width="32" height="32" rx="7" fill="var(--accent-fill)" />
        <path
          d="M8 12.5h13.5M17.5 8l4.5 4.5-4.5 4.5M24 19.5H10.5M14.5 15 10 19.5l4.5 4.5"
          fill="none"
          stroke="#fff"
          strokeWidth="2.6"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      {t.common.product}
    </Link>
  );
}

function Sidebar(props: {
  readonly account: SignedIn['account'];
  readonly isLeaving: boolean;
  readonly onLogout: () => void;
  readonly onSearch: () => void;
}): ReactElement {
  const { account, isLeaving, onLogout, onSearch } = props;
  const [location] = useLocation();
  const isHere = (path: string): boolean =>
    path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`);
  return (
    <div className="sidebar">
      <div className="sidebar-head">
        <Brand />
        <Bell />
      </div>
      <button type="button" className="palette-button" aria-keyshortcuts="Control+K Meta+K" onClick={onSearch}>
        <Search aria-hidden size={15} />
        <span>{t.shell.find}</span>
        <kbd aria-hidden>{PALETTE_KEYS}</kbd>
      </button>
      <nav className="nav" aria-label={t.shell.main}>
        {PLACES.map(({ name, places }) => (
          <div key={name} className="nav">
            <p className="nav-heading">{name}</p>
            {places.map(({ path, name: text, icon: Icon }) => (
              <Link key={path} href={path} aria-current={isHere(path) ? 'page' : undefined}>
                <Icon aria-hidden size={16} strokeWidth={1.75} />
                {text}
              </Link>
            ))}
          </div>
        ))}
      </nav>
      <div className="sidebar-foot">
        <a href={DOCS} target="_blank" rel="noreferrer">
          <BookOpen aria-hidden size={16} strokeWidth={1.75} />
          {t.shell.docs}
        </a>
        <div>
          <strong>{account.email}</strong>
          <span className="muted">{t.shell.plan(account.plan)}</span>
        </div>
        <Button variant="quiet" icon={LogOut} isBusy={isLeaving} onClick={onLogout}>
          {t.shell.logOut}
        </Button>
      </div>
    </div>
  );
}
