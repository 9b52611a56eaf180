/** What stands around every screen: the menu, the way to the content, the keys. */
import * as Ariakit from '@ariakit/react';
import { useState, type ReactElement, type ReactNode } from 'react';
import { LogOut, Menu as MenuIcon } from './ui/icons.tsx';
import { Link, useLocation } from 'wouter';
import { request } from './api/client.ts';
import { forgetSession, useAction } from './api/hooks.ts';
import type { SignedIn } from './api/types.ts';
import { PLACES } from './navigation.ts';
import { useShortcuts } from './shortcuts.tsx';
import { UploadQueue } from './screens/files/queue-panel.tsx';
import { Button } from './ui/basics.tsx';

export function Shell({
  account,
  children,
}: {
  readonly account: SignedIn['account'];
  readonly children: ReactNode;
}): ReactElement {
  const [location] = useLocation();
  // Where the menu was opened: a step to another screen closes it.
  const [menuAt, setMenuAt] = useState<string>();
  const isMenuOpen = menuAt === location;
  const help = useShortcuts();
  return (
    <div className="shell">
      <a href="#main" className="skip-link">
        To the content
      </a>
      <header className="topbar">
        <button
          type="button"
          className="icon-button"
          aria-label="Menu"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuAt(location)}
        >
          <MenuIcon aria-hidden size={18} />
        </button>
        <Brand />
      </header>
      <header className="side">
        <Sidebar account={account} />
      </header>
      {isMenuOpen && (
        <Ariakit.Dialog
          open
          onClose={() => setMenuAt(undefined)}
          className="drawer"
          backdrop={<div className="backdrop" />}
          aria-label="Menu"
        >
          <Sidebar account={account} />
        </Ariakit.Dialog>
      )}
      <main id="main" className="main" tabIndex={-1}>
        {children}
      </main>
      <UploadQueue />
      {help}
    </div>
  );
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
      File Transfer Gateway
    </Link>
  );
}

function Sidebar({ account }: { readonly account: SignedIn['account'] }): ReactElement {
  const [location] = useLocation();
  const logout = useAction(() => request('POST', '/manage/logout'), { onDone: forgetSession });
  const isHere = (path: string): boolean =>
    path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`);
  return (
    <div className="sidebar">
      <Brand />
      <nav className="nav" aria-label="Main">
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
        <div>
          <strong>{account.email}</strong>
          <span className="muted">Plan {account.plan}</span>
        </div>
        <Button look="quiet" icon={LogOut} isBusy={logout.isPending} onClick={() => logout.mutate(undefined)}>
          Log out
        </Button>
      </div>
    </div>
  );
}
